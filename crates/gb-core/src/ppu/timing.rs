//! When things happen: the phases of a line, LY = LYC, and the STAT interrupt.

use super::{
    signal, IrqMode, Phase, Ppu, DRAW_DOT, FRAME, HBLANK_ENABLE, LAST_PIXEL_DOTS, LINE, LINES,
    LYC_ENABLE, OAM_ENABLE, OAM_SCAN_DOT, VBLANK_ENABLE,
};
use crate::NEVER;

/// Mode 0 shows in STAT, and VRAM and OAM are free, one dot after its interrupt.
pub(super) const HBLANK_SHOWS_DOTS: u64 = 1;

impl Ppu {
    /// Catches up with the clock.
    #[inline]
    pub fn sync(&mut self, clock: u64) {
        if self.reference.on {
            self.sync_reference(clock);
            return;
        }
        while self.phase_at <= clock {
            self.step(clock);
        }
    }

    /// When STAT or LY may next change if nothing is written.
    pub fn next_change(&self) -> u64 {
        self.phase_at
    }

    pub(super) fn schedule(&mut self, phase: Phase, dot: u64) {
        self.phase = phase;
        self.phase_at = self.line_start + dot;
    }

    pub(super) fn step(&mut self, clock: u64) {
        match self.phase {
            Phase::LineStart => self.line_starts(clock),
            Phase::OamScan => {
                self.mode = 2;
                self.set_compared(Some(self.line));
                self.irq_mode = IrqMode::OamScan;
                self.update_stat_line();
                self.irq_mode = IrqMode::None;
                self.update_stat_line();
                self.arm_window();
                self.schedule(Phase::Draw, DRAW_DOT);
            }
            Phase::Draw => {
                self.mode = 3;
                self.irq_mode = IrqMode::None;
                self.update_stat_line();
                self.phase = Phase::HBlankIrq;
                if self.always_fifo || (self.intricate() && self.window_at().is_some()) {
                    self.start_fifo();
                    self.predict_hblank();
                } else {
                    self.phase_at += self.draw_dots();
                }
            }
            Phase::HBlankIrq => {
                self.irq_mode = IrqMode::HBlank;
                self.update_stat_line();
                self.phase = Phase::HBlank;
                self.phase_at += HBLANK_SHOWS_DOTS;
            }
            Phase::HBlank => {
                self.mode = 0;
                self.hblank_at = self.phase_at;
                self.report_hblank();
                if self.fifo_at == NEVER {
                    self.draw_line();
                    self.schedule(Phase::LineStart, LINE);
                } else {
                    self.phase = Phase::LastPixel;
                    self.phase_at += LAST_PIXEL_DOTS;
                }
            }
            Phase::LastPixel => {
                self.finish_fifo();
                self.schedule(Phase::LineStart, LINE);
            }
            Phase::VBlankCompare => {
                if self.line == 144 {
                    // The OAM source fires here too.
                    self.irq_mode = IrqMode::OamScan;
                    self.update_stat_line();
                    self.mode = 1;
                    self.irq_mode = IrqMode::VBlank;
                    self.signals |= signal::VBLANK | signal::FRAME;
                    self.window_armed = false;
                    self.window_line = 0;
                }
                self.set_compared(Some(self.line));
                self.update_stat_line();
                if self.line == 153 {
                    self.ly = 0;
                    self.schedule(Phase::LastLineGap, 8);
                } else {
                    self.schedule(Phase::LineStart, LINE);
                }
            }
            Phase::LastLineGap => {
                self.set_compared(None);
                self.update_stat_line();
                self.schedule(Phase::LastLineZero, 12);
            }
            Phase::LastLineZero => {
                self.set_compared(Some(0));
                self.update_stat_line();
                self.schedule(Phase::LineStart, LINE);
            }
        }
    }

    pub(super) fn report_hblank(&mut self) {
        if self.watch_hblank {
            self.signals |= signal::HBLANK;
        }
    }

    pub(super) fn line_starts(&mut self, clock: u64) {
        self.hblank_at = 0;
        let at = self.phase_at;
        self.line_start = at;
        self.line += 1;
        if self.line == 154 {
            self.line = 0;
            self.first_frame = false;
            self.signals |= signal::TOP;
        }
        self.skip_lines(clock);
        self.ly = self.line;
        if self.line < 144 {
            self.mode = 0;
            if self.line == 0 {
                self.set_compared(Some(0));
                self.irq_mode = IrqMode::None;
            } else {
                self.set_compared(None);
                self.irq_mode = IrqMode::OamScan;
            }
            self.update_stat_line();
            self.schedule(Phase::OamScan, OAM_SCAN_DOT);
        } else {
            self.set_compared(None);
            if self.line == 144 && self.color.is_some() {
                // On the Color, the OAM source comes an M-cycle before V-blank.
                self.irq_mode = IrqMode::OamScan;
            }
            self.update_stat_line();
            self.schedule(Phase::VBlankCompare, 4);
        }
    }

