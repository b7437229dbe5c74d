/* The submarine and its torpedoes. */
#ifndef PLAYER_H
#define PLAYER_H

#include <stdint.h>

/* Puts the submarine at the left, in open water, shielded for a while. */
void player_place(void);

/* Frames of scraping along ice or rock that cost a life; it mends four times slower. */
#define HULL_FULL 96

/* Steers, shoots and collides for one frame. Returns non-zero if a life was lost. */
uint8_t player_move(void);

/* Sails on to the right without steering, as after a level. */
void player_cruise(void);

/* Adds the submarine and its torpedoes to the sprite table. */
void player_draw(void);

#endif
