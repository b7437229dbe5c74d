//! How a line comes to the picture: where the window shows, how long drawing takes, and which of the
//! two renderers does it.

use super::{
    color::Color,
    fifo::{Fifo, Memory, FIRST_SLIP_WX},
    lcdc, render, Phase, Ppu, Registers, DRAW_DOT, LAST_PIXEL_DOTS, LAST_WX, LAST_WX_COLOR,
};
use crate::NEVER;

/// From [`DRAW_DOT`] to the last dot of mode 3, without any penalty.
const DRAW_DOTS: u64 = 168;
/// What a window adds to that.
const WINDOW_DOTS: u64 = 6;
/// The pipeline's first dot comes so long after mode 3 has begun, as writes meet it.
const FIFO_LAG: u64 = 1;

impl Ppu {
    /// What drawing lines `self.line..end` would do to the window's line counter.
    pub(super) fn skip_window_lines(&mut self, end: u8) {
        if self.regs.lcdc & lcdc::WINDOW_ON == 0 {
            return;
        }
        let first = if self.window_armed {
            self.line
        } else if (self.line..end).contains(&self.wy) {
            self.wy
        } else {
            return;
        };
        self.window_armed = true;
        if self.regs.wx <= 166 {
            self.window_line = self.window_line.wrapping_add(end - first);
        }
    }

    pub(super) fn arm_window(&mut self) {
        if self.regs.lcdc & lcdc::WINDOW_ON != 0 && self.wy == self.line {
            self.window_armed = true;
        }
    }

    /// Whether the current line uses up a line of the window.
    pub(super) fn window_counts(&self) -> bool {
        self.regs.lcdc & lcdc::WINDOW_ON != 0 && self.window_armed && self.regs.wx <= 166
    }

    /// WX if the window shows on the current line.
    pub(super) fn window_at(&self) -> Option<u8> {
        (self.window_counts() && self.regs.wx <= self.last_wx()).then_some(self.regs.wx)
    }

    /// The rightmost WX at which the window shows.
    pub(super) fn last_wx(&self) -> u8 {
        if self.reference.on || self.color.is_some() {
            LAST_WX_COLOR
        } else {
            LAST_WX
        }
    }

    /// Whether a window on this line would need the pipeline: with WX = 0 it is the fine scroll that
    /// decides where the window begins.
    pub(super) fn intricate(&self) -> bool {
        let Registers { lcdc, wx, scx, .. } = self.regs;
        wx == 0 && scx & 7 != 0 && lcdc & lcdc::WINDOW_ON != 0
    }

    /// WX if a window that was switched off after it was met slips a pixel of colour 0 into the
    /// background, which happens where WX meets the start of a tile.
    ///
    /// Source: `DocBoy`'s tests `ppu/visual/window_retrigger_pixel_glitch*`.
    pub(super) fn slip_at(&self) -> Option<u8> {
        let Registers { lcdc, wx, scx, .. } = self.regs;
        let real = !self.reference.on && self.color.is_none();
        let met = real && self.window_armed && lcdc & lcdc::WINDOW_ON == 0;
        let at_tile = wx.wrapping_add(scx) & 7 == 7;
        (met && at_tile && (FIRST_SLIP_WX..=LAST_WX + 1).contains(&wx)).then_some(wx)
    }

    /// Length of mode 3 on the current line.
    pub(super) fn draw_dots(&mut self) -> u64 {
        let fine = self.regs.scx & 7;
        let mut dots = DRAW_DOTS + u64::from(fine);
        let window = self.window_at();
        if let Some(wx) = window {
            dots += WINDOW_DOTS + u64::from(wx == 0 && fine != 0);
        }
        // The Color fetches sprites even where they are off.
        if self.regs.lcdc & lcdc::OBJ_ON != 0 || self.color.is_some() {
            let found = self.table.on_line(self.line, &self.oam, self.regs.lcdc);
            if found.n > 0 {
                dots += found.penalty(&self.oam, fine, window, self.slip_at());
            }
        }
        dots
    }

