//! Which sprites stand on which line, and what they cost.

use super::lcdc;

/// Address in VRAM of the row of a sprite that crosses `line`; `entry` is where the sprite begins
/// in OAM.
pub(super) fn row_address(oam: &[u8; 160], entry: usize, line: u8, tall: bool) -> usize {
    let (y, tile, attr) = (oam[entry], oam[entry + 2], oam[entry + 3]);
    let mask = if tall { 15 } else { 7 };
    let mut row = line.wrapping_sub(y) & mask;
    if attr & 0x40 != 0 {
        row ^= mask;
    }
    let tile = if tall { tile & 0xFE } else { tile };
    16 * usize::from(tile) + 2 * usize::from(row)
}

/// Sprites on one line at most.
pub(super) const PER_LINE: usize = 10;

/// For each line the set of OAM entries that cover it, as a bit mask (bit i = entry i).
///
/// Derived from OAM and the sprite size; rebuilt when one of them changed. Scanning forty entries
/// on each of 144 lines would cost more than all else the line renderer does.
#[derive(Clone, Debug)]
pub(super) struct LineTable {
    lines: [u64; 144],
    stale: bool,
}

impl LineTable {
    pub(super) fn new() -> Self {
        Self { lines: [0; 144], stale: true }
    }

    pub(super) fn invalidate(&mut self) {
        self.stale = true;
    }

    fn rebuild(&mut self, oam: &[u8; 160], tall: bool) {
        self.lines = [0; 144];
        let height = if tall { 16 } else { 8 };
        for (i, entry) in oam.chunks_exact(4).enumerate() {
            let bottom = (usize::from(entry[0]) + height).saturating_sub(16).min(144);
            let top = usize::from(entry[0]).saturating_sub(16).min(bottom);
            for line in &mut self.lines[top..bottom] {
                *line |= 1 << i;
            }
        }
        self.stale = false;
    }

    /// The first ten entries of OAM that cover `line`, in OAM order.
    pub(super) fn on_line(&mut self, line: u8, oam: &[u8; 160], lcdc: u8) -> Found {
        if self.stale {
            self.rebuild(oam, lcdc & lcdc::OBJ_TALL != 0);
        }
        let mut mask = self.lines.get(usize::from(line)).copied().unwrap_or(0);
        let mut found = Found { index: [0; PER_LINE], n: 0 };
        while mask != 0 && found.n < PER_LINE {
            found.index[found.n] = mask.trailing_zeros() as u8;
            found.n += 1;
            mask &= mask - 1;
        }
        found
    }
}

/// The result of a line's OAM scan.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) index: [u8; PER_LINE],
    pub(super) n: usize,
}

impl Found {
    pub(super) fn entries(&self) -> &[u8] {
        &self.index[..self.n]
    }

    /// How many dots fetching the sprites adds to mode 3.
    ///
    /// Each sprite stops the pixel pipeline for six dots; the first one over a background tile also
    /// waits until that tile's fetch is done, up to five dots. A sprite at X = 0 waits five
    /// and the fine scroll.
    ///
    /// Source: mooneye `acceptance/ppu/intr_2_mode0_timing_sprites`, Pan Docs "OBJ penalty
    /// algorithm".
    ///
    /// `window` is WX where the window shows; sprites over it count its tiles. `slip` is WX where a
    /// pixel is slipped into the background; tiles right of it begin a pixel later.
    pub(super) fn penalty(
        &self,
        oam: &[u8; 160],
        scx: u8,
        window: Option<u8>,
        slip: Option<u8>,
    ) -> u64 {
        let mut xs = [0u8; PER_LINE];
        let mut n = 0;
        for &i in self.entries() {
            let x = oam[4 * usize::from(i) + 1];
            if x < 168 {
                xs[n] = x;
                n += 1;
            }
        }
        let xs = &mut xs[..n];
        xs.sort_unstable();
        let mut dots = 0;
        let mut last_tile = None;
        for &x in xs.iter() {
            dots += 6;
            let (at, tile) = match window {
                Some(wx) if x > wx => (x - wx - 1, 32 + (x - wx - 1) / 8),
                _ => {
                    let at = x + (scx & 7) - u8::from(slip.is_some_and(|wx| x > wx + 1));
                    (at, at / 8)
                }
            };
            if last_tile != Some(tile) {
                last_tile = Some(tile);
                dots += if x == 0 {
                    5 + u64::from(scx & 7)
                } else {
                    5u64.saturating_sub(u64::from(at % 8))
                };
            }
        }
        dots
    }
}
