#include "hud.h"

#include "art.h"
#include "hardware.h"
#include "player.h"
#include "status.h"
#include "video.h"

#define COLUMNS_SHOWN 20
#define ROWS 10
#define SLIDE_SPEED 4
#define BAR_TILES 8
#define BAR_STEPS 32
#define HEARTS 5
#define UNKNOWN 0xFF /* shown value that forces a refresh */
#define FONT_FIRST ' '

/* Places in the status bar: map addresses in the window. */
#define AT(row, column) (MAP_PANEL + (row) * 32 + (column))
#define AT_SCORE AT(0, 3)
#define AT_STREAK AT(0, 10)
#define AT_HEARTS AT(0, 14)
#define AT_LEVEL AT(1, 7)
#define AT_BAR AT(1, 10)

/* Control characters in the text of a panel. */
#define LOGO_UPPER "\1"
#define LOGO_LOWER "\2"
#define BEST "\3"
#define MAIL "\4"
#define BAR "\5"

struct panel {
  uint8_t y;         /* WY when fully shown */
  uint8_t first_row; /* rows of the window that it writes */
  uint8_t end_row;
  const char *rows[ROWS];
};
static const struct panel panels[] = {
    {60, 0, 10, {"", "", LOGO_UPPER, LOGO_LOWER, "", " MAIL BELOW THE ICE ", "",
                 "     PRESS START    ", "", "     BEST " BEST}},
    {127, 0, 2, {" % 00000 *0         ", " LEVEL 1 " BAR}},
    {76, 2, 8, {"", "   MAIL DELIVERED!  ", "", "      % " MAIL " * 20", "", ""}},
    {64, 2, 10, {"", "      GAME OVER     ", "", "     BEST " BEST, "",
                 "     PRESS START    ", "", ""}},
};

static const struct panel *panel;
static uint8_t next_row;
static uint8_t mail_tens, mail_ones; /* tiles */
static uint8_t best_bcd[3];

static uint16_t shown_score;
static uint8_t shown_streak, shown_hearts, shown_level;
static uint8_t score_known;
static uint8_t bar_step;        /* steps of the bar that are filled */
static uint16_t bar_at, bar_by; /* progress at which the next is, and between two */

void hud_panel(uint8_t number) {
  panel = panels + number;
  next_row = panel->first_row;
  score_known = 0;
  shown_streak = shown_hearts = shown_level = UNKNOWN;
}

void hud_set_mail(uint8_t letters) {
  mail_tens = mail_ones = TILE_DIGIT_0;
  while (letters >= 10) {
    letters -= 10;
    mail_tens++;
  }
  mail_ones += letters;
}

void hud_level(uint16_t goal) {
  bar_step = 0;
  bar_by = goal >> 5;
  bar_at = bar_by;
}

void hud_keep_best(void) {
  uint8_t i;
  if (status.score <= status.best) return;
  status.best = status.score;
  for (i = 0; i != 3; i++) best_bcd[i] = status.score_bcd[i];
}

static uint8_t digit(uint8_t value) { return (value & 15) + TILE_DIGIT_0; }

/* Writes the last five of six BCD digits. */
static void five_digits(uint8_t *to, const uint8_t *bcd) {
  to[0] = digit(bcd[0]);
  to[1] = digit(bcd[1] >> 4);
  to[2] = digit(bcd[1]);
  to[3] = digit(bcd[2] >> 4);
  to[4] = digit(bcd[2]);
}

/* The 20 letters' quarters of the title: tiles from 128 on, four a letter. */
static void logo_row(uint8_t *to, uint8_t tile) {
  uint8_t i;
  for (i = 0; i != COLUMNS_SHOWN; i += 2) {
    to[i] = tile;
    to[i + 1] = tile + 1;
    tile += 4;
  }
}

static void bar_row(uint8_t *to) {
  uint8_t i;
  to[0] = TILE_BAR_LEFT;
  for (i = 1; i <= BAR_TILES; i++) to[i] = TILE_BAR_0;
  to[i] = TILE_BAR_RIGHT;
}

static void write_row(void) {
  static uint8_t tiles[COLUMNS_SHOWN];
  const char *text = panel->rows[next_row - panel->first_row];
  uint8_t i;
  for (i = 0; i != COLUMNS_SHOWN; i++) tiles[i] = TILE_SPACE;
  for (i = 0; *text; text++, i++) {
    switch (*text) {
      case 1: logo_row(tiles, 128); break;
      case 2: logo_row(tiles, 130); break;
      case 3: five_digits(tiles + i, best_bcd); break;
      case 4:
        tiles[i] = mail_tens;
        tiles[++i] = mail_ones;
        break;
      case 5: bar_row(tiles + i); break;
      default: tiles[i] = *text - FONT_FIRST;
    }
  }
  text_run(MAP_PANEL + ((uint16_t)next_row << 5), tiles, COLUMNS_SHOWN);
  next_row++;
}

static void show_score(void) {
  uint8_t tiles[5];
  if ((score_known && shown_score == status.score) || !text_room(5)) return;
  shown_score = status.score;
  score_known = 1;
  five_digits(tiles, status.score_bcd);
  text_run(AT_SCORE, tiles, 5);
}

static void show_hearts(void) {
  uint8_t tiles[HEARTS];
  uint8_t i;
  uint8_t worn = status.hull < HULL_FULL / 2 ? 0x80 : 0;
  if (shown_hearts == (status.lives | worn) || !text_room(HEARTS)) return;
  shown_hearts = status.lives | worn;
  for (i = 0; i != HEARTS; i++) {
    tiles[i] = TILE_HEART;
    if (i >= status.lives) tiles[i] = i < 3 ? TILE_HEART_LOST : TILE_SPACE;
  }
  if (worn && status.lives) tiles[status.lives - 1] = TILE_HEART_WORN;
  text_run(AT_HEARTS, tiles, HEARTS);
}

static void show_streak(void) {
  uint8_t tile;
  if (shown_streak == status.streak || !text_room(1)) return;
  shown_streak = status.streak;
  tile = digit(status.streak);
  text_run(AT_STREAK, &tile, 1);
}

static void show_level(void) {
  uint8_t tiles[2];
  uint8_t ones = status.level;
  if (shown_level == ones || !text_room(2)) return;
  shown_level = ones;
  tiles[1] = TILE_SPACE;
  tiles[0] = TILE_DIGIT_0;
  while (ones >= 10) {
    ones -= 10;
    tiles[0]++;
    tiles[1] = 0;
  }
  if (tiles[0] == TILE_DIGIT_0)
    tiles[0] = digit(ones);
  else
    tiles[1] = digit(ones);
  text_run(AT_LEVEL, tiles, 2);
}

static void show_bar(void) {
  uint8_t tile;
  if (status.progress < bar_at || bar_step == BAR_STEPS || !text_room(1)) return;
  tile = TILE_BAR_1 + (bar_step & 3);
  text_run(AT_BAR + (bar_step >> 2), &tile, 1);
  bar_at += bar_by;
  bar_step++;
}

static void slide(void) {
  uint8_t y = panel->y;
  if (panel_y + SLIDE_SPEED < y)
    panel_y += SLIDE_SPEED;
  else if (panel_y > y + SLIDE_SPEED)
    panel_y -= SLIDE_SPEED;
  else
    panel_y = y;
}

void hud_update(void) {
  if (next_row != panel->end_row) {
    write_row();
    return;
  }
  slide();
  if (status.state == STATE_TITLE) return;
  show_score();
  show_hearts();
  show_streak();
  show_level();
  show_bar();
}
