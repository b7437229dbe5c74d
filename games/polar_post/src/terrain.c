/* Each column has a height of rock and a depth of ice at its left and at its right edge, in tiles.
 * Left and right differ by at most one, which a slope joins. Both walk towards goals chosen by
 * chance. */
#include "terrain.h"

#include "art.h"
#include "hardware.h"
#include "random.h"
#include "status.h"
#include "video.h"

#define SEA_ROWS 12     /* rows of water below the row of waves */
#define SEA_MAP_ROW 3   /* map row of the waves */
#define AHEAD 21        /* columns from the left screen edge to the newest */
#define SKY_SPEED_SHIFT 3
#define LEVELS 6

/* How wild the sea is; later levels repeat the last row. */
struct shape {
  uint8_t floor_limit;   /* rock heights are 1 to floor_limit */
  uint8_t ceiling_limit; /* ice depths are 0 to ceiling_limit */
  uint8_t gap;           /* rows that always stay open */
  uint8_t roughness;     /* chance in 256 that a height moves in a column */
};
static const struct shape shapes[LEVELS + 1] = {
    {2, 0, 9, 90},  {2, 2, 9, 90},  {4, 3, 8, 120}, {5, 4, 7, 140},
    {6, 5, 6, 150}, {6, 6, 6, 170}, {7, 6, 5, 180},
};

uint8_t scroll_step;
uint8_t open_top, open_bottom;
static const struct shape *shape;
static uint8_t fraction;                     /* sixteenths of a pixel not yet scrolled */
static uint16_t distance;                    /* pixels scrolled since power-on, modulo 65536 */
static uint8_t rock, ice;                    /* at the right edge of the newest column */
static uint8_t rock_goal, ice_goal, columns_to_goal;
static uint8_t water_pattern;

static void choose_goals(void) {
  rock_goal = 1 + random_below(shape->floor_limit);
  ice_goal = random_below(shape->ceiling_limit + 1);
  while (rock_goal + ice_goal > SEA_ROWS - shape->gap) {
    if (ice_goal) ice_goal--;
    if (rock_goal > 1) rock_goal--;
  }
  columns_to_goal = 6 + (random_next() & 7);
}

/* One step of the walk; growing waits until the gap allows it. */
static void walk(void) {
  uint8_t room = SEA_ROWS - shape->gap;
  if (columns_to_goal)
    columns_to_goal--;
  else
    choose_goals();
  if (rock > rock_goal)
    rock--;
  else if (rock < rock_goal && rock + ice < room && random_next() < shape->roughness)
    rock++;
  if (ice > ice_goal)
    ice--;
  else if (ice < ice_goal && rock + ice < room && random_next() < shape->roughness)
    ice++;
}

/* Weed, coral or an urchin on flat rock whose top is at column_tiles[row + 1]. */
static void plant(uint8_t row, uint8_t chance) {
  if (chance < 24) {
    column_tiles[row] = TILE_CORAL;
  } else if (chance < 40) {
    column_tiles[row] = TILE_URCHIN;
  } else if (chance < 80) {
    column_tiles[row] = TILE_KELP_LOW;
    if (chance & 1) column_tiles[--row] = TILE_KELP_MID;
    if (chance & 2) column_tiles[--row] = TILE_KELP_MID;
    column_tiles[--row] = TILE_KELP_TOP;
  }
}

static void draw_ice(uint8_t left, uint8_t right, uint8_t odd) {
  uint8_t row;
  uint8_t deep = left > right ? left : right;
  if (!deep) {
    column_tiles[0] = TILE_WAVE_A + odd;
    return;
  }
  column_tiles[0] = TILE_CAP_A + odd;
  for (row = 1; row < deep; row++) column_tiles[row] = TILE_ICE_A + ((row + odd) & 1);
  if (left == right)
    column_tiles[deep] = TILE_ICE_FLAT_A + odd;
  else
    column_tiles[deep] = left < right ? TILE_ICE_DEEPER : TILE_ICE_SHALLOWER;
}

static void draw_rock(uint8_t left, uint8_t right, uint8_t odd) {
  uint8_t high = left > right ? left : right;
  uint8_t top = COLUMN_TILES - high;
  uint8_t row;
  uint8_t chance = random_next();
  for (row = top + 1; row < COLUMN_TILES; row++)
    column_tiles[row] = TILE_ROCK_A + ((row + odd) & 1);
  if (chance & 1 && top + 2 < COLUMN_TILES) column_tiles[top + 2] = TILE_ROCK_CREVICE;
  if (left == right) {
    column_tiles[top] = TILE_ROCK_FLAT_A + odd;
    plant(top - 1, chance);
  } else {
    column_tiles[top] = left < right ? TILE_ROCK_RISING : TILE_ROCK_FALLING;
  }
}

/* Makes up map column `column` and hands it to the V-blank handler. */
static void add_column(uint8_t column) {
  uint8_t rock_left = rock;
  uint8_t ice_left = ice;
  uint8_t odd = column & 1;
  uint8_t row;
  walk();
  for (row = 1; row != COLUMN_TILES; row++) column_tiles[row] = TILE_WATER_A + ((row + odd) & 1);
  draw_ice(ice_left, ice, odd);
  draw_rock(rock_left, rock, odd);
  status.floor_y[column] = SEA_BOTTOM - (uint8_t)((rock_left + rock) << 2);
  status.ceiling_y[column] = SEA_TOP + (uint8_t)((ice_left + ice) << 2);
  column_to = MAP_SEA + SEA_MAP_ROW * 32 + column;
}

/* The far water moves at half the speed of its tiles: turn its pattern back by the other half. */
static void show_water(void) {
  uint8_t phase = (uint8_t)(distance >> 1) & 15;
  water_from = water_phases + ((uint16_t)water_pattern << 9) + ((uint16_t)phase << 5);
}

void terrain_load(void) {
  uint8_t column;
  rock = 1;
  terrain_set_level(0);
  for (column = 0; column != COLUMNS; column++) {
    add_column(column);
    video_column_now();
  }
  show_water();
}

void terrain_set_level(uint8_t level) {
  shape = shapes + (level > LEVELS ? LEVELS : level);
  columns_to_goal = 0;
  if (!level) return;
  water_pattern = level - 1;
  while (water_pattern >= WATER_PATTERNS) water_pattern -= WATER_PATTERNS;
}

uint8_t terrain_scroll(uint8_t speed) {
  uint8_t before = sea_x;
  fraction += speed;
  scroll_step = fraction >> 4;
  fraction &= 15;
  if (!scroll_step) return 0;
  distance += scroll_step;
  sea_x += scroll_step;
  sky_x = (uint8_t)(distance >> SKY_SPEED_SHIFT);
  status.scroll = sea_x;
  show_water();
  if (!((before ^ sea_x) & 0xF8)) return 0;
  add_column(((sea_x >> 3) + AHEAD) & (COLUMNS - 1));
  return 1;
}

uint8_t terrain_column(uint8_t x) { return (uint8_t)(sea_x + x) >> 3; }

void terrain_measure(uint8_t x, uint8_t width) {
  uint8_t probe, column;
  uint8_t top = 0;
  uint8_t bottom = SEA_BOTTOM;
  width >>= 1;
  for (probe = 0; probe != 3; probe++) {
    column = terrain_column(x);
    if (status.ceiling_y[column] > top) top = status.ceiling_y[column];
    if (status.floor_y[column] < bottom) bottom = status.floor_y[column];
    x += width;
  }
  open_top = top;
  open_bottom = bottom;
}
