//! The pixel pipeline, dot by dot: for lines whose registers change while they are drawn.
//!
//! A background fetcher fills a queue of eight pixels that is emptied one pixel a dot; sprites and
//! the window interrupt it. Eight pixels of nothing come first, of which SCX mod 8 more or fewer
//! are dropped for the fine scroll.
//!
//! Source: Pan Docs "Pixel FIFO"; mealybug-tearoom-tests; `SameBoy`'s published findings on the
//! order of events within a dot.

use super::{
    color::{self, Color},
    lcdc,
    oam::{row_address, Found},
    Registers,
};

/// Position at which the line begins: eight pixels of nothing before eight left of the screen.
const START: i16 = -16;

/// The leftmost WX at which a window that is switched off slips a pixel into the background.
pub(super) const FIRST_SLIP_WX: u8 = 9;

/// What happens in the next dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Stage {
    /// A pixel leaves the queue.
    Pixel,
    /// A sprite waits until the fetcher has finished a tile.
    SpriteWaits,
    /// A sprite at X = 0 waits for the fine scroll too.
    SpriteAtZero,
    /// The six dots of a sprite's fetch.
    Sprite0,
    Sprite1,
    Sprite2,
    Sprite3,
    Sprite4,
    Sprite5,
    /// A sprite's pixels are there, in the same dot as the next pixel.
    SpriteEnds,
    /// The line is finished.
    Done,
}

super::enum_state!(Stage {
    Pixel,
    SpriteWaits,
    SpriteAtZero,
    Sprite0,
    Sprite1,
    Sprite2,
    Sprite3,
    Sprite4,
    Sprite5,
    SpriteEnds,
    Done
});

/// One line's pipeline.
#[derive(Clone, Debug)]
pub(super) struct Fifo {
    stage: Stage,
    position: i16,
    lcd_x: u8,
    line: u8,
    /// Background pixels; the next one is the most significant bit.
    bg_lo: u8,
    bg_hi: u8,
    bg_len: u8,
    /// Sprite pixels, likewise.
    obj_lo: u8,
    obj_hi: u8,
    obj_second: u8,
    obj_behind: u8,
    /// On the Color: the upper bits of each pixel's palette, and which sprite it belongs to.
    obj_palette: [u8; 2],
    obj_owner: u64,
    /// Attributes of the background pixels, and of the tile being fetched.
    bg_attr: u8,
    attr: u8,
    /// The fetcher: its step, where it reads, and what it has read.
    step: u8,
    tile_at: u16,
    row_at: u16,
    /// Line of the map that the tile comes from.
    y: u8,
    /// LCDC.4 when `row_at` was chosen.
    tiles_low: bool,
    /// On the Color, in the dot after LCDC.4 was cleared.
    tiles_move: bool,
    /// What stays on the bus for a read in such a dot.
    held: u8,
    tile: u8,
    lo: u8,
    hi: u8,
    /// The window has begun on this line.
    window: bool,
    window_starting: bool,
    window_column: u8,
    /// The line of the window that is shown, once it has begun, and the one after it.
    window_line: u8,
    window_next: u8,
    /// A pixel of colour 0 is slipped in before the next one.
    insert_pixel: bool,
    /// WX was written in the last dot.
    wx_just_written: bool,
    /// Sprites still to come, the next one last.
    sprites: [u8; 10],
    left: u8,
    zero_penalty: u8,
    /// Where the sprite's row is read, and its low bits.
    obj_row_at: u16,
    obj_row_lo: u8,
}
crate::state_fields!(Fifo {
    stage,
    position,
    lcd_x,
    line,
    bg_lo,
    bg_hi,
    bg_len,
    obj_lo,
    obj_hi,
    obj_second,
    obj_behind,
    obj_palette,
    obj_owner,
    bg_attr,
    attr,
    step,
    tile_at,
    row_at,
    y,
    tiles_low,
    tiles_move,
    held,
    tile,
    lo,
    hi,
    window,
    window_starting,
    window_column,
    window_line,
    window_next,
    insert_pixel,
    wx_just_written,
    sprites,
    left,
    zero_penalty,
    obj_row_at,
    obj_row_lo
});

