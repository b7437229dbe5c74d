//! The picture processing unit: a machine of a few phases a line that is advanced only when
//! somebody looks at it.
//!
//! Dots count from the start of a line, where LY changes, as reads meet them: a read sees what
//! happened up to the end of its M-cycle, a write takes effect two dots before. A visible line: from
//! dot 2 OAM scan (mode 2), from dot 81 drawing (mode 3), then H-blank (mode 0) until dot 456. While no picture is wanted and no
//! per-line interrupt is enabled, whole lines are passed in closed form.
//!
//! Source: Pan Docs "Rendering"; mooneye `acceptance/ppu`.

pub mod color;
mod drawing;
mod fifo;
pub mod lcdc;
mod oam;
mod oam_bug;
mod reference;
mod registers;
mod render;
#[cfg(test)]
mod tests;
mod timing;

use crate::{
    screen::{Picture, Planes},
    NEVER,
};
use color::Color;
use fifo::Fifo;
use oam::LineTable;
pub use oam_bug::Access;
use reference::Reference;

/// Dots of a line.
pub const LINE: u64 = 456;
/// Lines of a frame, V-blank included.
pub const LINES: u64 = 154;
/// T-cycles of a frame.
pub const FRAME: u64 = LINE * LINES;

/// Dot from which drawing is counted, and at which a read can first see mode 3.
const DRAW_DOT: u64 = 84;
/// Dot at which mode 3 begins.
const MODE_3_DOT: u64 = 81;
/// Dot at which LY can be compared and mode 1 or 2 begins, seen at dot 4.
const COMPARE_DOT: u64 = 2;
/// The rightmost WX at which a DMG shows the window.
const LAST_WX: u8 = 165;
/// The rightmost WX at which a Color (and the reference) shows it.
const LAST_WX_COLOR: u8 = 166;
/// From the start of mode 0 to the last pixel.
const LAST_PIXEL_DOTS: u64 = 2;

/// Something that happened in the PPU and that the machine has to know.
pub mod signal {
    /// V-blank interrupt request (bit as in IF).
    pub const VBLANK: u8 = 1;
    /// STAT interrupt request (bit as in IF).
    pub const STAT: u8 = 2;
    /// H-blank has begun, and somebody wants to know.
    pub const HBLANK: u8 = 0x10;
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
    /// Mode 0 begins.
    HBlank,
    /// Mode 0 requests its interrupt.
    HBlankIrq,
    /// The pipeline's last pixel is out.
    LastPixel,
    /// LY of a V-blank line can be compared.
    VBlankCompare,
    /// LY of line 153 can no longer be compared.
    LastLineGap,
    /// LY = 0 can be compared in line 153.
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
    HBlank,
    HBlankIrq,
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

/// The PPU with its memories.
#[derive(Clone, Debug)]
pub struct Ppu {
    /// Video RAM.
    pub vram: [u8; 0x2000],
    /// Sprite attributes.
    pub oam: [u8; 160],
    /// The picture of the monochrome models; the Color has its own.
    planes: Option<Box<Planes>>,
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

    /// What only the Color has.
    pub color: Option<Box<Color>>,
    /// Whether the start of every H-blank is to be reported.
    watch_hblank: bool,
    /// Whether lines are drawn.
    rendering: bool,
    /// Whether every line goes through the pipeline.
    always_fifo: bool,
    reference: Reference,
    table: LineTable,
}

crate::state_fields!(Ppu {
    vram, oam, regs, planes, enables, lyc, wy, line_start, line, phase,
    phase_at, hblank_at, ly, mode, irq_mode, comparable, compared, lyc_line, lyc_flag, stat_line, window_armed,
    window_line, first_frame, signals, fifo, fifo_at,
    watch_hblank, reference, color,
} skip { rendering, always_fifo, table });

impl Ppu {
    /// Switched off, all registers zero; with the hardware's timing, or the reference's.
    pub fn new(reference: bool) -> Self {
        Self {
            vram: [0; 0x2000],
            oam: [0; 160],
            planes: Some(Box::new([[0; 40]; 144])),
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
            color: None,
            watch_hblank: false,
            rendering: false,
            reference: Reference::new(reference),
            table: LineTable::new(),
        }
    }

