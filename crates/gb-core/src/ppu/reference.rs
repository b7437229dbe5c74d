//! The line timing of the reference emulator (`PyBoy` 2.8.1), for the profile that reproduces it.
//!
//! The same registers, memories and line renderer as the hardware's timing, but other moments:
//! a picture line is drawn at once when mode 3 ends, LY = 153 lasts a whole line, the first frame
//! after the LCD was switched on is a little early, and at most one thing happens each time the
//! PPU is brought up to date, so that a second one waits for the next instruction.
//!
//! Source: measured in lockstep; the table in `tests/oracle/PYBOY.md`.

use super::{lcdc, oam::Found, signal, IrqMode, Phase, Ppu, DRAW_DOT, LINE, OAM_ENABLE};

/// Dot at which mode 2 begins.
const OAM_SCAN_DOT: u64 = 4;
/// Length of mode 3 without scrolling or sprites.
const DRAW_DOTS: i64 = 172;

/// What only this timing has to remember.
#[derive(Clone, Debug, Default)]
pub(super) struct Reference {
    /// Whether this timing is in use.
    pub(super) on: bool,
    /// The clock at which the PPU was last brought up to date.
    synced: u64,
    /// LYC was written while the LCD was off.
    lyc_written: bool,
    /// The next read of STAT shows mode 0.
    hides_mode: bool,
    /// On the Color: V-blank's OAM source has fired before V-blank.
    vblank_stat_fired: bool,
}
crate::state_fields!(Reference { synced, lyc_written, hides_mode, vblank_stat_fired } skip { on });

impl Reference {
    pub(super) fn new(on: bool) -> Self {
        Self { on, ..Self::default() }
    }
}

impl Ppu {
    /// Lets at most one thing happen that is due, once per clock.
    pub(super) fn sync_reference(&mut self, clock: u64) {
        if self.reference.synced == clock {
            return;
        }
        self.reference.synced = clock;
        if self.vblank_stat_fires() && clock >= self.phase_at - OAM_SCAN_DOT {
            self.signals |= signal::STAT;
            self.reference.vblank_stat_fired = true;
        }
        if self.phase_at <= clock {
            self.step_reference();
        }
    }

    fn step_reference(&mut self) {
        match self.phase {
            Phase::LineStart if self.advances_with_scan() => {
                self.next_line();
                self.enter_mode(2, IrqMode::OamScan);
                self.ly = self.line;
                self.window_armed |= self.wy == self.line;
                self.set_compared(Some(self.line));
                self.update_stat_line();
                self.schedule(Phase::Draw, DRAW_DOT);
            }
            Phase::LineStart => {
                self.next_line();
                self.ly = self.line;
                if self.first_frame {
                    self.set_compared(None);
                    self.lyc_line = false;
                } else {
                    self.set_compared(Some(self.line));
                }
                self.update_stat_line();
                self.schedule(Phase::OamScan, OAM_SCAN_DOT);
            }
            Phase::OamScan => {
                self.enter_mode(2, IrqMode::OamScan);
                if self.line == 0 || self.first_frame {
                    self.set_compared(Some(self.line));
                    self.update_stat_line();
                }
                self.window_armed |= self.wy == self.line;
                self.schedule(Phase::Draw, DRAW_DOT);
            }
            Phase::Draw => {
                self.enter_mode(3, IrqMode::None);
                let dots = self.reference_draw_dots();
                self.phase = Phase::HBlank;
                self.phase_at += dots;
            }
            Phase::HBlank | Phase::HBlankIrq | Phase::LastPixel => {
                self.enter_mode(0, IrqMode::HBlank);
                self.report_hblank();
                if self.rendering {
                    self.draw_line();
                }
                if self.line < 143 {
                    let late = if self.advances_with_scan() { OAM_SCAN_DOT } else { 0 };
                    self.schedule(Phase::LineStart, LINE + late);
                } else {
                    self.window_line = if self.rendering { 0 } else { self.window_line };
                    self.schedule(
                        Phase::VBlankCompare,
                        if self.first_frame { LINE } else { LINE + 4 },
                    );
                }
            }
            Phase::VBlankCompare => {
                self.next_line();
                // Dot 4 of the line is now, also where it came early.
                self.line_start = self.phase_at - 4;
                self.ly = self.line;
                if self.line == 144 {
                    self.vertical_blank();
                } else {
                    self.set_compared(Some(self.line));
                    self.update_stat_line();
                }
                match self.line {
                    0..153 => self.schedule(Phase::VBlankCompare, LINE + 4),
                    _ if self.first_frame => self.schedule(Phase::LastLineGap, LINE + 4),
                    _ => self.schedule(Phase::LastLineZero, LINE + 4),
                }
            }
            // Nothing but a moment at which nothing else can happen.
            Phase::LastLineGap => self.schedule(Phase::LastLineZero, LINE + 12),
            Phase::LastLineZero => {
                self.line = 0;
                self.line_start = self.phase_at - 4;
                self.ly = 0;
                self.first_frame = false;
                self.window_armed = false;
                self.signals |= signal::TOP;
                self.phase = Phase::OamScan;
                self.step_reference();
            }
        }
    }

