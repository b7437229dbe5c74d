#include "objects.h"

#include "art.h"
#include "hardware.h"
#include "random.h"
#include "score.h"
#include "sound.h"
#include "status.h"
#include "terrain.h"
#include "video.h"

#define LEVELS 6
#define APPEAR_X 168      /* just beyond the right screen edge */
#define GONE_X 176        /* x from here to VISIBLE_X - 1 has left the screen */
#define VISIBLE_X 240
#define CELL_HEIGHT 16
#define CELLS_WIDTH 16 /* of the widest object */
#define BURST_FRAMES 24
#define LIVES_LIMIT 5
#define STREAK_LIMIT 5
#define SUB_WIDTH 20
#define SUB_HEIGHT 9
#define TORPEDO_WIDTH 7
#define TORPEDO_HEIGHT 4

/* What appears, and how often; later levels repeat the last row. */
struct schedule {
  uint8_t danger_pause; /* columns from one danger to the next: this, plus 0 to 3 */
  uint8_t jellies;      /* chance in 256 that a danger is a jellyfish ... */
  uint8_t fishes;       /* ... or a fish; the rest are mines */
  uint8_t mines_bob;
  uint8_t fishes_hunt;
};
static const struct schedule schedules[LEVELS] = {
    {14, 90, 30, 0, 0}, {10, 90, 60, 0, 0}, {8, 90, 80, 1, 0},
    {6, 80, 90, 1, 1}, {5, 80, 100, 1, 1}, {4, 80, 110, 1, 1},
};

/* The solid part of an object's cell; widths and heights in pixels. */
struct box {
  uint8_t x, y, width, height;
};
static const struct box boxes[OBJECT_BURST] = {
    {0, 0, 0, 0},  /* none */
    {0, 3, 8, 8},  /* pearl */
    {1, 3, 14, 10}, /* letter */
    {0, 3, 8, 7},  /* heart */
    {2, 2, 12, 12}, /* mine */
    {2, 2, 12, 11}, /* jelly */
    {1, 4, 12, 8}, /* fish */
};

/* Up and down by at most three pixels, one step every fourth frame. */
static const int8_t bob[16] = {0, 1, 1, 1, 0, 0, -1, -1, 0, -1, -1, -1, 0, 0, 1, 1};

static const struct schedule *schedule;
static uint8_t danger_in, gift_in;         /* columns until the next */
static uint8_t pearls_left, pearl_y, pearl_slope; /* the string of pearls being laid */

void objects_clear(uint8_t level) {
  uint8_t i;
  for (i = 0; i != OBJECTS; i++) status.objects[i].type = OBJECT_NONE;
  for (i = 0; i != TORPEDOES; i++) status.torpedoes[i].x = 0;
  schedule = schedules + (level > LEVELS ? LEVELS : level) - 1;
  danger_in = 6;
  gift_in = 1;
  pearls_left = 0;
}

/* Lets an object appear at height y, moved into the open water of the newest column. */
static void appear(uint8_t type, uint8_t y) {
  struct object *object = status.objects;
  uint8_t column = terrain_column(APPEAR_X);
  uint8_t lowest = status.floor_y[column] - CELL_HEIGHT;
  while (object->type) {
    object++;
    if (object == status.objects + OBJECTS) return;
  }
  if (y > lowest) y = lowest;
  if (y < status.ceiling_y[column]) y = status.ceiling_y[column];
  object->type = type;
  object->x = APPEAR_X;
  object->y = y;
  object->drift = random_next();
  object->age = object->drift & 60;
}

/* A height chosen by chance in the open water of the newest column. */
static uint8_t any_height(void) {
  uint8_t column = terrain_column(APPEAR_X);
  uint8_t top = status.ceiling_y[column];
  return top + random_below(status.floor_y[column] - top - CELL_HEIGHT + 1);
}

static void appear_danger(void) {
  uint8_t chance = random_next();
  uint8_t type = OBJECT_MINE;
  if (chance < schedule->jellies)
    type = OBJECT_JELLY;
  else if ((uint8_t)(chance - schedule->jellies) < schedule->fishes)
    type = OBJECT_FISH;
  appear(type, any_height());
  danger_in = schedule->danger_pause + (random_next() & 3);
}

static void appear_gift(void) {
  uint8_t chance = random_next();
  gift_in = 5 + (random_next() & 3);
  if (chance < 6) {
    appear(OBJECT_HEART, any_height());
  } else if (chance < 136) {
    appear(OBJECT_LETTER, any_height());
  } else {
    pearls_left = 3 + (chance & 1);
    pearl_y = any_height();
    pearl_slope = (chance >> 1 & 1) ? 5 : (uint8_t)-5;
    gift_in += 6;
  }
}

void objects_appear(void) {
  if (pearls_left && gift_in & 1) {
    appear(OBJECT_PEARL, pearl_y);
    pearl_y += pearl_slope;
    pearls_left--;
  }
  if (--gift_in == 0) appear_gift();
  if (--danger_in == 0) appear_danger();
}

/* A letter that is left behind ends the streak. */
static void leave(struct object *object) {
  if (object->type == OBJECT_LETTER) status.streak = 0;
  object->type = OBJECT_NONE;
}

