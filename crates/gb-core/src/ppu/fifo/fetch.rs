//! What the pipeline reads: tiles of the background and the window, and rows of sprites.

use super::{Fifo, Stage};
use crate::ppu::{
    color::{self, Color},
    lcdc,
    oam::row_address,
    Registers,
};

/// What the pipeline reads while it runs.
pub(in crate::ppu) struct Memory<'a> {
    pub(in crate::ppu) vram: &'a [u8; 0x2000],
    pub(in crate::ppu) oam: &'a [u8; 160],
    /// The Color's part of the PPU.
    pub(in crate::ppu) color: Option<&'a Color>,
    pub(in crate::ppu) regs: Registers,
    /// The rightmost WX at which the window shows.
    pub(in crate::ppu) last_wx: u8,
    /// WY has been met in this frame.
    pub(in crate::ppu) window_armed: bool,
}

impl Memory<'_> {
    /// A byte of tile data in the bank that the attributes name.
    fn tile_byte(&self, at: usize, attr: u8) -> u8 {
        match self.color {
            Some(color) if attr & color::BANK_1 != 0 && !color.compatible => color.vram[at],
            _ => self.vram[at],
        }
    }
}

impl Fifo {
    /// Advances the background fetcher by one dot.
    pub(super) fn fetch(&mut self, m: &Memory<'_>) {
        // The Color puts an address on the bus a dot before the byte comes.
        let early = m.color.is_some();
        match self.step {
            0 if early => self.choose_tile(m),
            1 => {
                if !early {
                    self.choose_tile(m);
                }
                let at = usize::from(self.tile_at);
                self.tile = m.vram[at];
                self.attr = m.color.map_or(0, |color| color.attributes(at));
            }
            2 | 4 if early => self.choose_row(m),
            3 | 5 => {
                if !early {
                    self.choose_row(m);
                }
                if self.step == 3 {
                    self.lo = self.row_byte(m, 0);
                } else {
                    self.hi = self.row_byte(m, 1);
                    self.window_column = (self.window_column + u8::from(self.window)) & 0x1F;
                }
            }
            _ => {}
        }
        if self.step >= 5 && self.bg_len == 0 {
            let flip = self.attr & 0x20 != 0;
            self.bg_lo = if flip { self.lo.reverse_bits() } else { self.lo };
            self.bg_hi = if flip { self.hi.reverse_bits() } else { self.hi };
            self.bg_attr = self.attr;
            self.bg_len = 8;
            self.step = 0;
        } else if self.step < 6 {
            self.step += 1;
        }
    }

    /// Puts the address of a map entry on the bus.
    fn choose_tile(&mut self, m: &Memory<'_>) {
        if m.regs.lcdc & lcdc::WINDOW_ON == 0 {
            self.window = false;
        }
        let (map, x) = if self.window {
            (lcdc::WINDOW_MAP, self.window_column)
        } else if self.position < -8 {
            (lcdc::BG_MAP, m.regs.scx / 8)
        } else {
            let before = i16::from(m.color.is_some() && self.stage == Stage::Pixel);
            let x = (i16::from(m.regs.scx) + self.position + 8 - before) / 8;
            (lcdc::BG_MAP, x as u8)
        };
        self.y = self.line_of_map(m);
        let base = if m.regs.lcdc & map == 0 { 0x1800 } else { 0x1C00 };
        self.tile_at = base + 32 * u16::from(self.y / 8) + u16::from(x % 32);
    }

    /// The line of the map that is shown now.
    fn line_of_map(&self, m: &Memory<'_>) -> u8 {
        if self.window {
            self.window_line
        } else {
            self.line.wrapping_add(m.regs.scy)
        }
    }

    /// Puts the address of a row of the tile on the bus. The later Colors remember which row it is.
    fn choose_row(&mut self, m: &Memory<'_>) {
        let kept = m.color.is_some_and(|color| color.revision.redesigned());
        let y = if kept { self.y } else { self.line_of_map(m) };
        let fine = if self.attr & 0x40 == 0 { y % 8 } else { 7 - y % 8 };
        self.tiles_low = m.regs.lcdc & lcdc::TILES_LOW != 0;
        let base = if !self.tiles_low && self.tile < 0x80 { 0x1000 } else { 0 };
        self.row_at = base + 16 * u16::from(self.tile) + 2 * u16::from(fine);
    }

