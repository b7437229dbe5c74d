//! The part of a cartridge that changes: mapper registers, RAM and clock.

use super::header::Mapper;
use super::rtc::{Rtc, RtcTime};
use crate::state::{Malformed, Reader, State, Writer};
use crate::state_fields;

const ROM_BANK: usize = 0x4000;
const RAM_BANK: usize = 0x2000;
const MBC2_RAM: usize = 512;
const OPEN_BUS: u8 = 0xFF;

/// Bytes for the cartridge RAM of another size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cartridge RAM: got {got} bytes, expected {expected}")]
pub struct CartRamError {
    /// Number of bytes given.
    pub got: usize,
    /// Number of bytes that the cartridge has.
    pub expected: usize,
}

/// How the cartridge is built; never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Board {
    pub(super) mapper: Mapper,
    /// Size of the ROM in bytes, minus one. The size is a power of two.
    pub(super) rom_mask: usize,
    pub(super) multicart: bool,
    pub(super) mbc30: bool,
    pub(super) rumble: bool,
}

impl Board {
    /// The bits that the ROM bank register has.
    fn rom_bank_bits(self) -> u16 {
        match self.mapper {
            Mapper::None => 0x01,
            Mapper::Mbc1 => 0x1F,
            Mapper::Mbc2 => 0x0F,
            Mapper::Mbc3 if self.mbc30 => 0xFF,
            Mapper::Mbc3 => 0x7F,
            Mapper::Mbc5 => 0x1FF,
        }
    }

    /// The bits that the register at 4000–5FFF has. Rumble boards wire its bit 3 to the motor.
    fn ram_bank_bits(self) -> u8 {
        match self.mapper {
            Mapper::None | Mapper::Mbc2 => 0,
            Mapper::Mbc1 => 0x03,
            Mapper::Mbc5 if self.rumble => 0x07,
            Mapper::Mbc3 | Mapper::Mbc5 => 0x0F,
        }
    }
}

/// The registers of the controller. Each holds only bits that the chip has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Registers {
    /// RAM (and clock) answer.
    ram_enabled: bool,
    /// The ROM bank; BANK1 of MBC1. Zero on MBC5 only.
    rom_bank: u16,
    /// The RAM bank or clock register; BANK2 of MBC1.
    ram_bank: u8,
    /// MODE of MBC1: BANK2 also reaches the RAM and the lower ROM area.
    mode: bool,
}
state_fields!(Registers { ram_enabled, rom_bank, ram_bank, mode });

/// What answers at A000–BFFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Window {
    Closed,
    Ram {
        base: usize,
        mask: usize,
    },
    /// The RAM of MBC2: 512 half-bytes, repeated.
    HalfBytes,
    /// Clock register `8 + n`.
    Clock(usize),
}

/// A cartridge in use.
///
/// What the registers select is worked out when they are written, so that reads stay cheap.
#[derive(Debug, PartialEq, Eq)]
pub struct Cart {
    board: Board,
    registers: Registers,
    rtc: Option<Rtc>,
    ram: Vec<u8>,
    /// Byte offsets into the ROM of what is at 0000 and at 4000; follows from the registers.
    rom_banks: (usize, usize),
    /// Follows from the registers.
    window: Window,
}

impl Clone for Cart {
    fn clone(&self) -> Self {
        Self { ram: self.ram.clone(), ..*self }
    }

    /// Keeps the allocation of the RAM.
    fn clone_from(&mut self, source: &Self) {
        let ram = std::mem::take(&mut self.ram);
        *self = Self { ram, ..*source };
        self.ram.clone_from(&source.ram);
    }
}

/// The registers, the RAM and the clock where there is one; the board belongs to the ROM.
impl State for Cart {
    fn save(&self, w: &mut Writer) {
        let Self { board: _, registers, rtc, ram, rom_banks: _, window: _ } = self;
        registers.save(w);
        if let Some(rtc) = rtc {
            rtc.save(w);
        }
        ram.save(w);
    }

    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        let Self { board: _, registers, rtc, ram, rom_banks: _, window: _ } = self;
        registers.load(r)?;
        if let Some(rtc) = rtc {
            rtc.load(r)?;
        }
        ram.load(r)?;
        self.remap();
        Ok(())
    }
}

