#include "score.h"

#include "status.h"

/* In crt0.s: adds to status.score_bcd with DAA. */
extern void bcd_add(uint16_t decimal);

void score_add(uint16_t points, uint16_t decimal) {
  uint16_t sum = status.score + points;
  if (sum < points) return;
  status.score = sum;
  bcd_add(decimal);
}
