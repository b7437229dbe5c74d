/* Everything that drifts in the sea: pearls, letters, hearts, and what is dangerous. */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <stdint.h>

/* Removes all objects and begins the schedule of a level. */
void objects_clear(uint8_t level);

/* Called for each new column of the sea: may let something appear at the right edge. */
void objects_appear(void);

/* Moves all objects with the sea and by themselves. */
void objects_move(void);

/* The box of the submarine meets the objects: takes what is worth it. Returns non-zero if a
 * dangerous one was hit, which bursts. */
uint8_t objects_meet(uint8_t x, uint8_t y);

/* A torpedo's box meets the objects: non-zero if it hit a dangerous one, which bursts. */
uint8_t objects_shot(uint8_t x, uint8_t y);

/* Adds all objects to the sprite table. */
void objects_draw(void);

#endif