    /// A byte of the row. In the dot after LCDC.4 was cleared, the tile's number is read instead, or what
    /// was on the bus before.
    ///
    /// Source: mealybug-tearoom-tests (`CPU CGB C`) and their documentation.
    fn row_byte(&mut self, m: &Memory<'_>, plane: u16) -> u8 {
        let read = m.tile_byte(usize::from(self.row_at + plane), self.attr);
        let byte = match (self.tiles_move, self.tiles_low) {
            (true, true) if self.tile < 0x80 => self.tile,
            (true, false) => self.held,
            _ => read,
        };
        if self.tiles_move && self.tiles_low || plane == 1 && !self.tiles_move {
            self.held = read;
        }
        byte
    }

    /// Offset in OAM of the sprite that comes next.
    pub(super) fn sprite(&self) -> usize {
        4 * usize::from(self.sprites[usize::from(self.left.clamp(1, 10)) - 1].min(39))
    }

    pub(super) fn sprite_matches(&mut self, m: &Memory<'_>) -> bool {
        let x = if self.position < -8 { 0 } else { (self.position + 8) as u8 };
        while self.left > 0 && m.oam[self.sprite() + 1] < x {
            self.left -= 1;
        }
        // The Color fetches sprites even where they are off.
        let fetched = m.regs.lcdc & lcdc::OBJ_ON != 0 || m.color.is_some();
        self.left > 0 && fetched && m.oam[self.sprite() + 1] == x
    }

    /// Puts the address of the sprite's row on the bus, with the size that LCDC names now. On the Color
    /// that is two dots before a byte comes.
    pub(super) fn choose_sprite_row(&mut self, m: &Memory<'_>) {
        let tall = m.regs.lcdc & lcdc::OBJ_TALL != 0;
        self.obj_row_at = row_address(m.oam, self.sprite(), self.line, tall) as u16;
    }

    /// A byte of the sprite's row.
    pub(super) fn sprite_byte(&self, m: &Memory<'_>, plane: u16) -> u8 {
        m.tile_byte(usize::from(self.obj_row_at + plane), m.oam[self.sprite() + 3])
    }

    pub(super) fn push_sprite(&mut self, m: &Memory<'_>) {
        if m.color.is_none() {
            self.choose_sprite_row(m);
        }
        let attr = m.oam[self.sprite() + 3];
        let mut lo = self.obj_row_lo;
        let mut hi = self.sprite_byte(m, 1);
        if attr & 0x20 != 0 {
            lo = lo.reverse_bits();
            hi = hi.reverse_bits();
        }
        let mut free = (lo | hi) & !(self.obj_lo | self.obj_hi);
        let mut palette = attr >> 4;
        if let Some(color) = m.color {
            palette = color.object_palette(attr);
            let owner = (self.sprite() / 4) as u8;
            for (bit, byte) in self.obj_owner.to_be_bytes().into_iter().enumerate() {
                let bit = 0x80 >> bit;
                if (lo | hi) & bit != 0 && byte > owner && !color.by_position() {
                    free |= bit;
                }
            }
            let mine =
                u64::from_be_bytes(std::array::from_fn(|i| (free << i & 0x80) / 0x80 * 0xFF));
            let owners = u64::from(owner) * 0x0101_0101_0101_0101;
            self.obj_owner = self.obj_owner & !mine | owners & mine;
        }
        let put = |row: u8, bits: u8| row & !free | bits & free;
        let all = |bit: bool| u8::from(bit).wrapping_neg();
        self.obj_lo = put(self.obj_lo, lo);
        self.obj_hi = put(self.obj_hi, hi);
        self.obj_second = put(self.obj_second, all(palette & 1 != 0));
        self.obj_palette[0] = put(self.obj_palette[0], all(palette & 2 != 0));
        self.obj_palette[1] = put(self.obj_palette[1], all(palette & 4 != 0));
        self.obj_behind = put(self.obj_behind, all(attr & 0x80 != 0));
    }
}