    pub(super) fn draw_line(&mut self) {
        let window = self.window_at().map(|_| self.window_line);
        if self.window_counts() {
            self.window_line = self.window_line.wrapping_add(1);
        }
        if self.rendering {
            self.render_line(self.line, window);
        }
    }

    /// Whether a line is being drawn. Its last pixels come a few dots after mode 0 has begun.
    pub fn drawing(&self, clock: u64) -> bool {
        match self.phase {
            _ if !self.lcd_on() => false,
            Phase::HBlank | Phase::LastPixel => true,
            Phase::HBlankIrq | Phase::LineStart => {
                self.line < 144 && clock < self.hblank_at + LAST_PIXEL_DOTS
            }
            _ => false,
        }
    }

    /// Mode 0 has begun: what is left of the line comes out with the memories of this moment.
    pub fn draw_rest(&mut self) {
        if self.fifo_at != NEVER && self.mode == 0 {
            self.run_fifo(NEVER);
        }
    }

    pub(super) fn finish_fifo(&mut self) {
        self.run_fifo(NEVER);
        self.fifo_at = NEVER;
        self.window_line = self.fifo.window_next();
        self.fifo = Fifo::idle();
    }

    /// Begins the current line's pipeline, which may lie in the past: nothing has changed since.
    pub(super) fn start_fifo(&mut self) {
        if matches!(self.phase, Phase::LineStart | Phase::HBlankIrq) {
            // The line was taken as finished; it is drawn again.
            self.window_line = self.window_line.wrapping_sub(u8::from(self.window_counts()));
        }
        if self.phase == Phase::LineStart {
            self.phase = Phase::LastPixel;
            self.phase_at = self.hblank_at + LAST_PIXEL_DOTS;
        }
        let found = self.table.on_line(self.line, &self.oam, self.regs.lcdc);
        self.fifo = Fifo::start(self.line, found, &self.oam, self.regs.scx, self.window_line);
        self.fifo_at = self.line_start + DRAW_DOT;
    }

    /// Runs the pipeline's dots before `clock`.
    pub(super) fn run_fifo(&mut self, clock: u64) {
        if let Some(color) = self.color.take() {
            self.color = Some(self.run_color_fifo(color, clock));
            return;
        }
        let memory = Memory {
            vram: &self.vram,
            oam: &self.oam,
            color: None,
            regs: self.regs,
            last_wx: self.last_wx(),
            window_armed: self.window_armed,
        };
        let planes = self.planes.as_deref_mut().filter(|_| self.rendering);
        let mut row = planes.map(|planes| &mut planes[usize::from(self.line) % 144]);
        while self.fifo_at < clock && !self.fifo.done() {
            if let (Some((shade, x)), Some(row)) = (self.fifo.dot(&memory), &mut row) {
                render::put_pixel(row, x, shade);
            }
            self.fifo_at += 1;
        }
    }

    /// As [`run_fifo`](Self::run_fifo), in colour.
    fn run_color_fifo(&mut self, mut color: Box<Color>, clock: u64) -> Box<Color> {
        let numbers = color.numbers(self.regs);
        let line = usize::from(self.line) % 144;
        if self.rendering && !self.fifo.done() {
            color.take_palettes(line);
        }
        let mut row = color.picture.pixels[line];
        let memory = Memory {
            vram: &self.vram,
            oam: &self.oam,
            color: Some(&color),
            regs: self.regs,
            last_wx: LAST_WX_COLOR,
            window_armed: self.window_armed,
        };
        while self.fifo_at < clock && !self.fifo.done() {
            if let Some((index, x)) = self.fifo.dot(&memory) {
                row[usize::from(x).min(159)] = numbers[usize::from(index & 0x3F)];
            }
            self.fifo_at += 1;
        }
        if self.rendering {
            color.picture.pixels[line] = row;
        }
        color
    }