impl Cart {
    /// A cartridge at power-on with `ram` bytes of RAM, a power of two or zero (MBC2 brings its own).
    pub(super) fn new(board: Board, ram: usize, rtc: bool) -> Self {
        let ram = if board.mapper == Mapper::Mbc2 { MBC2_RAM } else { ram };
        let mut cart = Self {
            board,
            registers: Registers {
                ram_enabled: board.mapper == Mapper::None,
                rom_bank: 1,
                ram_bank: 0,
                mode: false,
            },
            rtc: rtc.then(Rtc::default),
            ram: vec![0; ram],
            rom_banks: (0, ROM_BANK),
            window: Window::Closed,
        };
        cart.remap();
        cart
    }

    /// Works out what the registers select.
    fn remap(&mut self) {
        let Registers { ram_enabled, rom_bank, ram_bank, mode } = self.registers;
        let (rom_bank, ram_bank) = (usize::from(rom_bank), usize::from(ram_bank));
        let mut selected_ram = ram_bank;
        let (low, high) = match self.board.mapper {
            Mapper::Mbc1 => {
                let (upper, lower) = if self.board.multicart {
                    (ram_bank << 4, rom_bank & 0x0F)
                } else {
                    (ram_bank << 5, rom_bank)
                };
                selected_ram = if mode { ram_bank } else { 0 };
                (if mode { upper } else { 0 }, upper | lower)
            }
            Mapper::None | Mapper::Mbc2 | Mapper::Mbc3 | Mapper::Mbc5 => (0, rom_bank),
        };
        let offset = |bank: usize| (bank * ROM_BANK) & self.board.rom_mask;
        self.rom_banks = (offset(low), offset(high));

        self.window = match self.board.mapper {
            _ if !ram_enabled => Window::Closed,
            Mapper::Mbc2 => Window::HalfBytes,
            Mapper::Mbc3 if ram_bank >= 8 => match ram_bank {
                0x08..=0x0C if self.rtc.is_some() => Window::Clock(ram_bank - 8),
                _ => Window::Closed,
            },
            _ if self.ram.is_empty() => Window::Closed,
            _ => Window::Ram {
                base: (selected_ram * RAM_BANK) & (self.ram.len() - 1),
                mask: (RAM_BANK - 1) & (self.ram.len() - 1),
            },
        };
    }

    /// A CPU write to 0000–7FFF at `clock` (T-cycles since power-on). [`Cart::rom_banks`] may differ
    /// afterwards.
    pub fn write_control(&mut self, addr: u16, value: u8, clock: u64) {
        let registers = &mut self.registers;
        let bank_bits = self.board.rom_bank_bits();
        let nonzero = |bank: u16| (bank & bank_bits).max(1);
        let enables_ram = value & 0x0F == 0x0A;
        match (self.board.mapper, addr >> 12) {
            (Mapper::Mbc2, 0..=3) if addr & 0x100 == 0 => registers.ram_enabled = enables_ram,
            (Mapper::Mbc1 | Mapper::Mbc3, 0 | 1) => registers.ram_enabled = enables_ram,
            (Mapper::Mbc5, 0 | 1) => registers.ram_enabled = value == 0x0A,
            (Mapper::Mbc1 | Mapper::Mbc3, 2 | 3) | (Mapper::Mbc2, 0..=3) => {
                registers.rom_bank = nonzero(u16::from(value));
            }
            (Mapper::Mbc5, 2) => {
                registers.rom_bank = registers.rom_bank & 0x100 | u16::from(value);
            }
            (Mapper::Mbc5, 3) => {
                registers.rom_bank = registers.rom_bank & 0xFF | u16::from(value & 1) << 8;
            }
            (Mapper::Mbc1 | Mapper::Mbc3 | Mapper::Mbc5, 4 | 5) => {
                registers.ram_bank = value & self.board.ram_bank_bits();
            }
            (Mapper::Mbc1, 6 | 7) => registers.mode = value & 1 != 0,
            (Mapper::Mbc3, 6 | 7) => {
                if let Some(rtc) = &mut self.rtc {
                    rtc.write_latch(value, clock);
                }
                return;
            }
            _ => return,
        }
        self.remap();
    }

