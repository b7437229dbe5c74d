; Vectors, entry point and the three interrupt handlers of Polar Post.
; Bytes 0104h-014Fh (the header) are filled in by build.py.

	.module crt0
	.globl	_main, _sound_tick
	.globl	_frame_ready, _vblank_seen, _sky_x, _sea_x, _sea_y, _sea_palette, _panel_y
	.globl	_column_to, _column_tiles, _water_from, _text_queue, _text_length

_status		== 0xC000	; struct status of status.h
DIV		= 0xFF04
OAM_SHADOW	= 0xC100	; sprite table of the next frame, copied by DMA
STAT		= 0xFF41
SCY		= 0xFF42
SCX		= 0xFF43
DMA		= 0xFF46
BGP		= 0xFF47
WY		= 0xFF4A
SKY_PALETTE	= 0xE4
WATER_TILES	= 0x9400	; tiles 64 and 65: two tiles of open water
WATER_BYTES	= 32
COLUMN_TILES	= 13

	.area	_VECTORS (ABS)
	.org	0x40
	jp	vblank
	.org	0x48
	jp	lcd
	.org	0x50
	jp	timer
	.org	0x58		; serial: never enabled
	reti
	.org	0x60		; joypad: never enabled
	reti

	.org	0x100
	nop
	jp	start

	.org	0x150
; Boot. The divider is read before anything else: it is the seed of the game.
start:
	di
	ld	sp, #0xE000
	ldh	a, (DIV)
	ld	d, a
	ld	hl, #0xC000
	ld	bc, #0x1F00	; all RAM below the stack
clear_ram:
	xor	a
	ld	(hl+), a
	dec	bc
	ld	a, b
	or	a, c
	jr	nz, clear_ram
	ld	a, d
	ld	hl, #_status + 0x12	; status.random
	ld	(hl+), a
	cpl
	ld	(hl), a		; never both zero

	ld	hl, #dma_code	; DMA leaves the CPU high RAM only, so its wait loop lives there
	ld	c, #dma_routine & 0xFF
	ld	b, #dma_code_end - dma_code
copy_dma:
	ld	a, (hl+)
	ldh	(c), a
	inc	c
	dec	b
	jr	nz, copy_dma
	jp	_main

dma_code:
	ld	a, #OAM_SHADOW >> 8
	ldh	(DMA), a
	ld	a, #40		; 160 cycles
00001$:	dec	a
	jr	nz, 00001$
	ret
dma_code_end:

dma_routine	= 0xFF80

	.area	_CODE

; V-blank: shows the frame that the main loop finished, if it did. All writes to video memory made
; while the screen is on happen here. Worst case about 1000 of the 1140 cycles of V-blank.
vblank:
	push	af
	push	bc
	push	de
	push	hl
	ld	a, (_frame_ready)
	or	a, a
	jr	nz, show_frame
	ld	hl, #_status + 0x1B	; status.late
	inc	(hl)
	jr	set_scroll
show_frame:
	call	dma_routine
	call	copy_column
	call	copy_water
	call	copy_text
	xor	a, a
	ld	(_frame_ready), a
	ld	a, (_sea_x)
	ld	(shown_sea_x), a
	ld	a, (_sea_y)
	ld	(shown_sea_y), a
	ld	a, (_sea_palette)
	ld	(shown_sea_palette), a
	ld	a, (_sky_x)
	ld	(shown_sky_x), a
	ld	a, (_panel_y)
	ldh	(WY), a
set_scroll:			; the sky first; the LCD handler switches to the sea
	ld	a, (shown_sky_x)
	ldh	(SCX), a
	ld	a, #SKY_PALETTE
	ldh	(BGP), a
	xor	a, a
	ldh	(SCY), a
	inc	a
	ld	(_vblank_seen), a
	ld	hl, #_status + 0x10	; status.frames
	inc	(hl)
	jr	nz, 00001$
	inc	hl
	inc	(hl)
