//! The picture processing unit: a machine of a few phases a line that is advanced only when
//! somebody looks at it.
//!
//! Dots count from the start of a line, where LY changes. A visible line: dot 4 OAM scan (mode 2),
//! dot 84 drawing (mode 3), then H-blank (mode 0) until dot 456. While no picture is wanted and no
//! per-line interrupt is enabled, whole lines are passed in closed form.
//!
//! Source: Pan Docs "Rendering"; mooneye `acceptance/ppu`.

mod fifo;
pub mod lcdc;
mod oam;
mod render;
#[cfg(test)]
mod tests;

use crate::{screen::Planes, NEVER};
use fifo::{Fifo, Memory};
use oam::LineTable;

/// Dots of a line.
pub const LINE: u64 = 456;
/// Lines of a frame, V-blank included.
pub const LINES: u64 = 154;
/// T-cycles of a frame.
pub const FRAME: u64 = LINE * LINES;

const OAM_SCAN_DOT: u64 = 4;
const DRAW_DOT: u64 = 84;
/// From there to the mode 0 interrupt, without any penalty.
const DRAW_DOTS: u64 = 168;
/// Mode 0 shows in STAT, and VRAM and OAM are free, one dot after its interrupt.
const HBLANK_SHOWS_DOTS: u64 = 1;
/// What a window adds to mode 3.
const WINDOW_DOTS: u64 = 6;
/// The rightmost WX at which a DMG shows the window.
const LAST_WX: u8 = 165;
/// From there to the last pixel.
const LAST_PIXEL_DOTS: u64 = 6;
/// From the clock of a write to the pipeline's dot that it meets.
static SCX_SHIFT: std::sync::LazyLock<i64> =
    std::sync::LazyLock::new(|| std::env::var("SX").map_or(-1, |v| v.parse().unwrap()));
static FIFO_SHIFT: std::sync::LazyLock<i64> =
    std::sync::LazyLock::new(|| std::env::var("SH").map_or(-5, |v| v.parse().unwrap()));
/// Dots before the drawing of a line in which VRAM is already taken.
const VRAM_TAKEN_DOT: u64 = 80;

/// Something that happened in the PPU and that the machine has to know.
pub mod signal {
    /// V-blank interrupt request (bit as in IF).
    pub const VBLANK: u8 = 1;
    /// STAT interrupt request (bit as in IF).
    pub const STAT: u8 = 2;
    /// V-blank has begun.
    pub const FRAME: u8 = 0x20;
    /// Line 0 has begun after a V-blank.
    pub const TOP: u8 = 0x40;
    /// The LCD was switched on or off.
    pub const LCD: u8 = 0x80;
}

/// What the interrupt logic takes for the mode; differs from the visible mode for a few dots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum IrqMode {
    HBlank,
    VBlank,
    OamScan,
    None,
}

/// The next thing to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Phase {
    /// Dot 0 of any line.
    LineStart,
    /// Mode 2 begins.
    OamScan,
    /// Mode 3 begins.
    Draw,
    /// Mode 0 requests its interrupt.
    HBlankIrq,
    /// Mode 0 begins.
    HBlank,
    /// The pipeline's last pixel is out.
    LastPixel,
    /// Dot 4 of a V-blank line: LY can be compared.
    VBlankCompare,
    /// Dot 8 of line 153.
    LastLineGap,
    /// Dot 12 of line 153: LY = 0 can be compared.
    LastLineZero,
}