    /// When the line would end if nothing more was written.
    pub(super) fn predict_hblank(&mut self) {
        let memory = Memory {
            vram: &self.vram,
            oam: &self.oam,
            color: self.color.as_deref(),
            regs: self.regs,
            last_wx: self.last_wx(),
            window_armed: self.window_armed,
        };
        let mut ahead = self.fifo.clone();
        let mut at = self.fifo_at;
        while !ahead.done() {
            ahead.dot(&memory);
            at += 1;
        }
        self.schedule_hblank(at);
    }

    /// A register is written while a line is drawn.
    pub(super) fn write_while_drawing(&mut self, addr: u16, v: u8, clock: u64) {
        if self.fifo_at == NEVER {
            self.start_fifo();
        }
        let clock = clock - FIFO_LAG;
        match self.color {
            None => self.write_dmg_pipeline(addr, v, clock),
            Some(_) => self.write_color_pipeline(addr, v, clock),
        }
        if self.mode == 3 {
            self.predict_hblank();
        }
    }

    /// The pipeline sees most registers a dot or two before the end of the M-cycle, and some as a mixture
    /// of old and new for one dot.
    ///
    /// Source: mealybug-tearoom-tests (`DMG-blob`).
    fn write_dmg_pipeline(&mut self, addr: u16, v: u8, clock: u64) {
        match addr {
            0xFF40 => {
                self.run_fifo(clock - 2);
                if self.fifo.at_first_pixel() {
                    // What is switched off misses the first pixel already.
                    self.regs.lcdc &= v | !(lcdc::OBJ_ON | lcdc::BG_ON);
                }
                self.run_fifo(clock - 1);
                if self.regs.lcdc & !v & lcdc::OBJ_ON != 0 {
                    self.fifo.abort_sprite();
                }
                if (self.regs.lcdc ^ v) & lcdc::OBJ_TALL != 0 {
                    self.table.invalidate();
                }
                self.regs.lcdc = v;
            }
            0xFF42 | 0xFF43 => {
                self.run_fifo(clock - 1);
                if addr == 0xFF42 {
                    self.regs.scy = v;
                } else {
                    self.regs.scx = v;
                }
            }
            0xFF47..=0xFF49 => {
                self.run_fifo(clock - 2);
                *self.palette(addr) |= v;
                self.run_fifo(clock - 1);
                *self.palette(addr) = v;
            }
            0xFF4A => {
                self.run_fifo(clock);
                self.wy = v;
                self.arm_window();
            }
            0xFF4B => {
                self.run_fifo(clock);
                self.regs.wx = v;
                self.fifo.wx_written();
            }
            _ => {}
        }
    }

    /// On the Color no register is a mixture for a while, and most are seen later.
    ///
    /// Source: mealybug-tearoom-tests (`CPU CGB C`, `CPU CGB D`); `SameBoy`'s table of access conflicts.
    fn write_color_pipeline(&mut self, addr: u16, v: u8, clock: u64) {
        match addr {
            0xFF40 => {
                self.run_fifo(clock);
                let moves = self.regs.lcdc & !v & lcdc::TILES_LOW != 0;
                self.regs.lcdc = v;
                if moves {
                    self.fifo.set_tiles_move(true);
                    self.run_fifo(clock + 1);
                    self.fifo.set_tiles_move(false);
                }
            }
            0xFF42 => {
                self.run_fifo(clock);
                self.regs.scy = v;
            }
            0xFF43 => {
                self.run_fifo(clock);
                self.regs.scx = v;
            }
            0xFF47..=0xFF49 => {
                let redesigned = self.color.as_ref().is_some_and(|c| c.revision.redesigned());
                self.run_fifo(clock - if redesigned { 2 } else { 1 });
                *self.palette(addr) = v;
            }
            0xFF4A => {
                self.run_fifo(clock);
                self.wy = v;
                self.arm_window();
            }
            0xFF4B => {
                self.run_fifo(clock + 1);
                self.regs.wx = v;
            }
            _ => {}
        }
    }

    pub(super) fn palette(&mut self, addr: u16) -> &mut u8 {
        match addr {
            0xFF47 => &mut self.regs.bgp,
            0xFF48 => &mut self.regs.obp[0],
            _ => &mut self.regs.obp[1],
        }
    }
}
