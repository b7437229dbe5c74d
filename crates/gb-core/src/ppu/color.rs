//! What the Color adds to the PPU: a second bank of VRAM with tile attributes, palettes, and a
//! picture of 15-bit colours.
//!
//! Source: Pan Docs, "Palettes" and "Tile Maps"; cgb-acid2.

use super::{
    lcdc,
    oam::{row_address, Found},
    Ppu, Registers,
};
use crate::{
    palettes::Choice,
    screen::{Colors, SPREAD},
    Revision,
};

/// Background attribute: tile data in VRAM bank 1 (also of sprites).
pub(super) const BANK_1: u8 = 0x08;
/// Attribute: mirrored horizontally.
const FLIP_X: u8 = 0x20;
/// Attribute: mirrored vertically.
const FLIP_Y: u8 = 0x40;
/// Background attribute: above sprites. Sprite attribute: behind the background.
const PRIORITY: u8 = 0x80;
/// Where a sprite is opaque in a row of sprite pixels.
const OPAQUE: u8 = 0x40;
/// Of a background pixel: covers sprites that stand behind the background, whatever its colour.
const COVERS: u8 = 0x40;
/// Number of the first of the sprites' colours.
pub(super) const OBJECTS: u8 = 32;

/// The colours of a blank LCD: white on the hardware, BGP's colour 0 among these in the reference.
pub(super) const BLANK: [u16; 4] = [0x7FFF, 0x1BEF, 0x6180, 0x0000];

/// A palette memory with its index register.
#[derive(Clone, Debug)]
struct Palettes {
    ram: [u8; 64],
    /// BCPS or OCPS: bits 0–5 the index, bit 7 whether it counts up after a write.
    index: u8,
}
crate::state_fields!(Palettes { ram, index });

impl Palettes {
    fn at(&self) -> usize {
        usize::from(self.index & 0x3F)
    }

    fn count_up(&mut self) {
        if self.index & 0x80 != 0 {
            self.index = 0x80 | (self.index + 1) & 0x3F;
        }
    }

    fn color(&self, entry: usize) -> u16 {
        u16::from_le_bytes([self.ram[2 * entry], self.ram[2 * entry + 1]]) & 0x7FFF
    }
}

/// The Color's part of the PPU.
#[derive(Clone, Debug)]
pub struct Color {
    /// Bank 1 of VRAM.
    pub vram: [u8; 0x2000],
    /// VBK bit 0.
    bank: u8,
    background: Palettes,
    objects: Palettes,
    /// OPRI bit 0: the sprite with the smaller X wins, as on the DMG, instead of the first in OAM.
    by_position: bool,
    /// A DMG game: one palette each through BGP, OBP0 and OBP1, no attributes.
    pub(super) compatible: bool,
    pub(super) revision: Revision,
    pub(super) picture: Colors,
}
crate::state_fields!(Color {
    vram, bank, background, objects, by_position, compatible, picture,
} skip { revision });

impl Color {
    /// As the boot program leaves it, with white palettes; `compatible` for a DMG game.
    pub(crate) fn new(compatible: bool, revision: Revision) -> Self {
        Self {
            vram: [0; 0x2000],
            bank: 0,
            background: Palettes { ram: [0xFF; 64], index: 0x88 },
            objects: Palettes { ram: [0xFF; 64], index: 0x90 },
            by_position: compatible,
            compatible,
            revision,
            picture: Colors::filled(BLANK[0]),
        }
    }

    /// Sets the palettes of a DMG game.
    pub(crate) fn choose(&mut self, choice: &Choice) {
        self.set_palettes(&choice.background, choice.sprites.as_flattened());
    }

    /// Sets the first colours of the background's palettes and those of the sprites'.
    pub(crate) fn set_palettes(&mut self, background: &[u16], objects: &[u16]) {
        for (palettes, colors) in [(&mut self.background, background), (&mut self.objects, objects)]
        {
            for (bytes, color) in palettes.ram.chunks_exact_mut(2).zip(colors) {
                bytes.copy_from_slice(&color.to_le_bytes());
            }
        }
    }

    /// The picture drawn last.
    pub fn picture(&self) -> &Colors {
        &self.picture
    }

    /// Whether a DMG game runs.
    pub fn compatible(&self) -> bool {
        self.compatible
    }

    /// VBK, FF68–FF6C; `blocked` while the PPU uses the palettes.
    pub fn read(&self, addr: u16, blocked: bool) -> u8 {
        match addr {
            0xFF4F => 0xFE | self.bank,
            0xFF68 => 0x40 | self.background.index,
            0xFF6A => 0x40 | self.objects.index,
            0xFF69 | 0xFF6B if blocked => 0xFF,
            0xFF69 => self.background.ram[self.background.at()],
            0xFF6B => self.objects.ram[self.objects.at()],
            _ => 0xFE | u8::from(self.by_position),
        }
    }