00001$:	pop	hl
	pop	de
	pop	bc
	pop	af
	reti

; One new column of the sea: 13 tiles down the map at _column_to (0: none).
copy_column:
	ld	hl, #_column_to
	ld	a, (hl+)
	ld	d, (hl)
	ld	e, a
	or	a, d
	ret	z
	xor	a, a
	ld	(hl-), a
	ld	(hl), a
	ld	hl, #_column_tiles
	ld	b, #COLUMN_TILES
00001$:	ld	a, (hl+)
	ld	(de), a
	ld	a, e
	add	a, #32
	ld	e, a
	jr	nc, 00002$
	inc	d
00002$:	dec	b
	jr	nz, 00001$
	ret

; The two tiles of open water, from _water_from (high byte 0: unchanged).
copy_water:
	ld	hl, #_water_from
	ld	a, (hl+)
	ld	e, a
	ld	a, (hl)
	or	a, a
	ret	z
	ld	(hl), #0
	ld	h, a
	ld	l, e
	ld	de, #WATER_TILES
	ld	b, #WATER_BYTES / 4
00001$:	ld	a, (hl+)
	ld	(de), a
	inc	e
	ld	a, (hl+)
	ld	(de), a
	inc	e
	ld	a, (hl+)
	ld	(de), a
	inc	e
	ld	a, (hl+)
	ld	(de), a
	inc	e
	dec	b
	jr	nz, 00001$
	ret

; The text queue: runs of (address high, address low, count, tiles...), ended by a zero.
copy_text:
	ld	a, (_text_length)
	or	a, a
	ret	z
	ld	hl, #_text_queue
00001$:	ld	a, (hl+)
	or	a, a
	jr	z, 00003$
	ld	d, a
	ld	a, (hl+)
	ld	e, a
	ld	a, (hl+)
	ld	b, a
00002$:	ld	a, (hl+)
	ld	(de), a
	inc	de
	dec	b
	jr	nz, 00002$
	jr	00001$
00003$:	ld	(_text_length), a
	ret

; LYC: the last line of the sky. Waits for its H-blank, then scrolls the rest of the screen.
lcd:
	push	af
00001$:	ldh	a, (STAT)
	and	a, #3
	jr	nz, 00001$
	ld	a, (shown_sea_x)
	ldh	(SCX), a
	ld	a, (shown_sea_y)
	ldh	(SCY), a
	ld	a, (shown_sea_palette)
	ldh	(BGP), a
	pop	af
	reti

; Timer, 64 times a second: music and sound. Lets the LCD handler in, whose moment matters.
timer:
	ei
	push	af
	push	bc
	push	de
	push	hl
	call	_sound_tick
	pop	hl
	pop	de
	pop	bc
	pop	af
	ret

; void wait_vblank(void): sleeps until the next V-blank has been served. HALT runs with interrupts
; masked, so none can slip in between the test and the sleep; they are taken at EI.
_wait_vblank::
	xor	a, a
	ld	(_vblank_seen), a
00001$:	di
	ld	a, (_vblank_seen)
	or	a, a
	jr	nz, 00002$
	halt
	nop
	ei
	nop
	jr	00001$
00002$:	ei
	ret

; void bcd_add(uint16_t points): adds four decimal digits (in DE) to status.score_bcd.
_bcd_add::
	ld	hl, #_status + 0x09
	ld	a, (hl)
	add	a, e
	daa
	ld	(hl-), a
	ld	a, (hl)
	adc	a, d
	daa
	ld	(hl-), a
	ld	a, (hl)
	adc	a, #0
	daa
	ld	(hl), a
	ret

	.area	_DATA
shown_sea_x:	.ds 1		; what the running frame uses, latched in V-blank
shown_sea_y:	.ds 1
shown_sea_palette:	.ds 1
shown_sky_x:	.ds 1
	.area	_GSINIT
	.area	_GSFINAL
	.area	_HOME
	.area	_INITIALIZER
	.area	_INITIALIZED
