//! What the processor sees: registers, VRAM and OAM, and when it may.

use super::{fifo::Fifo, lcdc, signal, IrqMode, Phase, Ppu, DRAW_DOT};
use crate::NEVER;

/// Dot of the OAM scan from which VRAM is already taken.
const VRAM_TAKEN_DOT: u64 = 80;

impl Ppu {
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
        if drawn && self.drawing(clock) && self.pipeline_cares(addr, v) {
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
                } else {
                    self.lyc_written_while_off();
                }
            }
            0xFF47 => self.regs.bgp = v,
            0xFF48 => self.regs.obp[0] = v,
            0xFF49 => self.regs.obp[1] = v,
            0xFF4A => {
                self.wy = v;
                if self.window_arms_now() && self.phase != Phase::OamScan {
                    self.arm_window();
                }
            }
            0xFF4B => self.regs.wx = v,
            _ => {}
        }
    }

    /// Whether a write while a line is drawn needs the pixel pipeline: always where the line is shown
    /// or the pipeline runs, else where it changes how long drawing takes.
    fn pipeline_cares(&self, addr: u16, v: u8) -> bool {
        let lengthens = match addr {
            0xFF40 => (self.regs.lcdc ^ v) & (lcdc::OBJ_ON | lcdc::WINDOW_ON) != 0,
            0xFF43 => (self.regs.scx ^ v) & 7 != 0,
            0xFF4A | 0xFF4B => self.regs.lcdc & lcdc::WINDOW_ON != 0,
            _ => false,
        };
        !self.reference.on && (self.rendering || self.fifo_at != NEVER || lengthens)
    }

    /// Whether a write can meet the window's condition on the current line.
    fn window_arms_now(&self) -> bool {
        self.lcd_on() && self.line < 144 && !self.reference.on
    }

    pub(super) fn write_lcdc(&mut self, v: u8, clock: u64) {
        let changed = self.regs.lcdc ^ v;
        self.regs.lcdc = v;
        if changed & lcdc::OBJ_TALL != 0 {
            self.table.invalidate();
        }
        if changed & lcdc::ON == 0 {
            if changed & lcdc::WINDOW_ON != 0 && self.window_arms_now() {
                self.arm_window();
            }
            self.disarm_reference_window(changed, v);
            return;
        }
        self.signals |= signal::LCD;
        self.ly = 0;
        self.line = 0;
        self.mode = 0;
        self.window_armed = false;
        if !self.reference.on {
            self.window_line = 0;
        }
        if v & lcdc::ON == 0 {
            self.line_start = clock;
            self.phase_at = NEVER;
            self.fifo_at = NEVER;
            self.fifo = Fifo::idle();
            self.irq_mode = IrqMode::HBlank;
            self.update_stat_line();
        } else if self.reference.on {
            self.switch_on_reference(clock);
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

    /// Whether the processor is kept from palette memory; call after [`sync`](Self::sync).
    pub fn palettes_blocked(&self) -> bool {
        !self.reference.on && self.mode == 3
    }

    pub(super) fn scanning(&self) -> bool {
        self.phase == Phase::Draw && self.mode == 2
    }

    /// Whether the CPU can read VRAM; call after [`sync`](Self::sync).
    pub fn vram_readable(&self, clock: u64) -> bool {
        self.reference.on
            || self.mode != 3 && !(self.scanning() && clock >= self.line_start + VRAM_TAKEN_DOT)
    }

    /// Whether the CPU can write VRAM; call after [`sync`](Self::sync).
    #[inline]
    pub fn vram_writable(&self) -> bool {
        self.reference.on || self.mode != 3
    }

    /// Whether the CPU can read OAM; call after [`sync`](Self::sync).
    pub fn oam_readable(&self) -> bool {
        // OAM is taken from dot 0 of a visible line on, one M-cycle before mode 2 shows.
        self.reference.on || self.mode < 2 && (self.phase != Phase::OamScan)
    }

    /// Whether the CPU can write OAM; call after [`sync`](Self::sync).
    pub fn oam_writable(&self, clock: u64) -> bool {
        self.reference.on
            || self.mode < 2
            || (self.scanning() && clock >= self.line_start + VRAM_TAKEN_DOT)
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
}
