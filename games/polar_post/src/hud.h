/* The window: a status bar of two rows while playing, a panel that slides up for messages. */
#ifndef HUD_H
#define HUD_H

#include <stdint.h>

#define PANEL_TITLE 0
#define PANEL_PLAY 1 /* only the status bar */
#define PANEL_LEVEL_CLEAR 2
#define PANEL_GAME_OVER 3

/* Begins to write and to show a panel, one row a frame. */
void hud_panel(uint8_t panel);

/* Sets the number of letters, at most 99, that the panel of a cleared level shows. */
void hud_set_mail(uint8_t letters);

/* Starts the progress bar of a level of `goal` pixels, a multiple of 32. */
void hud_level(uint16_t goal);

/* Remembers the score as the best one, in the digits that the panels show. */
void hud_keep_best(void);

/* Once a frame: writes the next row, slides the panel, refreshes what changed in the status bar. */
void hud_update(void);

#endif
