/* The one source of chance. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* Next of the 65535 states of a 16-bit xorshift generator (7, 9, 8); returns its high byte. */
uint8_t random_next(void);

/* A number in 0 <= n < limit; limit from 1 to 128. */
uint8_t random_below(uint8_t limit);

/* Stirs the moment of a button press into the state. */
void random_stir(void);

#endif
