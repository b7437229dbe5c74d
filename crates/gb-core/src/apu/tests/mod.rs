//! Tests of the whole unit: known answers, and properties of the lazy evaluation.

mod dmg_sound;
mod known;
mod properties;
mod sound;
mod sweep;

use super::Apu;

/// Clock cycles of a sequencer step, and of a clock of the length counters.
const STEP: u64 = 8192;
const LENGTH: u64 = 2 * STEP;

/// An APU on a bus: every access takes one machine cycle of four clocks.
#[derive(Clone)]
struct Bench {
    apu: Apu,
    clock: u64,
    div_base: u64,
}

impl Bench {
    /// Powered on at a divider of zero, with everything else off.
    fn new() -> Self {
        let mut bench = Self { apu: Apu::new(), clock: 0, div_base: 0 };
        bench.write(0xFF26, 0x80);
        bench.write(0xFF24, 0x77);
        bench.write(0xFF25, 0xFF);
        bench
    }

    fn write(&mut self, addr: u16, value: u8) {
        self.clock += 4;
        self.apu.write(addr, value, self.clock, self.div_base);
    }

    fn read(&mut self, addr: u16) -> u8 {
        self.clock += 4;
        self.apu.read(addr, self.clock, self.div_base)
    }

    fn peek(&self, addr: u16) -> u8 {
        self.apu.peek(addr, self.clock, self.div_base)
    }

    fn outputs(&self) -> [u8; 4] {
        self.apu.outputs(self.clock, self.div_base)
    }

    fn wait(&mut self, clocks: u64) {
        self.clock += clocks;
    }

    fn write_div(&mut self) {
        self.clock += 4;
        self.apu.div_reset(self.clock, self.div_base);
        self.div_base = self.clock;
    }

    fn sync(&mut self) {
        self.apu.sync(self.clock, self.div_base);
    }

    /// Whether channel 1 to 4 is on.
    fn on(&self, channel: u8) -> bool {
        self.peek(0xFF26) >> (channel - 1) & 1 != 0
    }

    fn state(&self) -> Vec<u8> {
        let mut bench = self.clone();
        bench.sync();
        let mut writer = crate::state::Writer::default();
        crate::state::State::save(&bench.apu, &mut writer);
        writer.bytes
    }
}
