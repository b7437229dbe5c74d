mod banks;
mod clock;
mod image;
mod properties;

use super::header::header_checksum;
use super::{Cart, Rom, CYCLES_PER_SECOND};

const SECOND: u64 = CYCLES_PER_SECOND as u64;

/// An image whose every bank starts with its own number (low byte, high byte).
fn image(kind: u8, rom_code: u8, ram_code: u8) -> Vec<u8> {
    let mut bytes = vec![0; 0x8000 << rom_code];
    for (number, bank) in bytes.chunks_exact_mut(0x4000).enumerate() {
        bank[..2].copy_from_slice(&(number as u16).to_le_bytes());
    }
    bytes[0x134..0x138].copy_from_slice(b"TEST");
    (bytes[0x147], bytes[0x148], bytes[0x149]) = (kind, rom_code, ram_code);
    bytes[0x14D] = header_checksum(&bytes);
    bytes
}

/// A cartridge with its ROM, driven as the CPU does.
struct Bench {
    rom: Rom,
    cart: Cart,
    clock: u64,
}

impl Bench {
    fn new(kind: u8, rom_code: u8, ram_code: u8) -> Self {
        Self::with_image(&image(kind, rom_code, ram_code))
    }

    fn with_image(image: &[u8]) -> Self {
        let rom = Rom::parse(image).unwrap();
        let cart = rom.new_cart();
        Self { rom, cart, clock: 0 }
    }

    fn write(&mut self, addr: u16, value: u8) {
        match addr {
            0..0x8000 => self.cart.write_control(addr, value, self.clock),
            _ => self.cart.write_ram(addr, value, self.clock),
        }
    }

    fn read(&self, addr: u16) -> u8 {
        self.cart.read_ram(addr)
    }

    /// Bank numbers at 0000 and 4000, as written in the banks themselves.
    fn banks(&self) -> (u16, u16) {
        let number =
            |at: usize| u16::from_le_bytes([self.rom.bytes()[at], self.rom.bytes()[at + 1]]);
        let (low, high) = self.cart.rom_banks();
        (number(low), number(high))
    }

    fn latched(&mut self) -> [u8; 5] {
        self.write(0x6000, 0);
        self.write(0x6000, 1);
        [8, 9, 10, 11, 12].map(|register| {
            self.write(0x4000, register);
            self.read(0xA000)
        })
    }

    fn set_clock(&mut self, registers: [u8; 5]) {
        for (register, value) in (8..).zip(registers) {
            self.write(0x4000, register);
            self.write(0xA000, value);
        }
    }

    fn clocked() -> Self {
        let mut bench = Self::new(0x10, 1, 3);
        bench.write(0x0000, 0x0A);
        bench
    }
}