    /// Writes VBK, FF68–FF6C. A write to a blocked palette is lost, but counts.
    pub fn write(&mut self, addr: u16, v: u8, blocked: bool) {
        match addr {
            0xFF4F => self.bank = v & 1,
            0xFF68 => self.background.index = v & 0xBF,
            0xFF6A => self.objects.index = v & 0xBF,
            0xFF69 | 0xFF6B => {
                let palettes =
                    if addr == 0xFF69 { &mut self.background } else { &mut self.objects };
                if !blocked {
                    palettes.ram[palettes.at()] = v;
                }
                palettes.count_up();
            }
            _ => self.by_position = v & 1 != 0,
        }
    }

    /// Gives a line the colours of this moment.
    pub(super) fn take_palettes(&mut self, line: usize) {
        let (background, objects) = self.picture.palettes[line].split_at_mut(32);
        for i in 0..32 {
            background[i] = self.background.color(i);
            objects[i] = self.objects.color(i);
        }
    }

    /// The colour that each pair of palette and colour number stands for, by number: another one only
    /// where BGP, OBP0 and OBP1 count.
    pub(super) fn numbers(&self, regs: Registers) -> [u8; 64] {
        let mut numbers = std::array::from_fn(|i| i as u8);
        if self.compatible {
            for i in 0..4 {
                let shade = |palette: u8| palette >> (2 * i) & 3;
                numbers[i] = shade(regs.bgp);
                numbers[32 + i] = OBJECTS + shade(regs.obp[0]);
                numbers[36 + i] = OBJECTS + 4 + shade(regs.obp[1]);
            }
        }
        numbers
    }

    /// Whether the sprite with the smaller X wins.
    pub(super) fn by_position(&self) -> bool {
        self.by_position
    }

    /// The attributes of a map entry.
    pub(super) fn attributes(&self, at: usize) -> u8 {
        if self.compatible {
            0
        } else {
            self.vram[at & 0x1FFF]
        }
    }

    /// The number of a sprite's palette.
    pub(super) fn object_palette(&self, attr: u8) -> u8 {
        if self.compatible {
            attr >> 4 & 1
        } else {
            attr & 7
        }
    }

    /// Whether hostile state bytes left every value in its domain.
    pub(super) fn valid(&self) -> bool {
        let palettes = [&self.background, &self.objects];
        self.bank < 2 && palettes.iter().all(|p| p.index & 0x40 == 0)
    }
}

/// A byte in each of eight bytes.
fn splat(v: u8) -> u64 {
    u64::from(v) * 0x0101_0101_0101_0101
}

/// A row of background pixels: bit 7 priority, bits 2–4 the palette, bits 0–1 the colour number.
type Row = [u8; 176];

impl Ppu {
    /// The bank of VRAM that the processor sees.
    #[inline]
    pub fn vram_seen(&self) -> &[u8; 0x2000] {
        match self.color.as_deref() {
            Some(color) if color.bank == 1 => &color.vram,
            _ => &self.vram,
        }
    }

    /// The bank of VRAM that the processor sees, to be written.
    #[inline]
    pub fn vram_seen_mut(&mut self) -> &mut [u8; 0x2000] {
        match self.color.as_deref_mut() {
            Some(color) if color.bank == 1 => &mut color.vram,
            _ => &mut self.vram,
        }
    }

    /// `count` tiles of a line of a tile map, from tile column `column` on.
    #[inline(always)]
    fn color_tiles(&self, color: &Color, map: usize, y: u8, column: usize, count: usize) -> Row {
        let mut row = [0; 176];
        let map_row = map + usize::from(y / 8) * 32;
        let (flip, base) =
            if self.regs.lcdc & lcdc::TILES_LOW == 0 { (0x80, 0x800) } else { (0, 0) };
        for (i, out) in row.chunks_exact_mut(8).take(count).enumerate() {
            let at = (map_row + (column + i) % 32) & 0x1FFF;
            let attr = color.attributes(at);
            let tile = usize::from(self.vram[at] ^ flip);
            let fine = usize::from(if attr & FLIP_Y == 0 { y % 8 } else { 7 - y % 8 });
            let at = (base + 16 * tile + 2 * fine) & 0x1FFE;
            let vram = if attr & BANK_1 == 0 { &self.vram } else { &color.vram };
            let (mut lo, mut hi) = (vram[at], vram[at + 1]);
            if attr & FLIP_X != 0 {
                lo = lo.reverse_bits();
                hi = hi.reverse_bits();
            }
            let px = SPREAD[usize::from(lo)]
                | SPREAD[usize::from(hi)] << 1
                | splat(attr & PRIORITY | (attr & 7) << 2);
            out.copy_from_slice(&px.to_le_bytes());
        }
        row
    }

