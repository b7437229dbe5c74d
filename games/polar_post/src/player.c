#include "player.h"

#include "art.h"
#include "hardware.h"
#include "objects.h"
#include "sound.h"
#include "status.h"
#include "terrain.h"
#include "video.h"

#define START_X 24
#define LIMIT_LEFT 2
#define LIMIT_RIGHT 134
#define LIMIT_TOP 28
#define LIMIT_BOTTOM 110
#define CELL_HEIGHT 16
#define HULL_X 3 /* the hull inside the three cells, as the terrain sees it */
#define HULL_Y 6
#define HULL_WIDTH 18
#define HULL_HEIGHT 8
#define SHIELD_START 120
#define SHIELD_HIT 120
#define SHAKE_HIT 16 /* frames */
#define SHAKE_SCRAPE 8
#define PUSH 2 /* pixels a frame; as fast as the submarine can steer */
#define RELOAD_FRAMES 20
#define TORPEDO_SPEED 4
#define TORPEDO_X 20 /* where it leaves the submarine */
#define TORPEDO_Y 5
#define TORPEDO_WIDTH 8
#define TORPEDO_HEIGHT 4
#define TORPEDO_GONE 160

static uint8_t reload, shake;
static uint8_t bubble_x, bubble_y;

/* Puts the submarine into the middle of the open water at its place. */
static void centre(void) {
  uint8_t column = terrain_column(status.player_x + CELL_HEIGHT);
  status.player_y = (uint8_t)(status.ceiling_y[column] + status.floor_y[column]) / 2 - HULL_Y - 4;
}

void player_place(void) {
  status.player_x = START_X;
  centre();
  status.shield = SHIELD_START;
  status.hull = HULL_FULL;
  reload = RELOAD_FRAMES;
  shake = 0;
}

static void steer(void) {
  uint8_t keys = status.keys;
  uint8_t speed = keys & KEY_B ? 2 : 1;
  uint8_t x = status.player_x;
  uint8_t y = status.player_y;
  if (keys & KEY_LEFT) x = x < LIMIT_LEFT + speed ? LIMIT_LEFT : x - speed;
  if (keys & KEY_RIGHT) x = x > LIMIT_RIGHT - speed ? LIMIT_RIGHT : x + speed;
  if (keys & KEY_UP) y = y < LIMIT_TOP + speed ? LIMIT_TOP : y - speed;
  if (keys & KEY_DOWN) y = y > LIMIT_BOTTOM - speed ? LIMIT_BOTTOM : y + speed;
  status.player_x = x;
  status.player_y = y;
}

static void shoot(void) {
  struct torpedo *torpedo;
  if (reload) {
    reload--;
    return;
  }
  if (!(status.keys & KEY_A)) return;
  for (torpedo = status.torpedoes; torpedo != status.torpedoes + TORPEDOES; torpedo++) {
    if (torpedo->x) continue;
    torpedo->x = status.player_x + TORPEDO_X;
    torpedo->y = status.player_y + TORPEDO_Y;
    reload = RELOAD_FRAMES;
    sound_play(SOUND_TORPEDO);
    return;
  }
}

static void move_torpedoes(void) {
  uint8_t y;
  struct torpedo *torpedo;
  for (torpedo = status.torpedoes; torpedo != status.torpedoes + TORPEDOES; torpedo++) {
    if (!torpedo->x) continue;
    torpedo->x += TORPEDO_SPEED;
    terrain_measure(torpedo->x, TORPEDO_WIDTH);
    y = torpedo->y + HULL_Y;
    if (torpedo->x >= TORPEDO_GONE || y < open_top || y + TORPEDO_HEIGHT > open_bottom ||
        objects_shot(torpedo->x, y))
      torpedo->x = 0;
  }
}

/* The screen trembles for a moment after a hit. */
static void move_shake(void) {
  if (shake) shake--;
  sea_y = shake & 2;
}

/* One bubble after the other rises from the stern. */
static void move_bubble(void) {
  if (bubble_y <= SEA_TOP) {
    bubble_x = status.player_x - 6;
    bubble_y = status.player_y + 2;
  }
  bubble_y--;
  bubble_x -= scroll_step;
  if (bubble_x > TORPEDO_GONE) bubble_y = 0;
}

/* Ice and rock push the submarine back into open water and wear its hull. */
static void scrape(void) {
  terrain_measure(status.player_x + HULL_X, HULL_WIDTH);
  if (status.player_y + HULL_Y < open_top) {
    status.player_y += PUSH;
  } else if (status.player_y + HULL_Y + HULL_HEIGHT > open_bottom) {
    status.player_y -= PUSH;
  } else {
    if (!(status.frames & 3) && status.hull != HULL_FULL) status.hull++;
    return;
  }
  if (status.shield) return;
  if (!shake) {
    sound_play(SOUND_SCRAPE);
    shake = SHAKE_SCRAPE;
  }
  status.hull--;
}

uint8_t player_move(void) {
  uint8_t hurt;
  steer();
  shoot();
  move_torpedoes();
  move_shake();
  move_bubble();
  scrape();
  hurt = objects_meet(status.player_x, status.player_y);
  if (status.shield) status.shield--;
  if (!hurt && status.hull) return 0;
  sound_play(SOUND_HIT);
  shake = SHAKE_HIT;
  status.hull = HULL_FULL;
  status.shield = SHIELD_HIT;
  status.streak = 0;
  status.lives--;
  return 1;
}

void player_cruise(void) {
  uint8_t y = status.player_y;
  move_shake();
  move_bubble();
  centre();
  if (y < status.player_y) status.player_y = y + 1;
  if (y > status.player_y) status.player_y = y - 1;
}

void player_draw(void) {
  uint8_t x = status.player_x;
  uint8_t y = status.player_y;
  const struct torpedo *torpedo;
  for (torpedo = status.torpedoes; torpedo != status.torpedoes + TORPEDOES; torpedo++)
    if (torpedo->x) sprite(torpedo->x, torpedo->y, SPRITE_TORPEDO, 0);
  sprite(bubble_x, bubble_y, SPRITE_BUBBLE, 0);
  if (status.shield & 4) return; /* blinks */
  sprite(x, y, status.frames & 4 ? SPRITE_SUB_STERN_A : SPRITE_SUB_STERN_B, 0);
  sprite(x + 8, y, SPRITE_SUB_MIDDLE, 0);
  sprite(x + 16, y, SPRITE_SUB_BOW, 0);
}
