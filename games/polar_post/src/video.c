/* Screen set-up, text queue and sprite table. */
#include "video.h"

#include "art.h"
#include "hardware.h"

#define SPRITES 40
#define SKY_ROWS 3
#define SKY_COLUMNS 32
#define LOGO_LETTERS 10
#define FONT_FIRST ' '

volatile uint8_t frame_ready;
volatile uint8_t vblank_seen;
uint8_t sky_x, sea_x, sea_y, panel_y, sea_palette;
uint16_t column_to;
uint8_t column_tiles[COLUMN_TILES];
const uint8_t *water_from;
uint8_t text_queue[TEXT_QUEUE_SIZE];
volatile uint8_t text_length;

struct oam_entry {
  uint8_t y, x, tile, attributes;
};
static struct oam_entry __at(0xC100) oam_shadow[SPRITES];
static struct oam_entry *oam_next;
static struct oam_entry *oam_end; /* of the frame before */

/* The sky, three rows of the map; it repeats every 256 pixels. One character a tile. */
static const char sky_picture[SKY_ROWS][SKY_COLUMNS + 1] = {
    "  s    ab  S   p    ~~s~  S   s ",
    " p  /\\ cd   lr    s /\\   s  lr s",
    "<> lFFr<>  lFFr<>  lFFr<>  lFFr ",
};

static uint8_t sky_tile(char picture) {
  switch (picture) {
    case 's': return TILE_STAR_SMALL;
    case 'S': return TILE_STAR_BIG;
    case 'p': return TILE_STAR_PAIR;
    case '~': return TILE_AURORA;
    case 'a': return TILE_MOON_1;
    case 'b': return TILE_MOON_2;
    case 'c': return TILE_MOON_3;
    case 'd': return TILE_MOON_4;
    case '/': return TILE_PEAK_LEFT;
    case '\\': return TILE_PEAK_RIGHT;
    case 'l': return TILE_RIDGE_LEFT;
    case 'r': return TILE_RIDGE_RIGHT;
    case 'F': return TILE_RIDGE;
    case '<': return TILE_HORIZON_LEFT;
    case '>': return TILE_HORIZON_RIGHT;
    default: return TILE_SPACE;
  }
}

static void copy(uint8_t *to, const uint8_t *from, uint16_t count) {
  while (count) {
    *to++ = *from++;
    count--;
  }
}

/* Doubles each of four bits: 0000abcd becomes aabbccdd. */
static uint8_t widen(uint8_t bits) {
  uint8_t wide = 0;
  uint8_t i;
  for (i = 0; i != 4; i++) {
    wide <<= 2;
    if (bits & 8) wide |= 3;
    bits <<= 1;
  }
  return wide;
}

/* Draws the title in letters of 16 x 16 pixels, made from the font: four tiles a letter, in the
 * order upper left, upper right, lower left, lower right. White above, light grey below. */
static void load_logo(void) {
  static const char title[LOGO_LETTERS + 1] = "POLAR POST";
  uint8_t *to = VRAM_LOGO;
  const uint8_t *row;
  uint8_t letter, quarter, y, bits;
  for (letter = 0; letter != LOGO_LETTERS; letter++) {
    for (quarter = 0; quarter != 4; quarter++) {
      row = background_tiles + ((uint16_t)(title[letter] - FONT_FIRST) << 4);
      if (quarter & 2) row += 8;
      for (y = 0; y != 8; y++) {
        bits = *row;
        if (!(quarter & 1)) bits >>= 4;
        bits = widen(bits & 15);
        *to++ = quarter & 2 ? 0xFF : bits; /* ink below: shade 1, so its low plane stays set */
        *to++ = bits;
        if (y & 1) row += 2;
      }
    }
  }
}

void video_load(void) {
  uint8_t row, column;
  uint8_t *map = (uint8_t *)MAP_SEA;
  while (LY < 145) {
  }
  LCDC = 0;
  copy(VRAM_TILES, background_tiles, sizeof background_tiles);
  copy(VRAM_SPRITES, sprite_tiles, sizeof sprite_tiles);
  load_logo();
  for (row = 0; row != SKY_ROWS; row++)
    for (column = 0; column != SKY_COLUMNS; column++) *map++ = sky_tile(sky_picture[row][column]);
  OBP0 = 0xE0;
  OBP1 = 0xD0;
  WX = 7;
  LYC = SPLIT_LINE;
  STAT = STAT_LYC;
}

void video_start(void) {
  IF = 0;
  IE = INT_VBLANK | INT_LCD | INT_TIMER;
  LCDC = LCDC_GAME;
  __asm__("ei");
}

void video_column_now(void) {
  uint8_t *to = (uint8_t *)column_to;
  uint8_t i;
  for (i = 0; i != COLUMN_TILES; i++) {
    *to = column_tiles[i];
    to += 32;
  }
  column_to = 0;
}

uint8_t text_room(uint8_t count) { return text_length + count + 4 <= TEXT_QUEUE_SIZE; }

void text_run(uint16_t to, const uint8_t *tiles, uint8_t count) {
  uint8_t *queue = text_queue + text_length;
  text_length += count + 3;
  *queue++ = to >> 8;
  *queue++ = (uint8_t)to;
  *queue++ = count;
  while (count) {
    *queue++ = *tiles++;
    count--;
  }
  *queue = 0;
}

void sprites_begin(void) { oam_next = oam_shadow; }

void sprite(uint8_t x, uint8_t y, uint8_t tile, uint8_t attributes) {
  struct oam_entry *entry = oam_next;
  if (entry == oam_shadow + SPRITES || (uint8_t)(y + 16) > panel_y) return;
  entry->y = y + 16;
  entry->x = x + 8;
  entry->tile = tile;
  entry->attributes = attributes;
  oam_next = entry + 1;
}

void sprites_end(void) {
  struct oam_entry *entry;
  for (entry = oam_next; entry < oam_end; entry++) entry->y = 0;
  oam_end = oam_next;
}