    /// The background with the window over it, from the left edge of the screen on.
    fn color_background(&self, color: &Color, line: u8, window_line: Option<u8>) -> [u8; 160] {
        let mut out = [0; 160];
        let map = |bit: u8| if self.regs.lcdc & bit == 0 { 0x1800 } else { 0x1C00 };
        let Registers { scx, scy, wx, .. } = self.regs;
        let y = line.wrapping_add(scy);
        let row = self.color_tiles(color, map(lcdc::BG_MAP), y, usize::from(scx / 8), 21);
        let fine = usize::from(scx % 8);
        out.copy_from_slice(&row[fine..fine + 160]);
        if let Some(y) = window_line {
            let start = usize::from(wx.saturating_sub(7)).min(160);
            let clipped = usize::from(7u8.saturating_sub(wx));
            let count = (160 - start).div_ceil(8) + 1;
            let row = self.color_tiles(color, map(lcdc::WINDOW_MAP), y, 0, count);
            out[start..].copy_from_slice(&row[clipped..clipped + 160 - start]);
        }
        out
    }

    /// The sprites of a line, eight pixels of nothing before the screen: bit 7 behind the
    /// background, bit 6 opaque, bits 2–4 the palette, bits 0–1 the colour number.
    ///
    /// In the reference, `bg` hides sprites one by one, so that lesser ones show instead.
    fn color_sprites(&self, color: &Color, line: u8, found: Found, bg: &[u8; 160]) -> Row {
        let mut out = [0; 176];
        let mut order = found.index;
        let order = &mut order[..found.n];
        if color.by_position {
            order.sort_by_key(|&i| self.oam[4 * usize::from(i) + 1]);
        }
        let tall = self.regs.lcdc & lcdc::OBJ_TALL != 0;
        for &i in order.iter() {
            let i = 4 * usize::from(i);
            let (x, attr) = (self.oam[i + 1], self.oam[i + 3]);
            if x >= 168 {
                continue;
            }
            let at = row_address(&self.oam, i, line, tall) & 0x1FFE;
            let bank_1 = attr & BANK_1 != 0 && !color.compatible;
            let vram = if bank_1 { &color.vram } else { &self.vram };
            let (mut lo, mut hi) = (vram[at], vram[at + 1]);
            if attr & FLIP_X != 0 {
                lo = lo.reverse_bits();
                hi = hi.reverse_bits();
            }
            let px = SPREAD[usize::from(lo)] | SPREAD[usize::from(hi)] << 1;
            let look = OPAQUE | attr & PRIORITY | color.object_palette(attr) << 2;
            let master = self.master_priority(color);
            for (x, px) in (usize::from(x)..).zip(px.to_le_bytes()) {
                let hidden = self.reference.on
                    && x.checked_sub(8)
                        .and_then(|x| bg.get(x))
                        .is_some_and(|bg| !sprite_wins(master, bg & (COVERS | 3), bg | look));
                if px != 0 && out[x] == 0 && !hidden {
                    out[x] = px | look;
                }
            }
        }
        out
    }

    /// Whether the background can stand over sprites: LCDC.0, but for DMG games in the reference.
    fn master_priority(&self, color: &Color) -> bool {
        self.regs.lcdc & lcdc::BG_ON != 0 || self.reference.on && color.compatible
    }

    /// As [`render_line`](Self::render_line), in colour.
    pub(super) fn render_color_line(&mut self, line: u8, window_line: Option<u8>) {
        let Some(color) = self.color.take() else { return };
        self.color = Some(self.with_color_line(color, line, window_line));
    }

    fn with_color_line(
        &mut self,
        mut color: Box<Color>,
        line: u8,
        window_line: Option<u8>,
    ) -> Box<Color> {
        let lcdc = self.regs.lcdc;
        // As on the monochrome models; see `render_line` for the reference.
        let shows = lcdc & lcdc::BG_ON != 0 || self.reference.on && window_line.is_some();
        let mut bg = if color.compatible && !shows {
            [if self.reference.on { COVERS } else { 0 }; 160]
        } else {
            self.color_background(&color, line, window_line)
        };
        if lcdc & lcdc::OBJ_ON != 0 {
            let found = self.table.on_line(line, &self.oam, lcdc);
            if found.n > 0 {
                let sprites = self.color_sprites(&color, line, found, &bg);
                let master = self.master_priority(&color);
                for (bg, &obj) in bg.iter_mut().zip(&sprites[8..]) {
                    if obj != 0 && sprite_wins(master, *bg & (COVERS | 3), *bg | obj) {
                        *bg = obj & 0x1F | OBJECTS;
                    }
                }
            }
        }
        let line = usize::from(line) % 144;
        color.take_palettes(line);
        let numbers = color.compatible.then(|| color.numbers(self.regs));
        let row = &mut color.picture.pixels[line];
        for (out, index) in row.iter_mut().zip(bg) {
            *out = index & 0x3F;
        }
        if let Some(numbers) = numbers {
            for out in row {
                *out = numbers[usize::from(*out & 0x3F)];
            }
        }
        color
    }
}

/// Whether a sprite's opaque pixel is shown over a background pixel of colour number `bg`, either
/// of which may ask for priority in bit 7 of `priority`. `master` is LCDC.0.
pub(super) fn sprite_wins(master: bool, bg: u8, priority: u8) -> bool {
    !master || bg == 0 || priority & PRIORITY == 0
}
