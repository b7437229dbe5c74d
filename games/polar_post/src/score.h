/* Points, counted in binary and in decimal at once. */
#ifndef SCORE_H
#define SCORE_H

#include <stdint.h>

/* Adds `points` to the score; `decimal` is the same number in BCD. A sum
 * beyond 65535 is dropped, so that both counters always agree. */
void score_add(uint16_t points, uint16_t decimal);

/* score_add() for a number of at most four digits, written once, without leading zeros. */
#define SCORE(points) score_add((points), 0x##points)

#endif
