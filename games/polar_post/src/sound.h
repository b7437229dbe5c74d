/* Music and sound effects, driven by the timer. */
#ifndef SOUND_H
#define SOUND_H

#include <stdint.h>

#define SOUND_NONE 0
#define SOUND_PEARL 1
#define SOUND_LETTER 2
#define SOUND_TORPEDO 3
#define SOUND_BURST 4
#define SOUND_HIT 5
#define SOUND_CLEAR 6
#define SOUND_SCRAPE 7

/* Switches the sound hardware and the timer on. */
void sound_start(void);

/* Asks for an effect; the next tick of its channel starts it and drops the one that plays. */
void sound_play(uint8_t sound);

/* Called by the timer interrupt, 64 times a second. */
void sound_tick(void);

#endif
