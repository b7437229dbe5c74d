/* The scrolling sea: ice above, rock below, made up column by column. */
#ifndef TERRAIN_H
#define TERRAIN_H

#include <stdint.h>

#define SEA_TOP 32     /* first pixel under the waves */
#define SEA_BOTTOM 128 /* first pixel under the play field */

/* Pixels the sea moved in this frame (0 to 2). */
extern uint8_t scroll_step;

/* Draws a calm sea into the whole map; only while the screen is off. */
void terrain_load(void);

/* Sets the shape of the sea to come: a level from 1 on, or 0 for calm water. */
void terrain_set_level(uint8_t level);

/* Moves the sea by `speed` sixteenths of a pixel. Returns non-zero if a column was added at the
 * right. */
uint8_t terrain_scroll(uint8_t speed);

/* Map column under a screen pixel; `column` + 21 is the newest. */
uint8_t terrain_column(uint8_t x);

/* Looks at the left, the middle and the right of `width` screen pixels from x on: open water begins
 * at open_top and ends before open_bottom. */
extern uint8_t open_top, open_bottom;
void terrain_measure(uint8_t x, uint8_t width);

#endif