    /// The state that a boot program leaves: LCD on, at `dot` of V-blank line `line` at `clock`.
    pub fn after_boot(reference: bool, clock: u64, line: u8, dot: u64) -> Self {
        let mut ppu = Self::new(reference);
        ppu.regs.lcdc = 0x91;
        ppu.regs.bgp = 0xFC;
        ppu.regs.obp = [0xFF; 2];
        ppu.line = line - 1;
        ppu.line_start = clock - dot - LINE;
        ppu.mode = 1;
        ppu.irq_mode = IrqMode::VBlank;
        ppu.compared = ppu.line;
        if reference {
            ppu.schedule(Phase::VBlankCompare, LINE + 4);
        } else {
            ppu.schedule(Phase::LineStart, LINE);
        }
        ppu.sync(clock);
        ppu.signals = 0;
        ppu
    }

    /// Makes this the PPU of a Color.
    pub fn set_color(&mut self, color: Box<Color>) {
        self.color = Some(color);
        self.planes = None;
    }

    /// Reports the start of every H-blank, or no longer.
    pub fn set_watch_hblank(&mut self, on: bool) {
        self.watch_hblank = on;
    }

    /// Whether V-blank begins within the next line.
    pub fn vblank_is_near(&self) -> bool {
        self.lcd_on() && (self.line == 143 || self.line == 144 && self.mode == 0)
    }

    /// Whether the LCD is on and shows mode 0.
    pub fn in_hblank(&self) -> bool {
        self.lcd_on() && self.mode == 0
    }

    /// Whether a block of an H-blank transfer could be copied now: in mode 0, and while the LCD is off.
    pub fn hblank_now(&self) -> bool {
        !self.lcd_on() || (self.mode == 0 && self.line < 144)
    }

    /// The picture drawn last.
    pub fn picture(&self) -> Picture<'_> {
        match &self.color {
            Some(color) => Picture::Colors(color.picture()),
            None => Picture::Shades(self.planes.as_deref().unwrap_or(&[[0; 40]; 144])),
        }
    }

    /// Whether the LCD is on.
    pub fn lcd_on(&self) -> bool {
        self.regs.lcdc & lcdc::ON != 0
    }

    /// Sends every line through the pixel pipeline, or only those that need it.
    pub fn set_always_fifo(&mut self, on: bool) {
        self.always_fifo = on && !self.reference.on;
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
        if let Some(color) = &mut self.color {
            let shade = if self.reference.on { self.regs.bgp & 3 } else { 0 };
            color.picture.fill(color::BLANK[usize::from(shade)]);
            return;
        }
        let shade = if self.reference.on { self.regs.bgp & 3 } else { 0 };
        let (lo, hi) = ((shade & 1).wrapping_neg(), (shade >> 1).wrapping_neg());
        for line in self.planes.iter_mut().flat_map(|planes| planes.iter_mut()) {
            line[..20].fill(lo);
            line[20..].fill(hi);
        }
    }

    /// A frame's picture is complete: while the LCD is off, and in the first frame after it was
    /// switched on, it is blank.
    pub fn finish_picture(&mut self) {
        if !self.lcd_on() || (self.first_frame && !self.reference.on) {
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
            && self.line_start <= clock + crate::LOOK_AHEAD
            && self.fifo.valid()
            && self.color.as_ref().is_none_or(|color| color.valid())
            && self.hblank_at <= clock + crate::LOOK_AHEAD
            && (self.fifo_at == NEVER
                || (self.line < 144 && self.fifo_at.abs_diff(clock) <= 2 * LINE))
            && (!on
                || (clock.saturating_sub(self.line_start) <= crate::MAX_LAG
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