/// [`State`](crate::state::State) for an enum without fields.
macro_rules! enum_state {
    ($t:ident { $($v:ident),* }) => {
        impl crate::state::State for $t {
            fn save(&self, w: &mut crate::state::Writer) {
                (*self as u8).save(w);
            }
            fn load(&mut self, r: &mut crate::state::Reader<'_>)
                -> Result<(), crate::state::Malformed> {
                let mut v = 0u8;
                v.load(r)?;
                *self = [$($t::$v),*].into_iter().find(|x| *x as u8 == v)
                    .ok_or(crate::state::Malformed)?;
                Ok(())
            }
        }
    };
}
use enum_state;

enum_state!(IrqMode { HBlank, VBlank, OamScan, None });
enum_state!(Phase {
    LineStart,
    OamScan,
    Draw,
    HBlankIrq,
    HBlank,
    LastPixel,
    VBlankCompare,
    LastLineGap,
    LastLineZero
});

/// The registers that drawing reads.
#[derive(Clone, Copy, Debug, Default)]
struct Registers {
    lcdc: u8,
    scy: u8,
    scx: u8,
    bgp: u8,
    obp: [u8; 2],
    wx: u8,
}
crate::state_fields!(Registers { lcdc, scy, scx, bgp, obp, wx });

/// Choices in which a profile departs from the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Quirks {
    /// The window and the background left of it show even where LCDC.0 is clear.
    pub window_without_bg: bool,
    /// LY stays 153 for the whole last line.
    pub no_early_zero: bool,
    /// A line is drawn when it ends, with the registers of that moment, whatever they were before.
    pub whole_lines: bool,
    /// A blank picture takes the shade of BGP colour 0 instead of the lightest one.
    pub blank_through_bgp: bool,
}

/// The PPU with its memories.
#[derive(Clone, Debug)]
pub struct Ppu {
    /// Video RAM.
    pub vram: [u8; 0x2000],
    /// Sprite attributes.
    pub oam: [u8; 160],
    planes: Planes,
    regs: Registers,
    /// STAT bits 3–6.
    enables: u8,
    lyc: u8,
    wy: u8,

    /// The clock of dot 0 of the current line; while the LCD is off, of the moment it went off.
    line_start: u64,
    line: u8,
    phase: Phase,
    /// When `phase` happens; `NEVER` while the LCD is off.
    phase_at: u64,
    /// When mode 0 of this line began.
    hblank_at: u64,
    /// LY as read.
    ly: u8,
    /// The mode as read.
    mode: u8,
    irq_mode: IrqMode,
    /// Whether LY can be compared in this dot.
    comparable: bool,
    /// The value that is compared with LYC.
    compared: u8,
    /// The comparison as the interrupt logic keeps it.
    lyc_line: bool,
    /// The comparison as STAT shows it.
    lyc_flag: bool,
    /// The OR of all enabled STAT sources; its rising edge requests the interrupt.
    stat_line: bool,
    /// WY has been met in this frame.
    window_armed: bool,
    /// Lines of the window drawn so far.
    window_line: u8,
    /// The first frame after the LCD was switched on is not shown.
    first_frame: bool,
    /// See [`signal`].
    signals: u8,
    /// The pipeline of the current line, if its registers changed while it was drawn.
    fifo: Fifo,
    /// The clock of the pipeline's next dot; `NEVER` where it does not run.
    fifo_at: u64,

    /// Whether lines are drawn.
    rendering: bool,
    /// Whether every line goes through the pipeline.
    always_fifo: bool,
    quirks: Quirks,
    table: LineTable,
}

crate::state_fields!(Ppu {
    vram, oam, regs, planes, enables, lyc, wy, line_start, line, phase,
    phase_at, hblank_at, ly, mode, irq_mode, comparable, compared, lyc_line, lyc_flag, stat_line, window_armed,
    window_line, first_frame, signals, fifo, fifo_at,
} skip { rendering, always_fifo, quirks, table });

impl crate::state::State for Planes {
    fn save(&self, w: &mut crate::state::Writer) {
        w.bytes.extend_from_slice(self.as_flattened());
    }
    fn load(&mut self, r: &mut crate::state::Reader<'_>) -> Result<(), crate::state::Malformed> {
        let flat = self.as_flattened_mut();
        flat.copy_from_slice(r.take(flat.len())?);
        Ok(())
    }
}

impl Ppu {
    /// Switched off, all registers zero.
    pub fn new(quirks: Quirks) -> Self {
        Self {
            vram: [0; 0x2000],
            oam: [0; 160],
            planes: [[0; 40]; 144],
            regs: Registers::default(),
            enables: 0,
            lyc: 0,
            wy: 0,
            line_start: 0,
            line: 0,
            phase: Phase::LineStart,
            phase_at: NEVER,
            hblank_at: 0,
            ly: 0,
            mode: 0,
            irq_mode: IrqMode::None,
            comparable: true,
            compared: 0,
            lyc_line: false,
            lyc_flag: false,
            stat_line: false,
            window_armed: false,
            window_line: 0,
            first_frame: false,
            signals: 0,
            fifo: Fifo::idle(),
            fifo_at: NEVER,
            always_fifo: false,
            rendering: false,
            quirks,
            table: LineTable::new(),
        }
    }

