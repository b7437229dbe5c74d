/* The documented RAM block at C000h. A harness reads it, so its layout is part of the game's
 * interface: README.md repeats it, and `version` must rise with every change. */
#ifndef STATUS_H
#define STATUS_H

#include <stdint.h>

#define STATUS_MAGIC 0x50 /* 'P' */
#define STATUS_VERSION 1

#define STATE_TITLE 0
#define STATE_PLAYING 1
#define STATE_LEVEL_CLEAR 2
#define STATE_GAME_OVER 3

#define OBJECTS 10
#define TORPEDOES 2
#define COLUMNS 32

/* What an object slot holds. Everything from OBJECT_MINE to OBJECT_FISH costs a life. */
#define OBJECT_NONE 0
#define OBJECT_PEARL 1
#define OBJECT_LETTER 2
#define OBJECT_HEART 3
#define OBJECT_MINE 4
#define OBJECT_JELLY 5
#define OBJECT_FISH 6
#define OBJECT_BURST 7

/* x and y are screen pixels of the upper left corner; x wraps below zero (F0h is -16). */
struct object {
  uint8_t type;
  uint8_t x;
  uint8_t y;
  uint8_t age;   /* frames since it appeared, modulo 256 */
  uint8_t drift; /* how it moves: chosen when it appears */
  uint8_t spare[3];
};

struct torpedo {
  uint8_t x; /* 0: not in flight */
  uint8_t y;
};

struct status {
  uint8_t magic;                       /* C000: STATUS_MAGIC once the block is valid */
  uint8_t version;                     /* C001 */
  uint8_t state;                       /* C002: STATE_... */
  uint8_t level;                       /* C003: from 1 */
  uint8_t lives;                       /* C004 */
  uint16_t score;                      /* C005: little endian */
  uint8_t score_bcd[3];                /* C007: the same, two digits a byte, highest first */
  uint16_t progress;                   /* C00A: pixels travelled in this level */
  uint16_t goal;                       /* C00C: pixels at which this level ends */
  uint8_t player_x;                    /* C00E: screen pixels, left edge of the submarine */
  uint8_t player_y;                    /* C00F: screen pixels, top edge */
  uint16_t frames;                     /* C010: V-blanks served since power-on */
  uint8_t random[2];                   /* C012: state of the generator, never both zero */
  uint8_t shield;                      /* C014: frames for which nothing can hurt */
  uint8_t streak;                      /* C015: letters taken in a row, at most 5 */
  uint8_t letters;                     /* C016: letters taken in this game, at most 255 */
  uint8_t scroll;                      /* C017: SCX of the sea, pixels modulo 256 */
  uint16_t best;                       /* C018: best score since power-on */
  uint8_t keys;                        /* C01A: buttons held, KEY_... */
  uint8_t late;                        /* C01B: V-blanks that found no finished frame */
  struct torpedo torpedoes[TORPEDOES]; /* C01C */
  uint8_t hull;                        /* C020: frames of scraping left before a life is lost */
  uint8_t mail;                        /* C021: letters taken in this level, at most 99 */
  uint8_t reserved[14];                /* C022 */
  struct object objects[OBJECTS];      /* C030 */
  uint8_t floor_y[COLUMNS];            /* C080: first rock pixel of a map column */
  uint8_t ceiling_y[COLUMNS];          /* C0A0: first water pixel of a map column */
};

extern struct status status; /* placed by crt0.s */

#endif
