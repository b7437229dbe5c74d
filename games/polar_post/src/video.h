/* What the main loop hands to the V-blank handler, and the one-off set-up of the screen. */
#ifndef VIDEO_H
#define VIDEO_H

#include <stdint.h>

#define COLUMN_TILES 13
#define TEXT_QUEUE_SIZE 32 /* what V-blank has time for */
#define SPLIT_LINE 23 /* last line of the sky */

/* Taken by the V-blank handler (crt0.s) when frame_ready is set, which it then clears. */
extern volatile uint8_t frame_ready;
extern volatile uint8_t vblank_seen;
extern uint8_t sky_x, sea_x, sea_y, panel_y; /* SCX of sky and sea, SCY of the sea, WY */
extern uint8_t sea_palette;                  /* BGP below the sky */
extern uint16_t column_to;                   /* map address of column_tiles, 0: none */
extern uint8_t column_tiles[COLUMN_TILES];
extern const uint8_t *water_from; /* 32 bytes of tile data, high byte 0: none */
extern uint8_t text_queue[TEXT_QUEUE_SIZE];
extern volatile uint8_t text_length;

/* Switches the screen off, loads all tiles and the sky; the screen stays off. */
void video_load(void);

/* Switches the screen and the interrupts on. */
void video_start(void);

/* Sleeps until the next V-blank has been served. */
void wait_vblank(void);

/* Copies the pending column at once; only while the screen is off. */
void video_column_now(void);

/* Appends a run of `count` tiles for the map address `to`; it must fit (see text_room). */
void text_run(uint16_t to, const uint8_t *tiles, uint8_t count);

/* Non-zero if a run of `count` tiles still fits into this frame's queue. */
uint8_t text_room(uint8_t count);

/* Starts the sprite table of the next frame; sprite() appends, sprites_end() hides the rest. */
void sprites_begin(void);

/* Appends one 8x16 sprite at screen pixel (x, y); drops it if the panel covers it. */
void sprite(uint8_t x, uint8_t y, uint8_t tile, uint8_t attributes);

void sprites_end(void);

#endif
