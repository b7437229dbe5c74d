//! The whole-line renderer: 64 pixels at a time, as bit planes.

use super::{
    lcdc,
    oam::{row_address, Found},
    Ppu,
};
use crate::screen::PLANE;

/// WX of a window that begins in the screen's first column.
const FIRST_COLUMN_WX: u8 = 7;

/// 192 pixels of one bit each, the leftmost in the most significant bit of the first word.
type Row = [u64; 3];

/// One colour index (0–3) a pixel.
#[derive(Clone, Copy, Default)]
struct Pixels {
    lo: Row,
    hi: Row,
}

fn map(a: Row, f: impl Fn(u64) -> u64) -> Row {
    [f(a[0]), f(a[1]), f(a[2])]
}

fn zip(a: Row, b: Row, f: impl Fn(u64, u64) -> u64) -> Row {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2])]
}

/// Moves pixels to the left by fewer than 64.
fn left(a: Row, n: u32) -> Row {
    if n == 0 {
        return a;
    }
    let m = 64 - n;
    [a[0] << n | a[1] >> m, a[1] << n | a[2] >> m, a[2] << n]
}

/// Moves pixels to the right by fewer than 192; zeros come in.
fn right(a: Row, n: u32) -> Row {
    let [a, b, c] = match n / 64 {
        0 => a,
        1 => [0, a[0], a[1]],
        _ => [0, 0, a[0]],
    };
    let n = n % 64;
    if n == 0 {
        return [a, b, c];
    }
    let m = 64 - n;
    [a >> n, b >> n | a << m, c >> n | b << m]
}

/// Maps colour indices through a palette register.
fn shade(px: Pixels, palette: u8) -> Pixels {
    let bit = |i: u32| u64::from(palette >> i & 1).wrapping_neg();
    let plane = |which: u32| {
        let (c0, c1, c2, c3) = (bit(which), bit(which + 2), bit(which + 4), bit(which + 6));
        zip(px.lo, px.hi, |lo, hi| {
            let low = (c0 & !lo) | (c1 & lo);
            let high = (c2 & !lo) | (c3 & lo);
            (low & !hi) | (high & hi)
        })
    };
    Pixels { lo: plane(0), hi: plane(1) }
}

/// Takes `b` where the mask is set and `a` elsewhere.
fn select(mask: Row, a: Pixels, b: Pixels) -> Pixels {
    let mux = |a: Row, b: Row| {
        [
            a[0] ^ ((a[0] ^ b[0]) & mask[0]),
            a[1] ^ ((a[1] ^ b[1]) & mask[1]),
            a[2] ^ ((a[2] ^ b[2]) & mask[2]),
        ]
    };
    Pixels { lo: mux(a.lo, b.lo), hi: mux(a.hi, b.hi) }
}

/// The sprites of a line, merged by priority.
#[derive(Default)]
struct Sprites {
    px: Pixels,
    /// Where a sprite is not transparent.
    opaque: Row,
    /// Where the sprite uses OBP1.
    second_palette: Row,
    /// Where the sprite stands behind background colours 1–3.
    behind: Row,
}

impl Ppu {
    /// `count` tiles of a line of a tile map, from tile column `column` on.
    #[inline(always)]
    fn tiles(&self, map_base: usize, y: u8, column: usize, count: usize) -> Pixels {
        let map_row = map_base + usize::from(y / 8) * 32;
        // With LCDC.4 clear, tile numbers are signed and count from 0x1000.
        let (flip, base) =
            if self.regs.lcdc & lcdc::TILES_LOW == 0 { (0x80, 0x800) } else { (0, 0) };
        let fine = base + 2 * usize::from(y % 8);
        let mut px = Pixels::default();
        for word in 0..3 {
            for i in 8 * word..8 * word + 8 {
                let (mut lo, mut hi) = (0, 0);
                if i < count {
                    let tile = self.vram[(map_row + (column + i) % 32) & 0x1FFF] ^ flip;
                    let row = (fine + 16 * usize::from(tile)) & 0x1FFE;
                    lo = self.vram[row];
                    hi = self.vram[row + 1];
                }
                px.lo[word] = px.lo[word] << 8 | u64::from(lo);
                px.hi[word] = px.hi[word] << 8 | u64::from(hi);
            }
        }
        px
    }

    fn background(&self, line: u8) -> Pixels {
        let map_base = if self.regs.lcdc & lcdc::BG_MAP == 0 { 0x1800 } else { 0x1C00 };
        let px = self.tiles(
            map_base,
            line.wrapping_add(self.regs.scy),
            usize::from(self.regs.scx / 8),
            21,
        );
        let fine = u32::from(self.regs.scx % 8);
        let px = Pixels { lo: left(px.lo, fine), hi: left(px.hi, fine) };
        let Some(wx) = self.slip_at() else { return px };
        let at = u32::from(wx - FIRST_COLUMN_WX);
        let behind = right([!0; 3], at + 1);
        let slip = |row: Row| zip(right(row, 1), behind, |row, behind| row & behind);
        let before = right([!0; 3], at).map(|mask| !mask);
        let keep = |row: Row| zip(row, before, |row, before| row & before);
        let join = |row: Row| zip(keep(row), slip(row), |a, b| a | b);
        Pixels { lo: join(px.lo), hi: join(px.hi) }
    }