/// What the pipeline reads while it runs.
pub(super) struct Memory<'a> {
    pub(super) vram: &'a [u8; 0x2000],
    pub(super) oam: &'a [u8; 160],
    /// The Color's part of the PPU.
    pub(super) color: Option<&'a Color>,
    pub(super) regs: Registers,
    /// The rightmost WX at which the window shows.
    pub(super) last_wx: u8,
    /// WY has been met in this frame.
    pub(super) window_armed: bool,
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
    /// A pipeline that has nothing to do.
    pub(super) fn idle() -> Self {
        Self {
            stage: Stage::Done,
            position: START,
            lcd_x: 0,
            line: 0,
            bg_lo: 0,
            bg_hi: 0,
            bg_len: 0,
            obj_lo: 0,
            obj_hi: 0,
            obj_second: 0,
            obj_behind: 0,
            obj_palette: [0; 2],
            obj_owner: 0,
            bg_attr: 0,
            attr: 0,
            step: 0,
            tile_at: 0,
            row_at: 0,
            y: 0,
            tiles_low: false,
            tiles_move: false,
            held: 0,
            tile: 0,
            lo: 0,
            hi: 0,
            window: false,
            window_starting: false,
            window_column: 0,
            window_line: 0,
            window_next: 0,
            insert_pixel: false,
            wx_just_written: false,
            sprites: [0; 10],
            left: 0,
            zero_penalty: 0,
            obj_row_at: 0,
            obj_row_lo: 0,
        }
    }

    /// The start of a line with the sprites that its OAM scan found; `window_next` is the next
    /// line of the window.
    pub(super) fn start(line: u8, found: Found, oam: &[u8; 160], scx: u8, window_next: u8) -> Self {
        let mut sprites = found.index;
        let order = &mut sprites[..found.n];
        order.sort_by_key(|&i| oam[4 * usize::from(i) + 1]);
        order.reverse();
        Self {
            stage: Stage::Pixel,
            line,
            bg_len: 8,
            window_next,
            sprites,
            left: found.n as u8,
            zero_penalty: scx & 7,
            ..Self::idle()
        }
    }

    /// Whether the line is finished.
    pub(super) fn done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// The next line of the window: each time it begins uses one up.
    pub(super) fn window_next(&self) -> u8 {
        self.window_next
    }

    /// WX was just written: one of its comparisons does not see it yet.
    pub(super) fn wx_written(&mut self) {
        self.wx_just_written = true;
    }

    /// LCDC.4 has just been cleared, or the dot after that is over.
    pub(super) fn set_tiles_move(&mut self, on: bool) {
        self.tiles_move = on;
    }

    /// LCDC.1 was cleared: a sprite fetch under way is given up.
    pub(super) fn abort_sprite(&mut self) {
        if !matches!(self.stage, Stage::Pixel | Stage::Done) {
            self.stage = Stage::Pixel;
        }
    }

    /// Whether hostile state bytes left every value in its domain.
    pub(super) fn valid(&self) -> bool {
        (START..=160).contains(&self.position)
            && self.lcd_x <= 160
            && self.line < 144
            && self.bg_len <= 8
            && self.step <= 6
            && self.tile_at < 0x2000
            && self.row_at < 0x1FFF
            && self.obj_row_at < 0x1FFF
            && self.left <= 10
            && self.sprites.iter().all(|&i| i < 40)
            && self.zero_penalty < 8
    }

    /// One dot; gives a pixel's shade (on the Color, its index in the colour table) and column if one
    /// came out.
    pub(super) fn dot(&mut self, m: &Memory<'_>) -> Option<(u8, u8)> {
        loop {
            match self.stage {
                Stage::Done => return None,
                Stage::Pixel => {
                    if self.check_window(m) {
                        return None;
                    }
                    if self.sprite_matches(m) {
                        self.stage = Stage::SpriteWaits;
                        continue;
                    }
                    // A pixel that is slipped in delays the tile behind it.
                    let slips = self.insert_pixel && self.position >= -8;
                    let pixel = self.pop(m);
                    if !slips {
                        self.fetch(m);
                    }
                    self.wx_just_written = false;
                    if self.position == 160 {
                        self.stage = Stage::Done;
                    }
                    return pixel;
                }
                Stage::SpriteWaits => {
                    if self.step < 5 || self.bg_len == 0 {
                        self.fetch(m);
                        return None;
                    }
                    self.stage = Stage::SpriteAtZero;
                }
                Stage::SpriteAtZero => {
                    if self.zero_penalty > 0 && m.oam[self.sprite() + 1] == 0 {
                        self.zero_penalty -= 1;
                        return None;
                    }
                    self.stage = Stage::Sprite0;
                }
                Stage::Sprite0 => {
                    self.fetch(m);
                    self.stage = Stage::Sprite1;
                    return None;
                }
                Stage::Sprite1 => {
                    self.fetch(m);
                    self.stage = Stage::Sprite2;
                    return None;
                }
                Stage::Sprite2 => {
                    if m.color.is_some() {
                        self.choose_sprite_row(m);
                    }
                    self.stage = Stage::Sprite3;
                    return None;
                }
                Stage::Sprite3 => {
                    self.stage = Stage::Sprite4;
                    return None;
                }
                Stage::Sprite4 => {
                    if m.color.is_some() {
                        self.obj_row_lo = self.sprite_byte(m, 0);
                        self.choose_sprite_row(m);
                    }
                    self.stage = Stage::Sprite5;
                    return None;
                }
                Stage::Sprite5 => {
                    if m.color.is_none() {
                        self.choose_sprite_row(m);
                        self.obj_row_lo = self.sprite_byte(m, 0);
                    }
                    self.stage = Stage::SpriteEnds;
                    return None;
                }
                Stage::SpriteEnds => {
                    self.push_sprite(m);
                    self.left = self.left.saturating_sub(1);
                    self.stage = Stage::Pixel;
                }
            }
        }
    }

    /// Offset in OAM of the sprite that comes next.
    fn sprite(&self) -> usize {
        4 * usize::from(self.sprites[usize::from(self.left.clamp(1, 10)) - 1].min(39))
    }

    fn sprite_matches(&mut self, m: &Memory<'_>) -> bool {
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
    fn choose_sprite_row(&mut self, m: &Memory<'_>) {
        let tall = m.regs.lcdc & lcdc::OBJ_TALL != 0;
        self.obj_row_at = row_address(m.oam, self.sprite(), self.line, tall) as u16;
    }

    /// A byte of the sprite's row.
    fn sprite_byte(&self, m: &Memory<'_>, plane: u16) -> u8 {
        m.tile_byte(usize::from(self.obj_row_at + plane), m.oam[self.sprite() + 3])
    }

    fn push_sprite(&mut self, m: &Memory<'_>) {
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

    /// Begins the window where WX is met; returns whether that takes a dot of its own.
    fn check_window(&mut self, m: &Memory<'_>) -> bool {
        let wx = m.regs.wx;
        let off = m.regs.lcdc & lcdc::WINDOW_ON == 0;
        if self.window || m.window_armed && off && wx >= FIRST_SLIP_WX {
            // WX met at the start of a tile, once the window has begun, slips in a pixel.
            let met = self.step == 0 && i16::from(wx) == self.position + 7;
            if met && !self.window_starting && m.color.is_none() {
                self.insert_pixel = true;
            }
            return false;
        }
        if !m.window_armed || off {
            return false;
        }
        let fine = m.regs.scx & 7;
        let before_scroll = wx == 0 && fine != 0 && self.position == START;
        let begins = if wx == 0 {
            before_scroll || self.position == -7
        } else if wx > m.last_wx {
            // Not shown, but counted.
            let counted = wx == 166 && i16::from(wx) == self.position + 7;
            self.window_next = self.window_next.wrapping_add(u8::from(counted));
            false
        } else if i16::from(wx) == self.position + 7 {
            true
        } else if i16::from(wx) == self.position + 6 && !self.wx_just_written {
            // The comparison is one dot late: the picture moves by a pixel against the queue.
            self.lcd_x = self.lcd_x.saturating_sub(u8::from(m.color.is_none()));
            true
        } else {
            false
        };
        if begins {
            self.window = true;
            self.window_starting = true;
            self.window_line = self.window_next;
            self.window_next = self.window_next.wrapping_add(1);
            self.window_column = 0;
            self.bg_len = 0;
            self.step = 0;
        }
        if before_scroll {
            // The window scrolls too, but by seven pixels only six of it.
            self.insert_pixel = fine == 7;
        }
        before_scroll
    }

    /// Whether the screen's first pixel is next.
    pub(super) fn at_first_pixel(&self) -> bool {
        self.position == 0
    }

    fn pop(&mut self, m: &Memory<'_>) -> Option<(u8, u8)> {
        if self.bg_len == 0 {
            return None;
        }
        let bg = if self.insert_pixel {
            self.insert_pixel = false;
            0
        } else {
            let bg = (self.bg_lo >> 7) | (self.bg_hi >> 7) << 1;
            self.bg_lo <<= 1;
            self.bg_hi <<= 1;
            self.bg_len -= 1;
            bg
        };
        if self.position < -8 {
            let fine = m.regs.scx & 7;
            let at = (self.position & 7) as u8;
            if at == fine {
                self.position = -8;
            } else if self.position == -9 {
                self.position = START;
                return None;
            }
        }
        self.window_starting = false;
        let obj = (self.obj_lo >> 7) | (self.obj_hi >> 7) << 1;
        let (second, behind) = (self.obj_second >> 7, self.obj_behind & 0x80 != 0);
        let palette = second | self.obj_palette[0] >> 7 << 1 | self.obj_palette[1] >> 7 << 2;
        self.obj_lo <<= 1;
        self.obj_hi <<= 1;
        self.obj_second <<= 1;
        self.obj_behind <<= 1;
        self.obj_palette = self.obj_palette.map(|plane| plane << 1);
        self.obj_owner <<= 8;
        let on_screen = (0..160).contains(&self.position);
        self.position += 1;
        if !on_screen || self.lcd_x >= 160 {
            return None;
        }
        let x = self.lcd_x;
        self.lcd_x += 1;
        let bg_on = m.regs.lcdc & lcdc::BG_ON != 0;
        let obj = if m.regs.lcdc & lcdc::OBJ_ON == 0 { 0 } else { obj };
        if let Some(color) = m.color {
            let bg = if color.compatible && !bg_on { 0 } else { bg };
            let priority = self.bg_attr | u8::from(behind) << 7;
            let sprite = obj != 0 && color::sprite_wins(bg_on, bg, priority);
            let index = if sprite {
                color::OBJECTS | palette << 2 | obj
            } else {
                (self.bg_attr & 7) << 2 | bg
            };
            return Some((index, x));
        }
        let bg = if bg_on { bg } else { 0 };
        let shade = if obj != 0 && !(behind && bg != 0) {
            m.regs.obp[usize::from(second)] >> (2 * obj) & 3
        } else {
            m.regs.bgp >> (2 * bg) & 3
        };
        Some((shade, x))
    }

    /// Advances the background fetcher by one dot.
    fn fetch(&mut self, m: &Memory<'_>) {
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
}
