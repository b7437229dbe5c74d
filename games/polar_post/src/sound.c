/* Channel 1 and channel 4 play effects, channel 2 the tune, channel 3 the bass. */
#include "sound.h"

#include "hardware.h"

#define TIMER_64_HZ 0xC0 /* 64 counts of 4096 Hz */
#define TICKS_PER_NOTE 9
#define NOTES 64
#define TRIGGER 0x80

/* Frequencies as the registers want them: 2048 - 131072 / Hz. Channel 3 sounds an octave lower. */
#define REST 0
#define E4 1650
#define F4 1673
#define G4 1714
#define GS4 1732
#define A4 1750
#define B4 1783
#define C5 1798
#define D5 1825
#define E5 1849
#define F5 1860
#define G5 1881
#define A5 1899
#define A3 1452
#define G3 1379
#define F3 1297
#define E3 1253
#define C3 1046
#define D3 1155

/* One step of an effect: the five registers of channel 1, or r1 to r4 for channel 4. */
struct step {
  uint8_t ticks; /* 0: the end */
  uint8_t r0, r1, r2, r3, r4;
};

static const struct step pearl[] = {
    {3, 0x00, 0x80, 0xA1, 0x0A, 0x87}, {6, 0x00, 0x80, 0xA2, 0x83, 0x87}, {0, 0, 0, 0, 0, 0}};
static const struct step letter[] = {
    {4, 0x00, 0x40, 0xC3, 0x06, 0x87}, {4, 0x00, 0x40, 0xC3, 0x39, 0x87},
    {4, 0x00, 0x40, 0xC3, 0x59, 0x87}, {12, 0x00, 0x40, 0xC3, 0x83, 0x87}, {0, 0, 0, 0, 0, 0}};
static const struct step torpedo[] = {
    {4, 0, 0x00, 0x82, 0x34, 0x80}, {8, 0, 0x00, 0x62, 0x56, 0x80}, {0, 0, 0, 0, 0, 0}};
static const struct step burst[] = {
    {6, 0, 0x00, 0xD2, 0x45, 0x80}, {20, 0, 0x00, 0xA3, 0x67, 0x80}, {0, 0, 0, 0, 0, 0}};
static const struct step hit[] = {
    {10, 0x1E, 0x80, 0xF2, 0x00, 0x86}, {24, 0x1D, 0x80, 0xC3, 0x00, 0x85}, {0, 0, 0, 0, 0, 0}};
static const struct step clear[] = {
    {8, 0x00, 0x80, 0xC4, 0xD6, 0x86}, {8, 0x00, 0x80, 0xC4, 0x06, 0x87},
    {8, 0x00, 0x80, 0xC4, 0x39, 0x87}, {8, 0x00, 0x80, 0xC4, 0x6B, 0x87},
    {8, 0x00, 0x80, 0xC4, 0x39, 0x87}, {32, 0x00, 0x80, 0xC6, 0x6B, 0x87}, {0, 0, 0, 0, 0, 0}};
static const struct step scrape[] = {{5, 0, 0x20, 0x61, 0x5C, 0xC0}, {0, 0, 0, 0, 0, 0}};
static const struct step *const effects[] = {0, pearl, letter, torpedo, burst, hit, clear, scrape};

static const uint16_t tune[NOTES] = {
    A4,  REST, C5, E5, REST, D5, C5, REST, B4,  REST, D5,  G5,   REST, D5, B4, REST,
    A4,  REST, C5, F5, REST, E5, C5, REST, GS4, B4,   E5,  REST, D5,   C5, B4, REST,
    C5,  REST, E5, A5, REST, G5, E5, REST, D5,  REST, G5,  F5,   E5,   D5, B4, REST,
    C5,  A4,   F4, A4, C5,   F5, E5, D5,   E5,  REST, REST, B4,  GS4,  REST, E4, REST,
};
/* One bass note for four of the tune. */
static const uint16_t bass[NOTES / 4] = {A3, A3, G3, G3, F3, F3, E3, E3,
                                         A3, C3, G3, D3, F3, F3, E3, E3};

/* Samples of channel 3, two a byte. */
static const uint8_t triangle[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF,
                                     0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10};

static volatile uint8_t wanted_tone, wanted_noise;
static const struct step *tone_step, *noise_step;
static uint8_t tone_ticks, noise_ticks, note_ticks, note;

void sound_start(void) {
  uint8_t i;
  NR52 = 0x80;
  NR50 = 0x77;
  NR51 = 0xFF;
  NR30 = 0;
  for (i = 0; i != 16; i++) WAVE_RAM[i] = triangle[i];
  NR30 = 0x80;
  TMA = TIMER_64_HZ;
  TAC = TAC_4096_HZ;
}

void sound_play(uint8_t sound) {
  if (sound == SOUND_TORPEDO || sound == SOUND_BURST || sound == SOUND_SCRAPE)
    wanted_noise = sound;
  else
    wanted_tone = sound;
}

static void tick_tone(void) {
  const struct step *step;
  if (wanted_tone) {
    tone_step = effects[wanted_tone];
    wanted_tone = SOUND_NONE;
    tone_ticks = 0;
  }
  if (!tone_step) return;
  if (tone_ticks) {
    tone_ticks--;
    return;
  }
  step = tone_step;
  if (!step->ticks) {
    tone_step = 0;
    return;
  }
  tone_ticks = step->ticks;
  NR10 = step->r0;
  NR11 = step->r1;
  NR12 = step->r2;
  NR13 = step->r3;
  NR14 = step->r4;
  tone_step = step + 1;
}

static void tick_noise(void) {
  const struct step *step;
  if (wanted_noise) {
    noise_step = effects[wanted_noise];
    wanted_noise = SOUND_NONE;
    noise_ticks = 0;
  }
  if (!noise_step) return;
  if (noise_ticks) {
    noise_ticks--;
    return;
  }
  step = noise_step;
  if (!step->ticks) {
    noise_step = 0;
    return;
  }
  noise_ticks = step->ticks;
  NR41 = step->r1;
  NR42 = step->r2;
  NR43 = step->r3;
  NR44 = step->r4;
  noise_step = step + 1;
}

static void tick_music(void) {
  uint16_t pitch;
  if (note_ticks) {
    note_ticks--;
    return;
  }
  note_ticks = TICKS_PER_NOTE - 1;
  pitch = tune[note];
  if (pitch) {
    NR21 = 0x80;
    NR22 = 0x63;
    NR23 = (uint8_t)pitch;
    NR24 = TRIGGER | (uint8_t)(pitch >> 8);
  }
  if (!(note & 3)) {
    pitch = bass[note >> 2];
    NR31 = 0;
    NR32 = 0x40;
    NR33 = (uint8_t)pitch;
    NR34 = TRIGGER | (uint8_t)(pitch >> 8);
  }
  note = (note + 1) & (NOTES - 1);
}

void sound_tick(void) {
  tick_tone();
  tick_noise();
  tick_music();
}