    /// Lays the window's line `y` over the background.
    fn window(&self, under: Pixels, y: u8) -> Pixels {
        let map_base = if self.regs.lcdc & lcdc::WINDOW_MAP == 0 { 0x1800 } else { 0x1C00 };
        let start = u32::from(self.regs.wx.saturating_sub(7));
        let px = self.tiles(map_base, y, 0, (160 - start as usize) / 8 + 2);
        let clipped = u32::from(7u8.saturating_sub(self.regs.wx));
        let place = |row: Row| right(left(row, clipped), start);
        select(right([!0; 3], start), under, Pixels { lo: place(px.lo), hi: place(px.hi) })
    }

    /// The sprites of a line; those behind the background leave `covered` pixels (eight to the right)
    /// to others.
    fn sprites(&self, line: u8, found: Found, covered: Row) -> Sprites {
        // Smaller X wins, then the earlier entry.
        let mut order = found.index;
        let order = &mut order[..found.n];
        order.sort_by_key(|&i| self.oam[4 * usize::from(i) + 1]);
        let mut s = Sprites::default();
        let tall = self.regs.lcdc & lcdc::OBJ_TALL != 0;
        for &i in order.iter() {
            let i = 4 * usize::from(i);
            let (x, attr) = (self.oam[i + 1], self.oam[i + 3]);
            if x >= 168 {
                continue;
            }
            let at = row_address(&self.oam, i, line, tall) & 0x1FFE;
            let mut lo = self.vram[at];
            let mut hi = self.vram[(at + 1) & 0x1FFF];
            if attr & 0x20 != 0 {
                lo = lo.reverse_bits();
                hi = hi.reverse_bits();
            }
            // Rows here begin eight pixels left of the screen, so that X is the position; a sprite
            // can reach into the next word.
            let (word, bit) = (usize::from(x / 64), u32::from(x % 64));
            let (wide_lo, wide_hi) = (u128::from(lo) << 120 >> bit, u128::from(hi) << 120 >> bit);
            for (word, half) in [(word, 64), (word + 1, 0)] {
                let (lo, hi) = ((wide_lo >> half) as u64, (wide_hi >> half) as u64);
                if word > 2 || lo | hi == 0 {
                    continue;
                }
                let mut new = (lo | hi) & !s.opaque[word];
                if attr & 0x80 != 0 {
                    new &= !covered[word];
                }
                s.opaque[word] |= new;
                s.px.lo[word] |= lo & new;
                s.px.hi[word] |= hi & new;
                if attr & 0x10 != 0 {
                    s.second_palette[word] |= new;
                }
                if attr & 0x80 != 0 {
                    s.behind[word] |= new;
                }
            }
        }
        let unshift = |row: Row| left(row, 8);
        Sprites {
            px: Pixels { lo: unshift(s.px.lo), hi: unshift(s.px.hi) },
            opaque: unshift(s.opaque),
            second_palette: unshift(s.second_palette),
            behind: unshift(s.behind),
        }
    }

    /// Renders `line` with the registers, VRAM and OAM of this moment. `window_line` is the line of
    /// the window to lay over it, if it shows.
    pub(super) fn render_line(&mut self, line: u8, window_line: Option<u8>) {
        if self.color.is_some() {
            self.render_color_line(line, window_line);
            return;
        }
        // The hardware shows colour 0 where LCDC.0 is clear, the reference nevertheless the window
        // and the background left of it.
        let shows = self.regs.lcdc & lcdc::BG_ON != 0 || self.reference.on && window_line.is_some();
        let bg = match window_line {
            _ if !shows => Pixels::default(),
            Some(y) => self.window(self.background(line), y),
            None => self.background(line),
        };
        let mut out = shade(bg, self.regs.bgp);
        if self.regs.lcdc & lcdc::OBJ_ON != 0 {
            let found = self.table.on_line(line, &self.oam, self.regs.lcdc);
            if found.n > 0 {
                let mut bg_shows = zip(bg.lo, bg.hi, |lo, hi| lo | hi);
                let mut covered = [0; 3];
                if self.reference.on {
                    // There a sprite behind the background lets a lesser one show, and nothing
                    // counts as colour 0 where LCDC.0 is clear.
                    bg_shows = if shows { bg_shows } else { [!0; 3] };
                    covered = right(bg_shows, 8);
                }
                let s = self.sprites(line, found, covered);
                let hidden = zip(s.behind, bg_shows, |b, shows| b & shows);
                let visible = zip(s.opaque, hidden, |o, h| o & !h);
                let obj = select(
                    s.second_palette,
                    shade(s.px, self.regs.obp[0]),
                    shade(s.px, self.regs.obp[1]),
                );
                out = select(visible, out, obj);
            }
        }
        let Some(planes) = &mut self.planes else { return };
        let row = &mut planes[usize::from(line) % 144];
        let bytes = |plane: Row| map(plane, u64::to_be);
        for (plane, half) in [bytes(out.lo), bytes(out.hi)].iter().zip(row.chunks_exact_mut(PLANE))
        {
            half[..8].copy_from_slice(&plane[0].to_ne_bytes());
            half[8..16].copy_from_slice(&plane[1].to_ne_bytes());
            half[16..].copy_from_slice(&plane[2].to_ne_bytes()[..4]);
        }
    }
}

/// Puts one pixel into a line.
pub(super) fn put_pixel(row: &mut [u8; 2 * PLANE], x: u8, shade: u8) {
    let (byte, bit) = (usize::from(x / 8).min(PLANE - 1), 0x80 >> (x % 8));
    for (byte, shade) in [(byte, shade), (byte + PLANE, shade >> 1)] {
        row[byte] = if shade & 1 == 0 { row[byte] & !bit } else { row[byte] | bit };
    }
}
