//! What the processor sees: registers, VRAM and OAM, and when it may.

use super::{fifo::Fifo, lcdc, signal, timing::FIRST_LINE_DOTS, IrqMode, Phase, Ppu, MODE_3_DOT};
use crate::NEVER;

/// Dot of the OAM scan at which OAM is free for a moment.
const OAM_FREE_DOT: u64 = 78;
/// Dot of the OAM scan from which VRAM is already taken.
const VRAM_TAKEN_DOT: u64 = 80;
/// The bits of STAT that can be written.
const ALL_ENABLES: u8 = 0x78;

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
            0xFF41 => self.write_stat(v & ALL_ENABLES, clock),
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

    /// On a DMG all sources are enabled for one dot before the value arrives. Source: Pan Docs "STAT
    /// writing bug"; `DocBoy`'s tests `stat_write_bug`.
    fn write_stat(&mut self, enables: u8, clock: u64) {
        if self.lcd_on() && !self.reference.on && self.color.is_some() {
            self.sync(clock - 1);
        } else if self.lcd_on() && !self.reference.on {
            self.enables = ALL_ENABLES;
            self.sync(clock - 1);
            if self.phase == Phase::LineStart && self.phase_at == clock {
                // The OAM source of the next line is looked at in this very dot.
                self.sync(clock);
            }
            self.update_stat_line();
        }
        self.enables = enables;
        if self.lcd_on() || self.reference.on {
            self.update_stat_line();
        }
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
            if self.reference.on {
                self.irq_mode = IrqMode::HBlank;
                self.update_stat_line();
            }
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
            self.schedule(Phase::Draw, MODE_3_DOT);
        }
    }

    /// Whether the processor is kept from palette memory; call after [`sync`](Self::sync).
    pub fn palettes_blocked(&self) -> bool {
        !self.reference.on && self.mode == 3
    }

    pub(super) fn scanning(&self) -> bool {
        self.phase == Phase::Draw && self.mode == 2
    }

    /// In the first line after the LCD was switched on the memories are free before mode 0 shows.
    fn first_line_drawn(&self, at: u64) -> bool {
        self.first_frame
            && self.line == 0
            && self.phase == Phase::HBlank
            && at + FIRST_LINE_DOTS >= self.phase_at
    }

    /// Whether the processor has VRAM at `at`, to which the PPU is synced: the end of the M-cycle
    /// for a read, two dots before it for a write.
    pub fn vram_free(&self, at: u64) -> bool {
        self.reference.on
            || self.mode != 3 && !(self.scanning() && at >= self.line_start + VRAM_TAKEN_DOT)
            || self.first_line_drawn(at)
    }

    /// As [`vram_free`](Self::vram_free), for OAM.
    pub fn oam_free(&self, at: u64) -> bool {
        let dot = at.saturating_sub(self.line_start);
        self.reference.on
            || self.mode < 2 && self.phase != Phase::OamScan
            || self.scanning() && (OAM_FREE_DOT..VRAM_TAKEN_DOT).contains(&dot)
            || self.first_line_drawn(at)
    }

    /// Writes a byte of OAM, whoever may.
    pub fn write_oam(&mut self, index: u8, v: u8) {
        self.write_oam_run(index, &[v]);
    }

    /// Writes bytes of OAM; those beyond its end are lost.
    pub fn write_oam_run(&mut self, first: u8, bytes: &[u8]) {
        let seat = self.oam.iter_mut().skip(usize::from(first));
        let mut changed = false;
        for (byte, &v) in seat.zip(bytes) {
            changed |= *byte != v;
            *byte = v;
        }
        if changed {
            self.table.invalidate();
        }
    }
}