static void move_by_itself(struct object *object) {
  uint8_t age = object->age;
  switch (object->type) {
    case OBJECT_MINE:
      if (!schedule->mines_bob || age & 3) break;
      object->y += bob[age >> 2 & 15];
      break;
    case OBJECT_LETTER:
    case OBJECT_HEART:
      if (!(age & 7)) object->y += bob[age >> 3 & 15];
      break;
    case OBJECT_JELLY: /* down for 32 frames, up for 32, each at half a pixel */
      if (age & 1) break;
      if (!(age & 32))
        object->y++;
      else if (object->y > SEA_TOP)
        object->y--;
      break;
    case OBJECT_FISH:
      if (age & 1) object->x--;
      if (object->drift & 1) object->x--;
      if (!schedule->fishes_hunt || age & 3) break;
      if (object->y + 3 < status.player_y)
        object->y++;
      else if (object->y > status.player_y + 3)
        object->y--;
      break;
    case OBJECT_BURST:
      if (age >= BURST_FRAMES) object->type = OBJECT_NONE;
      break;
  }
}

void objects_move(void) {
  struct object *object;
  for (object = status.objects; object != status.objects + OBJECTS; object++) {
    if (!object->type) continue;
    object->age++;
    object->x -= scroll_step;
    move_by_itself(object);
    if (object->x >= GONE_X && object->x < VISIBLE_X) leave(object);
  }
}

/* Non-zero if the object's box and the given one overlap. Adding 16 keeps x from wrapping. */
static uint8_t touches(const struct object *object, uint8_t x, uint8_t y, uint8_t width,
                       uint8_t height) {
  const struct box *box = boxes + object->type;
  uint8_t left = object->x + box->x + 16;
  uint8_t top = object->y + box->y;
  x += 16;
  return left < (uint8_t)(x + width) && x < (uint8_t)(left + box->width) &&
         top < (uint8_t)(y + height) && y < (uint8_t)(top + box->height);
}

static void burst(struct object *object) {
  object->type = OBJECT_BURST;
  object->age = 0;
  sound_play(SOUND_BURST);
}

static void take_letter(void) {
  if (status.letters != 255) status.letters++;
  if (status.mail != 99) status.mail++;
  if (status.streak != STREAK_LIMIT) status.streak++;
  switch (status.streak) {
    case 1: SCORE(10); break;
    case 2: SCORE(20); break;
    case 3: SCORE(40); break;
    case 4: SCORE(70); break;
    default: SCORE(100); break;
  }
  sound_play(SOUND_LETTER);
}

uint8_t objects_meet(uint8_t x, uint8_t y) {
  struct object *object;
  uint8_t hurt = 0;
  x += 2; /* the hull is smaller than its three cells */
  y += 6;
  for (object = status.objects; object != status.objects + OBJECTS; object++) {
    if (!object->type || object->type == OBJECT_BURST) continue;
    if ((uint8_t)(object->x - x + CELLS_WIDTH) >= CELLS_WIDTH + SUB_WIDTH) continue; /* not near */
    if (!touches(object, x, y, SUB_WIDTH, SUB_HEIGHT)) continue;
    switch (object->type) {
      case OBJECT_PEARL:
        SCORE(10);
        sound_play(SOUND_PEARL);
        break;
      case OBJECT_LETTER: take_letter(); break;
      case OBJECT_HEART:
        if (status.lives != LIVES_LIMIT) status.lives++;
        sound_play(SOUND_LETTER);
        break;
      default:
        if (status.shield) continue;
        hurt = 1;
        burst(object);
        continue;
    }
    object->type = OBJECT_NONE;
  }
  return hurt;
}

uint8_t objects_shot(uint8_t x, uint8_t y) {
  struct object *object;
  for (object = status.objects; object != status.objects + OBJECTS; object++) {
    if (object->type < OBJECT_MINE || object->type == OBJECT_BURST) continue;
    if (!touches(object, x, y, TORPEDO_WIDTH, TORPEDO_HEIGHT)) continue;
    burst(object);
    SCORE(10);
    return 1;
  }
  return 0;
}

/* Two cells: the left half and its mirror image. */
static void draw_mirrored(const struct object *object, uint8_t tile) {
  sprite(object->x, object->y, tile, 0);
  sprite(object->x + 8, object->y, tile, SPRITE_MIRROR);
}

void objects_draw(void) {
  const struct object *object;
  uint8_t age;
  for (object = status.objects; object != status.objects + OBJECTS; object++) {
    age = object->age;
    switch (object->type) {
      case OBJECT_PEARL:
        sprite(object->x, object->y, age & 16 ? SPRITE_PEARL_A : SPRITE_PEARL_B, 0);
        break;
      case OBJECT_LETTER: draw_mirrored(object, SPRITE_LETTER); break;
      case OBJECT_HEART: sprite(object->x, object->y, SPRITE_HEART, 0); break;
      case OBJECT_MINE: draw_mirrored(object, age & 32 ? SPRITE_MINE_A : SPRITE_MINE_B); break;
      case OBJECT_JELLY: draw_mirrored(object, age & 32 ? SPRITE_JELLY_A : SPRITE_JELLY_B); break;
      case OBJECT_FISH:
        sprite(object->x, object->y, SPRITE_FISH_HEAD, 0);
        sprite(object->x + 8, object->y, age & 8 ? SPRITE_FISH_TAIL_A : SPRITE_FISH_TAIL_B, 0);
        break;
      case OBJECT_BURST: draw_mirrored(object, SPRITE_BURST_A + ((age >> 3 & 3) << 1)); break;
    }
  }
}
