/* The Game Boy's registers that the game uses, and the bits in them. */
#ifndef HARDWARE_H
#define HARDWARE_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint8_t *)(address))

#define P1 REGISTER(0xFF00)
#define DIV REGISTER(0xFF04)
#define TMA REGISTER(0xFF06)
#define TAC REGISTER(0xFF07)
#define IF REGISTER(0xFF0F)
#define NR10 REGISTER(0xFF10)
#define NR11 REGISTER(0xFF11)
#define NR12 REGISTER(0xFF12)
#define NR13 REGISTER(0xFF13)
#define NR14 REGISTER(0xFF14)
#define NR21 REGISTER(0xFF16)
#define NR22 REGISTER(0xFF17)
#define NR23 REGISTER(0xFF18)
#define NR24 REGISTER(0xFF19)
#define NR30 REGISTER(0xFF1A)
#define NR31 REGISTER(0xFF1B)
#define NR32 REGISTER(0xFF1C)
#define NR33 REGISTER(0xFF1D)
#define NR34 REGISTER(0xFF1E)
#define NR41 REGISTER(0xFF20)
#define NR42 REGISTER(0xFF21)
#define NR43 REGISTER(0xFF22)
#define NR44 REGISTER(0xFF23)
#define NR50 REGISTER(0xFF24)
#define NR51 REGISTER(0xFF25)
#define NR52 REGISTER(0xFF26)
#define WAVE_RAM ((volatile uint8_t *)0xFF30)
#define LCDC REGISTER(0xFF40)
#define STAT REGISTER(0xFF41)
#define LY REGISTER(0xFF44)
#define LYC REGISTER(0xFF45)
#define OBP0 REGISTER(0xFF48)
#define OBP1 REGISTER(0xFF49)
#define WX REGISTER(0xFF4B)
#define IE REGISTER(0xFFFF)

#define VRAM_SPRITES ((uint8_t *)0x8000) /* sprite tiles: ids count from here */
#define VRAM_LOGO ((uint8_t *)0x8800)    /* background tiles 128 to 255 */
#define VRAM_TILES ((uint8_t *)0x9000)   /* background tiles 0 to 127 */
#define MAP_SEA 0x9800                   /* tile map of the background */
#define MAP_PANEL 0x9C00                 /* tile map of the window */

/* LCD on; window map 9C00, window on; signed tile ids; 8x16 sprites on; background on. */
#define LCDC_GAME 0xE7
#define STAT_LYC 0x40
#define TAC_4096_HZ 0x04

#define INT_VBLANK 0x01
#define INT_LCD 0x02
#define INT_TIMER 0x04

#define KEY_RIGHT 0x01
#define KEY_LEFT 0x02
#define KEY_UP 0x04
#define KEY_DOWN 0x08
#define KEY_A 0x10
#define KEY_B 0x20
#define KEY_SELECT 0x40
#define KEY_START 0x80

#define SPRITE_MIRROR 0x20 /* OAM attribute: flip left and right */

#endif