    /// On the Color, LY advances together with mode 2, but in the first frame.
    fn advances_with_scan(&self) -> bool {
        self.color.is_some() && !self.first_frame
    }

    /// On the Color, V-blank's OAM source fires four dots early, again and again until V-blank.
    fn vblank_stat_fires(&self) -> bool {
        self.color.is_some()
            && self.phase == Phase::VBlankCompare
            && self.line == 143
            && self.enables & OAM_ENABLE != 0
            && !self.stat_line
    }

    /// The next clock at which something is due.
    pub(super) fn next_reference_event(&self) -> u64 {
        self.phase_at - if self.vblank_stat_fires() { OAM_SCAN_DOT } else { 0 }
    }

    /// Whether a game made for the Color runs; others find the drawing of the monochrome model there, if
    /// with the timing of the Color.
    fn in_color(&self) -> bool {
        self.color.as_ref().is_some_and(|color| !color.compatible())
    }

    /// A window that a game for the Color switches off waits for WY again.
    pub(super) fn disarm_reference_window(&mut self, changed: u8, lcdc: u8) {
        let off = changed & lcdc::WINDOW_ON != 0 && lcdc & lcdc::WINDOW_ON == 0;
        if self.reference.on && self.in_color() && off {
            self.window_armed = false;
        }
    }

    /// Moves the line that has just begun into the past.
    pub fn begin_earlier(&mut self, dots: u64) {
        self.line_start -= dots;
        self.phase_at -= dots;
    }

    fn next_line(&mut self) {
        self.line += 1;
        self.line_start += LINE;
    }

    fn enter_mode(&mut self, mode: u8, irq_mode: IrqMode) {
        self.mode = mode;
        self.irq_mode = irq_mode;
        self.update_stat_line();
    }

    fn vertical_blank(&mut self) {
        self.enter_mode(1, IrqMode::VBlank);
        self.set_compared(Some(self.line));
        self.update_stat_line();
        let fired = std::mem::take(&mut self.reference.vblank_stat_fired);
        if self.enables & OAM_ENABLE != 0 && !self.stat_line && !fired {
            self.signals |= signal::STAT;
        }
        self.signals |= signal::VBLANK | signal::FRAME;
        self.window_armed = false;
        if self.first_frame {
            self.blank();
        }
    }

    /// Length of mode 3.
    fn reference_draw_dots(&mut self) -> u64 {
        let mut dots = DRAW_DOTS;
        if self.advances_with_scan() {
            dots -= 2;
        } else if !self.first_frame && self.color.is_none() {
            dots += (i64::from(self.regs.scx & 7) + 3) / 4 * 4;
        }
        if self.regs.lcdc & lcdc::OBJ_ON != 0 {
            let found = self.table.on_line(self.line, &self.oam, self.regs.lcdc);
            if found.n > 0 {
                let penalty = found.reference_penalty(&self.oam, self.regs.scx);
                let grid = if self.color.is_some() { 4 } else { 1 };
                dots += (penalty + grid - 1).div_euclid(grid) * grid;
            }
        }
        dots.unsigned_abs()
    }

    /// The LCD was switched on at `clock`.
    pub(super) fn switch_on_reference(&mut self, clock: u64) {
        self.line_start = clock;
        let lyc_written = std::mem::take(&mut self.reference.lyc_written);
        self.reference.hides_mode |= lyc_written && !self.in_color();
        self.first_frame = true;
        self.set_compared(Some(0));
        self.irq_mode = IrqMode::HBlank;
        self.update_stat_line();
        self.window_armed = self.wy == 0;
        self.schedule(Phase::Draw, DRAW_DOT);
    }

    /// LYC was written while the LCD is off.
    pub(super) fn lyc_written_while_off(&mut self) {
        self.reference.lyc_written = true;
    }

    /// STAT as the processor reads it; call after [`sync`](Self::sync).
    pub fn read_stat(&mut self) -> u8 {
        let hidden = std::mem::take(&mut self.reference.hides_mode);
        self.read(0xFF41) & if hidden { !3 } else { !0 }
    }
}

impl Found {
    /// How many dots the sprites add to mode 3, or take from it if all stand right of the screen.
    fn reference_penalty(&self, oam: &[u8; 160], scx: u8) -> i64 {
        let mut seen = [false; 168];
        let mut sum = 0;
        for &i in self.entries() {
            let x = oam[4 * usize::from(i) + 1];
            if let Some(seen) = seen.get_mut(usize::from(x)) {
                sum += 6;
                if !std::mem::replace(seen, true) {
                    sum += (5 - (i64::from(x) + i64::from(scx) - 8 & 7)).max(0);
                }
            }
        }
        if sum == 0 {
            -4
        } else {
            (sum - 7).max(0)
        }
    }
}