    /// Passes whole lines that nobody watches in one go, from the start of `self.line` on; draws them
    /// if a picture is wanted.
    pub(super) fn skip_lines(&mut self, clock: u64) {
        let visible = self.line < 144;
        let watched = self.always_fifo
            || self.watch_hblank
            || self.intricate()
            || self.enables & (HBLANK_ENABLE | OAM_ENABLE) != 0;
        if visible && watched {
            return;
        }
        // The line that LYC names is stepped through, since its edges matter; so is the line after
        // it, where the comparison ends.
        let mut end = if visible { 144 } else { 153 };
        if self.line == 144 || self.line == 0 {
            return;
        }
        if self.line <= self.lyc && self.lyc < end {
            end = self.lyc;
        }
        let n = ((clock - self.line_start) / LINE).min(u64::from(end.saturating_sub(self.line)));
        if n == 0 {
            return;
        }
        let end = self.line + n as u8;
        if visible {
            self.irq_mode = IrqMode::HBlank;
            if self.rendering {
                while self.line < end {
                    self.arm_window();
                    self.draw_line();
                    self.line += 1;
                }
            } else {
                self.skip_window_lines(end);
            }
        }
        self.line = end;
        self.line_start += n * LINE;
        self.compared = self.line - 1;
        self.set_compared(Some(self.compared));
        self.update_stat_line();
    }

    pub(super) fn set_compared(&mut self, value: Option<u8>) {
        self.comparable = value.is_some();
        if let Some(v) = value {
            self.compared = v;
        }
        self.compare();
    }

    pub(super) fn compare(&mut self) {
        self.lyc_flag = self.comparable && self.compared == self.lyc;
        if self.comparable {
            self.lyc_line = self.lyc_flag;
        }
    }

    pub(super) fn stat_level(&self, enables: u8) -> bool {
        (match self.irq_mode {
            IrqMode::HBlank => enables & HBLANK_ENABLE != 0,
            IrqMode::VBlank => enables & VBLANK_ENABLE != 0,
            IrqMode::OamScan => enables & OAM_ENABLE != 0,
            IrqMode::None => false,
        }) || (self.lyc_line && enables & LYC_ENABLE != 0)
    }

    pub(super) fn update_stat_line(&mut self) {
        let level = self.stat_level(self.enables);
        if level && !self.stat_line {
            self.signals |= signal::STAT;
        }
        self.stat_line = level;
    }

    /// The next clock at which an interrupt may be requested, or earlier; call after
    /// [`sync`](Self::sync).
    pub fn next_event(&self) -> u64 {
        if self.phase_at == NEVER {
            return NEVER;
        }
        if self.reference.on {
            return self.next_reference_event();
        }
        // V-blank, of this frame or the next.
        let past = self.line > 144 || (self.line == 144 && self.phase != Phase::VBlankCompare);
        let lines = if past { 144 + LINES } else { 144 } - u64::from(self.line);
        let mut at = self.line_start + lines * LINE + 4;
        let past_top = self.line_start + (LINES - u64::from(self.line)) * LINE;
        if self.enables & (HBLANK_ENABLE | OAM_ENABLE) != 0 || self.watch_hblank {
            if self.line < 144 {
                return self.phase_at;
            }
            at = at.min(past_top);
        }
        if self.enables & LYC_ENABLE != 0 && self.lyc < 154 {
            at = at.min(self.next_comparison());
        }
        at
    }

    /// The next clock at which LY begins to equal LYC.
    pub(super) fn next_comparison(&self) -> u64 {
        // LY = 0 is first compared in the last line.
        let (line, dot) = match self.lyc {
            0 => (153, 12),
            lyc => (lyc, 4),
        };
        if self.line == line
            && !matches!(self.phase, Phase::LineStart | Phase::HBlank | Phase::LastPixel)
        {
            return self.phase_at;
        }
        let ahead = (u64::from(line) + LINES - u64::from(self.line)) % LINES;
        self.line_start + if ahead == 0 { FRAME } else { ahead * LINE } + dot
    }
}