    /// The state that a boot program leaves: LCD on, at `dot` of V-blank line `line` at `clock`.
    pub fn after_boot(quirks: Quirks, clock: u64, line: u8, dot: u64) -> Self {
        let mut ppu = Self::new(quirks);
        ppu.regs.lcdc = 0x91;
        ppu.regs.bgp = 0xFC;
        ppu.regs.obp = [0xFF; 2];
        ppu.line = line - 1;
        ppu.line_start = clock - dot - LINE;
        ppu.mode = 1;
        ppu.irq_mode = IrqMode::VBlank;
        ppu.compared = ppu.line;
        ppu.schedule(Phase::LineStart, LINE);
        ppu.sync(clock);
        ppu.signals = 0;
        ppu
    }

    /// The picture drawn last.
    pub fn planes(&self) -> &Planes {
        &self.planes
    }

    /// Whether the LCD is on.
    pub fn lcd_on(&self) -> bool {
        self.regs.lcdc & lcdc::ON != 0
    }

    /// Sends every line through the pixel pipeline, or only those that need it.
    pub fn set_always_fifo(&mut self, on: bool) {
        self.always_fifo = on && !self.quirks.whole_lines;
    }

    /// Starts or stops drawing lines; call after [`sync`](Self::sync).
    pub fn set_rendering(&mut self, on: bool) {
        self.rendering = on;
    }

    /// Takes the interrupt requests since the last call, as bits of IF.
    #[inline]
    pub fn take_irqs(&mut self) -> u8 {
        let irqs = self.signals & (signal::VBLANK | signal::STAT);
        self.signals &= !irqs;
        irqs
    }

    /// Takes everything else that happened since the last call; see [`signal`].
    #[inline]
    pub fn take_signals(&mut self) -> u8 {
        std::mem::take(&mut self.signals)
    }

    /// Fills the picture as a blank LCD shows it.
    pub fn blank(&mut self) {
        let shade = if self.quirks.blank_through_bgp { self.regs.bgp & 3 } else { 0 };
        let (lo, hi) = ((shade & 1).wrapping_neg(), (shade >> 1).wrapping_neg());
        for line in &mut self.planes {
            line[..20].fill(lo);
            line[20..].fill(hi);
        }
    }

    /// A frame's picture is complete: while the LCD is off, and in the first frame after it was
    /// switched on, it is blank.
    pub fn finish_picture(&mut self) {
        if !self.lcd_on() || self.first_frame {
            self.blank();
        }
    }

    /// While the LCD is off: the next clock at which whole frames have passed since it went off.
    pub fn next_blank_frame(&self, clock: u64) -> u64 {
        self.line_start + ((clock - self.line_start) / FRAME + 1) * FRAME
    }

    /// Draws the whole picture with the registers and memories of this moment.
    pub fn draw_all(&mut self) {
        for line in 0..144 {
            self.render_line(line, None);
        }
    }

    /// Catches up with the clock.
    #[inline]
    pub fn sync(&mut self, clock: u64) {
        while self.phase_at <= clock {
            self.step(clock);
        }
    }

    fn schedule(&mut self, phase: Phase, dot: u64) {
        self.phase = phase;
        self.phase_at = self.line_start + dot;
    }