    /// Byte offsets into [`Rom::bytes`](super::Rom::bytes) of what is visible at 0000–3FFF and at
    /// 4000–7FFF. Both lie a whole bank before the end.
    #[inline]
    pub fn rom_banks(&self) -> (usize, usize) {
        self.rom_banks
    }

    /// A CPU read of A000–BFFF; FF where nothing answers.
    #[inline]
    pub fn read_ram(&self, addr: u16) -> u8 {
        let addr = usize::from(addr);
        match self.window {
            Window::Ram { base, mask } => self.byte(base + (addr & mask)),
            Window::Closed => OPEN_BUS,
            Window::HalfBytes => self.byte(addr % MBC2_RAM) | 0xF0,
            Window::Clock(register) => self.rtc.map_or(OPEN_BUS, |rtc| rtc.read(register)),
        }
    }

    #[inline]
    fn byte(&self, index: usize) -> u8 {
        self.ram.get(index).copied().unwrap_or(OPEN_BUS)
    }

    /// A CPU write to A000–BFFF at `clock` (T-cycles since power-on).
    #[inline]
    pub fn write_ram(&mut self, addr: u16, value: u8, clock: u64) {
        let addr = usize::from(addr);
        let (index, value) = match self.window {
            Window::Ram { base, mask } => (base + (addr & mask), value),
            Window::Closed => return,
            Window::HalfBytes => (addr % MBC2_RAM, value & 0x0F),
            Window::Clock(register) => {
                if let Some(rtc) = &mut self.rtc {
                    rtc.write(register, value, clock);
                }
                return;
            }
        };
        if let Some(byte) = self.ram.get_mut(index) {
            *byte = value;
        }
    }

    /// The whole RAM; empty where there is none. MBC2 keeps one half-byte per byte, in the low bits.
    pub fn ram(&self) -> &[u8] {
        &self.ram
    }

    /// Replaces the whole RAM, as a battery would have kept it.
    ///
    /// # Errors
    /// [`CartRamError`] when `bytes` has another size than [`Cart::ram`].
    pub fn load_ram(&mut self, bytes: &[u8]) -> Result<(), CartRamError> {
        if bytes.len() != self.ram.len() {
            return Err(CartRamError { got: bytes.len(), expected: self.ram.len() });
        }
        self.ram.copy_from_slice(bytes);
        if self.board.mapper == Mapper::Mbc2 {
            self.ram.iter_mut().for_each(|byte| *byte &= 0x0F);
        }
        Ok(())
    }

    /// What the clock shows at `clock` (T-cycles since power-on); `None` where there is no clock.
    pub fn rtc(&self, clock: u64) -> Option<RtcTime> {
        self.rtc.map(|rtc| rtc.time(clock))
    }

    /// Sets the clock, each field cut to the bits that the chip has. A game sees it after its next
    /// latch. False where there is no clock.
    pub fn set_rtc(&mut self, time: RtcTime, clock: u64) -> bool {
        self.rtc.as_mut().map(|rtc| rtc.set_time(time, clock)).is_some()
    }

    /// Stops (or lets go on) the clock from outside, unseen by the game, which can still read and
    /// write it. False where there is no clock.
    pub fn freeze_rtc(&mut self, frozen: bool, clock: u64) -> bool {
        self.rtc.as_mut().map(|rtc| rtc.set_frozen(frozen, clock)).is_some()
    }

    /// Whether [`Cart::freeze_rtc`] holds the clock.
    pub fn rtc_frozen(&self) -> bool {
        self.rtc.is_some_and(|rtc| rtc.frozen())
    }

    /// Whether every field is in its domain at `clock`, as a state from elsewhere must be.
    pub fn validate(&self, clock: u64) -> bool {
        let Registers { ram_enabled, rom_bank, ram_bank, mode } = self.registers;
        rom_bank & !self.board.rom_bank_bits() == 0
            && (rom_bank != 0 || self.board.mapper == Mapper::Mbc5)
            && ram_bank & !self.board.ram_bank_bits() == 0
            && (!mode || self.board.mapper == Mapper::Mbc1)
            && (ram_enabled || self.board.mapper != Mapper::None)
            && self.rtc.is_none_or(|rtc| rtc.validate(clock))
    }
}
