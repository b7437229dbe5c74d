/* Polar Post: a submarine carries letters below the ice.
 * This file: the loop and the four states. */
#include <stddef.h>

#include "hardware.h"
#include "hud.h"
#include "objects.h"
#include "player.h"
#include "random.h"
#include "score.h"
#include "sound.h"
#include "status.h"
#include "terrain.h"
#include "video.h"

#define LEVELS 6
#define LEVEL_LIMIT 99 /* two digits in the status bar */
#define LIVES 3
#define GOAL_FIRST 1600 /* pixels of the first level; goals stay multiples of 32 */
#define GOAL_MORE 320
#define GOAL_LIMIT 3200
#define CALM_SPEED 8
#define CLEAR_FRAMES 150
#define GAME_OVER_FRAMES 60  /* before START counts again */
#define GAME_OVER_LIMIT 1200 /* then the title comes back */
#define PALETTE_DAY 0xE4
#define PALETTE_NIGHT 0xF8 /* every third level: darker water and rock */
#define TITLE_X 68
#define TITLE_Y 40

/* crt0.s and every harness rely on these addresses. */
_Static_assert(offsetof(struct status, frames) == 0x10, "status.frames moved");
_Static_assert(offsetof(struct status, random) == 0x12, "status.random moved");
_Static_assert(offsetof(struct status, late) == 0x1B, "status.late moved");
_Static_assert(offsetof(struct status, objects) == 0x30, "status.objects moved");
_Static_assert(offsetof(struct status, ceiling_y) == 0xA0, "status.ceiling_y moved");

static const uint8_t speeds[LEVELS] = {12, 14, 16, 18, 21, 24}; /* sixteenths of a pixel a frame */

static uint16_t timer; /* frames in this state */
static uint8_t speed, keys_before, levels_to_night;

/* Bits 0 to 7: Right, Left, Up, Down, A, B, Select, Start. */
static void read_keys(void) {
  uint8_t pad;
  keys_before = status.keys;
  P1 = 0x20;
  pad = P1;
  pad = P1;
  status.keys = ~pad & 15;
  P1 = 0x10;
  pad = P1;
  pad = P1;
  pad = P1;
  status.keys |= (uint8_t)(~pad << 4);
  P1 = 0x30;
}

static uint8_t start_pressed(void) { return status.keys & ~keys_before & (KEY_START | KEY_A); }

static void enter(uint8_t state, uint8_t panel) {
  status.state = state;
  timer = 0;
  hud_panel(panel);
}

static void enter_title(void) {
  terrain_set_level(0);
  objects_clear(1);
  status.player_x = TITLE_X;
  status.player_y = TITLE_Y;
  status.shield = 0;
  sea_palette = PALETTE_DAY;
  enter(STATE_TITLE, PANEL_TITLE);
}

static void enter_level(void) {
  uint8_t row = status.level > LEVELS ? LEVELS - 1 : status.level - 1;
  uint8_t i;
  status.progress = 0;
  status.mail = 0;
  status.goal = GOAL_FIRST;
  for (i = 1; i != status.level && status.goal < GOAL_LIMIT; i++) status.goal += GOAL_MORE;
  speed = speeds[row];
  sea_palette = PALETTE_DAY;
  if (--levels_to_night == 0) {
    sea_palette = PALETTE_NIGHT;
    levels_to_night = 3;
  }
  terrain_set_level(status.level);
  objects_clear(status.level);
  hud_level(status.goal);
  enter(STATE_PLAYING, PANEL_PLAY);
}

static void enter_game(void) {
  random_stir();
  status.level = 1;
  status.lives = LIVES;
  status.score = 0;
  status.score_bcd[0] = status.score_bcd[1] = status.score_bcd[2] = 0;
  status.streak = 0;
  status.letters = 0;
  levels_to_night = 3;
  player_place();
  enter_level();
}

static void enter_level_clear(void) {
  uint8_t i;
  for (i = 0; i != status.mail; i++) SCORE(20);
  hud_set_mail(status.mail);
  objects_clear(status.level);
  terrain_set_level(0);
  sound_play(SOUND_CLEAR);
  enter(STATE_LEVEL_CLEAR, PANEL_LEVEL_CLEAR);
}

static void enter_game_over(void) {
  hud_keep_best();
  terrain_set_level(0);
  enter(STATE_GAME_OVER, PANEL_GAME_OVER);
}

static void title(void) {
  terrain_scroll(CALM_SPEED);
  status.player_y = TITLE_Y + (status.frames & 64 ? 1 : 0);
  player_draw();
  if (start_pressed()) enter_game();
}

static void playing(void) {
  if (terrain_scroll(speed)) objects_appear();
  objects_move();
  status.progress += scroll_step;
  if (player_move() && !status.lives)
    enter_game_over();
  else if (status.progress >= status.goal)
    enter_level_clear();
  player_draw();
  objects_draw();
}

static void level_clear(void) {
  terrain_scroll(speed);
  player_cruise();
  player_draw();
  if (timer != CLEAR_FRAMES) return;
  if (status.level != LEVEL_LIMIT) status.level++;
  status.shield = 60;
  enter_level();
}

static void game_over(void) {
  terrain_scroll(CALM_SPEED);
  objects_move();
  objects_draw();
  if (timer >= GAME_OVER_FRAMES && start_pressed())
    enter_game();
  else if (timer >= GAME_OVER_LIMIT)
    enter_title();
}

void main(void) {
  video_load();
  terrain_load();
  panel_y = 144;
  sound_start();
  enter_title();
  status.magic = STATUS_MAGIC;
  status.version = STATUS_VERSION;
  frame_ready = 1;
  video_start();
  for (;;) {
    wait_vblank();
    read_keys();
    random_next();
    timer++;
    sprites_begin();
    switch (status.state) {
      case STATE_TITLE: title(); break;
      case STATE_PLAYING: playing(); break;
      case STATE_LEVEL_CLEAR: level_clear(); break;
      default: game_over();
    }
    sprites_end();
    hud_update();
    frame_ready = 1;
  }
}