    fn step(&mut self, clock: u64) {
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
                if self.line == 153 && !self.quirks.no_early_zero {
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

    fn line_starts(&mut self, clock: u64) {
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
            self.update_stat_line();
            self.schedule(Phase::VBlankCompare, 4);
        }
    }

    /// Passes whole lines that nobody watches in one go, from the start of `self.line` on; draws them
    /// if a picture is wanted.
    fn skip_lines(&mut self, clock: u64) {
        let visible = self.line < 144;
        let watched = self.always_fifo
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

    /// What drawing lines `self.line..end` would do to the window's line counter.
    fn skip_window_lines(&mut self, end: u8) {
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

    fn arm_window(&mut self) {
        if self.regs.lcdc & lcdc::WINDOW_ON != 0 && self.wy == self.line {
            self.window_armed = true;
        }
    }

    /// Whether the current line uses up a line of the window.
    fn window_counts(&self) -> bool {
        self.regs.lcdc & lcdc::WINDOW_ON != 0 && self.window_armed && self.regs.wx <= 166
    }

    /// WX if the window shows on the current line.
    fn window_at(&self) -> Option<u8> {
        let last = if self.quirks.whole_lines { 166 } else { LAST_WX };
        (self.window_counts() && self.regs.wx <= last).then_some(self.regs.wx)
    }

    /// Whether a window on this line would need the pipeline: with WX = 0 it is the fine scroll that
    /// decides where the window begins.
    fn intricate(&self) -> bool {
        let Registers { lcdc, wx, scx, .. } = self.regs;
        wx == 0 && scx & 7 != 0 && lcdc & lcdc::WINDOW_ON != 0 && !self.quirks.whole_lines
    }

    /// Length of mode 3 on the current line.
    fn draw_dots(&mut self) -> u64 {
        let fine = self.regs.scx & 7;
        let mut dots = DRAW_DOTS + u64::from(fine);
        let window = self.window_at();
        if let Some(wx) = window {
            dots += WINDOW_DOTS + u64::from(wx == 0 && fine != 0);
        }
        if self.regs.lcdc & lcdc::OBJ_ON != 0 {
            let found = self.table.on_line(self.line, &self.oam, self.regs.lcdc);
            if found.n > 0 {
                dots += found.penalty(&self.oam, fine, window);
            }
        }
        dots
    }

    fn draw_line(&mut self) {
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
            Phase::HBlankIrq | Phase::HBlank | Phase::LastPixel => true,
            Phase::LineStart => self.line < 144 && clock < self.hblank_at + LAST_PIXEL_DOTS,
            _ => false,
        }
    }

    fn finish_fifo(&mut self) {
        self.run_fifo(NEVER);
        self.fifo_at = NEVER;
        self.window_line = self.fifo.window_next();
        self.fifo = Fifo::idle();
    }

    /// Begins the current line's pipeline, which may lie in the past: nothing has changed since.
    fn start_fifo(&mut self) {
        if self.phase == Phase::LineStart {
            // The line was taken as finished; it is drawn again.
            self.window_line = self.window_line.wrapping_sub(u8::from(self.window_counts()));
            self.phase = Phase::LastPixel;
            self.phase_at = self.hblank_at + LAST_PIXEL_DOTS;
        }
        let found = self.table.on_line(self.line, &self.oam, self.regs.lcdc);
        self.fifo = Fifo::start(self.line, found, &self.oam, self.regs.scx, self.window_line);
        self.fifo_at = self.line_start + DRAW_DOT;
    }

    /// Runs the pipeline's dots before `clock`.
    fn run_fifo(&mut self, clock: u64) {
        let memory = Memory {
            vram: &self.vram,
            oam: &self.oam,
            regs: self.regs,
            window_armed: self.window_armed,
        };
        let row = &mut self.planes[usize::from(self.line) % 144];
        while self.fifo_at < clock && !self.fifo.done() {
            if let Some((shade, x)) = self.fifo.dot(&memory) {
                if self.rendering {
                    render::put_pixel(row, x, shade);
                }
            }
            self.fifo_at += 1;
        }
    }

    /// When the line would end if nothing more was written.
    fn predict_hblank(&mut self) {
        let memory = Memory {
            vram: &self.vram,
            oam: &self.oam,
            regs: self.regs,
            window_armed: self.window_armed,
        };
        let mut ahead = self.fifo.clone();
        let mut at = self.fifo_at;
        while !ahead.done() {
            ahead.dot(&memory);
            at += 1;
        }
        self.phase_at = match self.phase {
            Phase::HBlankIrq => at,
            _ => at + HBLANK_SHOWS_DOTS,
        };
    }

    /// A register is written while a line is drawn: the pipeline sees most of them a dot or two
    /// before the end of the M-cycle, and some as a mixture of old and new for one dot.
    ///
    /// Source: mealybug-tearoom-tests (`DMG-blob`).
    fn write_while_drawing(&mut self, addr: u16, v: u8, clock: u64) {
        if self.fifo_at == NEVER {
            self.start_fifo();
        }
        let clock = clock.wrapping_add_signed(*FIFO_SHIFT);
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
                self.regs.lcdc = v;
            }
            0xFF42 | 0xFF43 => {
                self.run_fifo(clock.wrapping_add_signed(*SCX_SHIFT));
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
        if self.mode == 3 {
            self.predict_hblank();
        }
    }

    fn palette(&mut self, addr: u16) -> &mut u8 {
        match addr {
            0xFF47 => &mut self.regs.bgp,
            0xFF48 => &mut self.regs.obp[0],
            _ => &mut self.regs.obp[1],
        }
    }

    fn set_compared(&mut self, value: Option<u8>) {
        self.comparable = value.is_some();
        if let Some(v) = value {
            self.compared = v;
        }
        self.compare();
    }

    fn compare(&mut self) {
        self.lyc_flag = self.comparable && self.compared == self.lyc;
        if self.comparable {
            self.lyc_line = self.lyc_flag;
        }
    }

    fn stat_level(&self, enables: u8) -> bool {
        (match self.irq_mode {
            IrqMode::HBlank => enables & HBLANK_ENABLE != 0,
            IrqMode::VBlank => enables & VBLANK_ENABLE != 0,
            IrqMode::OamScan => enables & OAM_ENABLE != 0,
            IrqMode::None => false,
        }) || (self.lyc_line && enables & LYC_ENABLE != 0)
    }

    fn update_stat_line(&mut self) {
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
        // V-blank, of this frame or the next.
        let past = self.line > 144 || (self.line == 144 && self.phase != Phase::VBlankCompare);
        let lines = if past { 144 + LINES } else { 144 } - u64::from(self.line);
        let mut at = self.line_start + lines * LINE + 4;
        let past_top = self.line_start + (LINES - u64::from(self.line)) * LINE;
        if self.quirks.no_early_zero {
            at = at.min(past_top);
        }
        if self.enables & (HBLANK_ENABLE | OAM_ENABLE) != 0 {
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
    fn next_comparison(&self) -> u64 {
        // LY = 0 is first compared in the last line.
        let (line, dot) = match self.lyc {
            0 if self.quirks.no_early_zero => (0, 0),
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

    /// FF40–FF4B but FF46; call after [`sync`](Self::sync).
    pub fn read(&self, addr: u16) -> u8 {
        match addr {
            0xFF40 => self.regs.lcdc,
            0xFF41 => 0x80 | self.enables | u8::from(self.lyc_flag) << 2 | self.mode,
            0xFF42 => self.regs.scy,
            0xFF43 => self.regs.scx,
            0xFF44 => self.ly,
            0xFF45 => self.lyc,
            0xFF47 => self.regs.bgp,
            0xFF48 => self.regs.obp[0],
            0xFF49 => self.regs.obp[1],
            0xFF4A => self.wy,
            0xFF4B => self.regs.wx,
            _ => 0xFF,
        }
    }

    /// Writes FF40–FF4B but FF46; call after [`sync`](Self::sync).
    pub fn write(&mut self, addr: u16, v: u8, clock: u64) {
        let switches_off = addr == 0xFF40 && v & lcdc::ON == 0;
        let drawn = !matches!(addr, 0xFF41 | 0xFF44 | 0xFF45) && !switches_off;
        if drawn && self.drawing(clock) && !self.quirks.whole_lines {
            self.write_while_drawing(addr, v, clock);
            return;
        }
        match addr {
            0xFF40 => self.write_lcdc(v, clock),
            0xFF41 => {
                self.enables = v & 0x78;
                self.update_stat_line();
            }
            0xFF42 => self.regs.scy = v,
            0xFF43 => self.regs.scx = v,
            0xFF45 => {
                self.lyc = v;
                if self.lcd_on() {
                    self.compare();
                    self.update_stat_line();
                }
            }
            0xFF47 => self.regs.bgp = v,
            0xFF48 => self.regs.obp[0] = v,
            0xFF49 => self.regs.obp[1] = v,
            0xFF4A => {
                self.wy = v;
                if self.lcd_on() && self.line < 144 && self.phase != Phase::OamScan {
                    self.arm_window();
                }
            }
            0xFF4B => self.regs.wx = v,
            _ => {}
        }
    }

    fn write_lcdc(&mut self, v: u8, clock: u64) {
        let changed = self.regs.lcdc ^ v;
        self.regs.lcdc = v;
        if changed & lcdc::OBJ_TALL != 0 {
            self.table.invalidate();
        }
        if changed & lcdc::ON == 0 {
            if changed & lcdc::WINDOW_ON != 0 && self.lcd_on() && self.line < 144 {
                self.arm_window();
            }
            return;
        }
        self.signals |= signal::LCD;
        self.ly = 0;
        self.line = 0;
        self.mode = 0;
        self.window_armed = false;
        self.window_line = 0;
        if v & lcdc::ON == 0 {
            self.line_start = clock;
            self.phase_at = NEVER;
            self.fifo_at = NEVER;
            self.fifo = Fifo::idle();
            self.irq_mode = IrqMode::HBlank;
            self.update_stat_line();
        } else {
            // Line 0 is one M-cycle short and has no OAM scan.
            self.line_start = clock - 4;
            self.first_frame = true;
            self.irq_mode = IrqMode::None;
            self.set_compared(Some(0));
            self.update_stat_line();
            self.arm_window();
            self.schedule(Phase::Draw, DRAW_DOT);
        }
    }

    fn scanning(&self) -> bool {
        self.phase == Phase::Draw && self.mode == 2
    }

    /// Whether the CPU can read VRAM; call after [`sync`](Self::sync).
    pub fn vram_readable(&self, clock: u64) -> bool {
        self.mode != 3 && !(self.scanning() && clock >= self.line_start + VRAM_TAKEN_DOT)
    }

    /// Whether the CPU can write VRAM; call after [`sync`](Self::sync).
    #[inline]
    pub fn vram_writable(&self) -> bool {
        self.mode != 3
    }

    /// Whether the CPU can read OAM; call after [`sync`](Self::sync).
    pub fn oam_readable(&self) -> bool {
        // OAM is taken from dot 0 of a visible line on, one M-cycle before mode 2 shows.
        self.mode < 2 && (self.phase != Phase::OamScan)
    }

    /// Whether the CPU can write OAM; call after [`sync`](Self::sync).
    pub fn oam_writable(&self, clock: u64) -> bool {
        self.mode < 2 || (self.scanning() && clock >= self.line_start + VRAM_TAKEN_DOT)
    }

    /// Writes a byte of OAM, whoever may.
    pub fn write_oam(&mut self, index: u8, v: u8) {
        if let Some(byte) = self.oam.get_mut(usize::from(index)) {
            if *byte != v {
                *byte = v;
                self.table.invalidate();
            }
        }
    }

    /// After the state was replaced: derived tables are stale.
    pub fn invalidate(&mut self) {
        self.table.invalidate();
    }

    /// Whether hostile state bytes left every value where catching up is short and safe.
    pub fn valid(&self, clock: u64) -> bool {
        let on = self.lcd_on();
        on == (self.phase_at != NEVER)
            && self.line < 154
            && self.mode < 4
            && self.enables & !0x78 == 0
            && self.line_start <= clock
            && self.fifo.valid()
            && self.hblank_at <= clock
            && (self.fifo_at == NEVER || (self.line < 144 && self.fifo_at.abs_diff(clock) <= 2 * LINE))
            && (!on
                || (clock - self.line_start <= crate::MAX_LAG
                    && self.phase_at >= self.line_start
                    && self.phase_at - self.line_start <= 2 * LINE))
    }
}

/// STAT bit 3: mode 0 requests the interrupt.
const HBLANK_ENABLE: u8 = 0x08;
/// STAT bit 4: mode 1 requests the interrupt.
const VBLANK_ENABLE: u8 = 0x10;
/// STAT bit 5: mode 2 requests the interrupt.
const OAM_ENABLE: u8 = 0x20;
/// STAT bit 6: LY = LYC requests the interrupt.
const LYC_ENABLE: u8 = 0x40;
