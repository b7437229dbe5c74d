//! When things happen: the phases of a line, LY = LYC, and the STAT interrupt.
//!
//! Source: mooneye `acceptance/ppu`; the exact dots and the order of events within an M-cycle are
//! `DocBoy`'s (MIT), whose tests `ppu`, `interrupts` and `stat_write_bug` check them.

use super::{
    signal, IrqMode, Phase, Ppu, COMPARE_DOT, DRAW_DOT, FRAME, HBLANK_ENABLE, LAST_PIXEL_DOTS,
    LINE, LINES, LYC_ENABLE, MODE_3_DOT, OAM_ENABLE, VBLANK_ENABLE,
};
use crate::NEVER;

/// Dot of line 153 from which its LY cannot be compared any more.
const LAST_LINE_GAP_DOT: u64 = 5;
/// Dot of line 153 from which LY = 0 is compared.
const LAST_LINE_ZERO_DOT: u64 = 10;
/// On the Color, the OAM source comes so long before line 144, an M-cycle before V-blank.
const COLOR_OAM_EARLY_DOTS: u64 = 2;
/// Mode 0 begins so much later in the first line after the LCD was switched on.
pub(super) const FIRST_LINE_DOTS: u64 = 2;

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

    /// When [`sync`](Self::sync) next does anything; not known in the reference.
    pub fn quiet_until(&self) -> Option<u64> {
        (!self.reference.on).then_some(self.phase_at)
    }

    pub(super) fn schedule(&mut self, phase: Phase, dot: u64) {
        self.phase = phase;
        self.phase_at = self.line_start + dot;
    }

    pub(super) fn step(&mut self, clock: u64) {
        match self.phase {
            Phase::LineStart if self.phase_at < self.line_start + LINE => {
                if self.enables & OAM_ENABLE != 0 && !self.stat_line {
                    self.signals |= signal::STAT;
                }
                self.schedule(Phase::LineStart, LINE);
            }
            Phase::LineStart => self.line_starts(clock),
            Phase::OamScan => {
                self.mode = 2;
                self.irq_mode = IrqMode::None;
                self.set_compared(Some(self.line));
                if self.line == 0 {
                    self.request_for_oam_scan();
                }
                self.update_stat_line();
                self.arm_window();
                self.schedule(Phase::Draw, MODE_3_DOT);
            }
            Phase::Draw => {
                self.mode = 3;
                self.irq_mode = IrqMode::None;
                self.update_stat_line();
                self.phase = Phase::HBlank;
                if self.always_fifo || (self.intricate() && self.window_at().is_some()) {
                    self.start_fifo();
                    self.predict_hblank();
                } else {
                    let dots = self.draw_dots();
                    self.schedule_hblank(self.line_start + DRAW_DOT + dots);
                }
            }
            Phase::HBlank => {
                self.mode = 0;
                self.hblank_at = self.phase_at;
                self.irq_mode = IrqMode::HBlank;
                let before = self.stat_line;
                self.stat_line = self.stat_level(self.enables);
                self.report_hblank();
                if self.fifo_at == NEVER {
                    self.draw_line();
                }
                if self.stat_line && !before {
                    self.phase = Phase::HBlankIrq;
                    self.phase_at += 1;
                } else {
                    self.finish_hblank();
                }
            }
            Phase::HBlankIrq => {
                self.signals |= signal::STAT;
                self.finish_hblank();
            }
            Phase::LastPixel => {
                self.finish_fifo();
                self.await_next_line();
            }
            Phase::VBlankCompare => {
                if self.line == 144 {
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
                    self.schedule(Phase::LastLineGap, LAST_LINE_GAP_DOT);
                } else {
                    self.schedule(Phase::LineStart, LINE);
                }
            }
            Phase::LastLineGap => {
                self.set_compared(None);
                self.update_stat_line();
                self.schedule(Phase::LastLineZero, LAST_LINE_ZERO_DOT);
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
        match self.line {
            0 => {
                self.mode = 0;
                self.irq_mode = IrqMode::None;
                self.set_compared(Some(0));
            }
            1..=144 => {
                if self.color.is_none() {
                    self.request_for_oam_scan();
                } else if self.line < 144 {
                    // A level there, which lasts until mode 2 begins.
                    self.irq_mode = IrqMode::OamScan;
                }
                self.set_compared(None);
            }
            _ => self.set_compared(None),
        }
        self.update_stat_line();
        let next = if self.line < 144 { Phase::OamScan } else { Phase::VBlankCompare };
        self.schedule(next, COMPARE_DOT);
    }

    /// The OAM source is looked at only at this moment, where line 144 begins too. The comparison of
    /// the line before still counts, and where the new line is the one that LYC names, the edge
    /// detector starts anew.
    ///
    /// Source: `DocBoy`'s tests `ppu/hblank_to_oam_clear_last_stat_irq*`.
    fn request_for_oam_scan(&mut self) {
        let compared = self.lyc_line && self.enables & LYC_ENABLE != 0;
        let level = self.enables & OAM_ENABLE != 0 || compared;
        if level && !self.stat_line {
            self.signals |= signal::STAT;
        }
        let names_next = u16::from(self.lyc) == u16::from(self.compared) + 1;
        if self.line < 144 && names_next && self.enables & LYC_ENABLE != 0 {
            self.stat_line = level;
        }
    }

    /// Mode 0 will begin so that `at` is where a pipeline without delays would end.
    pub(super) fn schedule_hblank(&mut self, at: u64) {
        self.phase_at = at + 1;
        if self.first_frame && self.line == 0 {
            self.phase_at += FIRST_LINE_DOTS;
        }
    }

    /// The next thing is the next line, or on the Color, before V-blank, its OAM source.
    ///
    /// Source: mooneye `misc/ppu/vblank_stat_intr-C`.
    fn await_next_line(&mut self) {
        let early = u64::from(self.line == 143 && self.color.is_some()) * COLOR_OAM_EARLY_DOTS;
        self.schedule(Phase::LineStart, LINE - early);
    }

    fn finish_hblank(&mut self) {
        if self.fifo_at == NEVER {
            self.await_next_line();
        } else {
            self.phase = Phase::LastPixel;
            self.phase_at = self.hblank_at + LAST_PIXEL_DOTS;
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
            // The OAM source counts in mode 1 too.
            IrqMode::VBlank if !self.reference.on => enables & (VBLANK_ENABLE | OAM_ENABLE) != 0,
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
        let mut at = self.line_start + lines * LINE + COMPARE_DOT;
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
            0 => (153, LAST_LINE_ZERO_DOT),
            lyc => (lyc, COMPARE_DOT),
        };
        let before = matches!(
            self.phase,
            Phase::OamScan | Phase::VBlankCompare | Phase::LastLineGap | Phase::LastLineZero
        );
        if self.line == line && before {
            return self.phase_at;
        }
        let ahead = (u64::from(line) + LINES - u64::from(self.line)) % LINES;
        self.line_start + if ahead == 0 { FRAME } else { ahead * LINE } + dot
    }
}
