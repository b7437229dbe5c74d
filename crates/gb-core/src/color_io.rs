//! FF4C–FF7F, where the Color has registers that the monochrome models lack.
//!
//! A DMG game in the Color's compatibility mode finds most of them gone; its palettes are those that the
//! boot program chose.
//!
//! Source: Pan Docs, "CGB Registers"; mooneye `misc/boot_hwio-C` and `misc/bits/unused_hwio-C`; the
//! palettes: mealybug-tearoom-tests `m3_*2`, which try to set them.

use crate::{machine::Machine, Profile};

impl Machine {
    /// Whether a game made for the Color runs.
    fn in_color(&self) -> bool {
        self.ppu.color.as_ref().is_some_and(|color| !color.compatible())
    }

    /// Brings up to date what these registers depend on; in the reference they do not move the PPU.
    pub(crate) fn sync_for_color_io(&mut self, clock: u64) {
        if self.cgb.is_some() && self.profile == Profile::Hardware {
            self.sync_ppu(clock);
        }
    }

    /// Reads one of these registers; FF where there is none. Call after
    /// [`sync_for_color_io`](Self::sync_for_color_io).
    pub(crate) fn read_color_io(&self, addr: u16, clock: u64) -> u8 {
        let (Some(cgb), Some(color)) = (&self.cgb, &self.ppu.color) else { return 0xFF };
        let in_color = !color.compatible();
        match addr {
            0xFF4D if in_color && self.profile == Profile::PyBoy => self.speed.read_reference(),
            0xFF4D if in_color => self.speed.read(),
            0xFF55 if in_color => cgb.hdma.read(),
            0xFF56 if in_color => cgb.rp(),
            0xFF4F | 0xFF68 | 0xFF6A => color.read(addr, false),
            0xFF69 | 0xFF6B if in_color => color.read(addr, self.ppu.palettes_blocked()),
            0xFF6C if in_color => color.read(addr, false),
            0xFF70 if in_color => cgb.svbk(),
            0xFF74 if !in_color => 0xFF,
            0xFF72..=0xFF75 => cgb.spare(addr),
            0xFF76 | 0xFF77 => {
                let [ch1, ch2, ch3, ch4] = self.apu.pcm(clock, self.div_base());
                if addr == 0xFF76 {
                    ch1 | ch2 << 4
                } else {
                    ch3 | ch4 << 4
                }
            }
            _ => 0xFF,
        }
    }

    /// Writes one of these registers.
    pub(crate) fn write_color_io(&mut self, rom: &[u8], addr: u16, v: u8, clock: u64) {
        if self.cgb.is_none() {
            return;
        }
        self.sync_for_color_io(clock);
        if self.profile == Profile::Hardware {
            self.ppu.draw_rest();
        }
        let in_color = self.in_color();
        let reference = self.profile == Profile::PyBoy;
        let blocked = self.ppu.palettes_blocked();
        let hblank = self.ppu.hblank_now();
        let (Some(cgb), Some(color)) = (&mut self.cgb, &mut self.ppu.color) else { return };
        match addr {
            0xFF4D if in_color => {
                self.speed.write(v);
                self.horizon = 0;
            }
            0xFF4F if in_color || reference => color.write(addr, v, false),
            0xFF51..=0xFF54 if in_color => cgb.hdma.set_address(addr, v),
            0xFF55 if in_color && reference => {
                cgb.hdma.start_reference(v, self.ppu.lcd_on());
                self.run_hdma(rom);
                self.horizon = 0;
            }
            0xFF55 if in_color => {
                cgb.hdma.start(v, hblank);
                self.ppu.set_watch_hblank(cgb.hdma.active());
                self.horizon = 0;
            }
            0xFF56 if in_color => cgb.set_rp(v),
            0xFF68 | 0xFF6A => color.write(addr, v, blocked),
            0xFF69 if reference => color.write(addr, v, blocked),
            0xFF69 | 0xFF6B if in_color => color.write(addr, v, blocked),
            0xFF70 if in_color => cgb.set_svbk(v, &mut self.wram),
            0xFF74 if !in_color => {}
            0xFF72..=0xFF75 => cgb.set_spare(addr, v),
            _ => {}
        }
    }
}
