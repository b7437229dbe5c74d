#include "random.h"

#include "hardware.h"
#include "status.h"

uint8_t random_next(void) {
  uint8_t low = status.random[0];
  uint8_t high = status.random[1];
  high ^= (uint8_t)(low >> 1) | (uint8_t)(high << 7); /* x ^= x << 7; the high byte first */
  low ^= (uint8_t)(low << 7);
  low ^= high >> 1; /* x ^= x >> 9 */
  high ^= low;      /* x ^= x << 8 */
  status.random[0] = low;
  status.random[1] = high;
  return high;
}

uint8_t random_below(uint8_t limit) {
  uint8_t n = random_next() & 127;
  while (n >= limit) n -= limit;
  return n;
}

void random_stir(void) {
  status.random[0] ^= DIV;
  status.random[1] += (uint8_t)status.frames;
  if (!status.random[0] && !status.random[1]) status.random[0] = 1;
}
