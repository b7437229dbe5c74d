//! The immutable part of a cartridge.

use super::header::{self, Header, Kind, Mapper, HEADER_END};
use super::mapper::{Board, Cart};
use crate::cpu::{self, Plan, UNPLANNED};

const BANK_SIZE: usize = 0x4000;
/// Size of every MBC1 board that holds several games.
const MULTICART_SIZE: usize = 64 * BANK_SIZE;

/// Why an image is not a cartridge that can run here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RomError {
    /// There is no room for a header.
    #[error(
        "ROM: too short for a cartridge header: got {got} bytes, expected at least {HEADER_END}"
    )]
    TooShort {
        /// Length of the image in bytes.
        got: usize,
    },
    /// Byte 014D does not fit 0134–014C: damaged, or not a Game Boy ROM.
    #[error(
        "ROM header: checksum at 014D: got {got:02X}, expected {expected:02X}; \
         the image is damaged or not a Game Boy ROM"
    )]
    HeaderChecksum {
        /// The byte in the image.
        got: u8,
        /// The byte that the header asks for.
        expected: u8,
    },
    /// The cartridge needs hardware that is not emulated.
    #[error(
        "ROM header: cartridge type at 0147: got {code:02X} ({name}), \
         expected no mapper, MBC1, MBC2, MBC3 or MBC5"
    )]
    UnsupportedMapper {
        /// Byte 0147.
        code: u8,
        /// Name of the mapper, or `unknown`.
        name: &'static str,
    },
    /// Byte 0148 means nothing.
    #[error("ROM header: ROM size code at 0148: got {code:02X}, expected 00 to 08")]
    RomSize {
        /// Byte 0148.
        code: u8,
    },
    /// Byte 0149 means nothing.
    #[error("ROM header: RAM size code at 0149: got {code:02X}, expected 00 to 05")]
    RamSize {
        /// Byte 0149.
        code: u8,
    },
    /// The image ends before the header says so.
    #[error("ROM: truncated: got {got} bytes, expected {expected} from the size code at 0148")]
    Truncated {
        /// Length of the image in bytes.
        got: usize,
        /// Size in the header in bytes.
        expected: usize,
    },
    /// The image goes on with data after its end.
    #[error("ROM: oversized: got {got} bytes, expected {expected} from the size code at 0148")]
    Oversized {
        /// Length of the image in bytes.
        got: usize,
        /// Size in the header in bytes.
        expected: usize,
    },
}

/// A cartridge image that was checked once and never changes.
///
/// Its size is the one in the header: a power of two, at least 32 KiB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rom {
    header: Header,
    bytes: Box<[u8]>,
    /// What is executed at each place of the program.
    plan: Box<[u16]>,
    hash: u64,
}

impl Rom {
    /// Checks and copies an image.
    ///
    /// An image longer than its header says is accepted only when the rest is padding (one byte value,
    /// 00 or FF, all the way), which is dropped. The global checksum is reported, not asked for, as on
    /// the console.
    ///
    /// # Errors
    /// [`RomError`], of the first thing that is wrong in the order of its variants.
    pub fn parse(bytes: &[u8]) -> Result<Self, RomError> {
        if bytes.len() < HEADER_END {
            return Err(RomError::TooShort { got: bytes.len() });
        }
        let expected = header::header_checksum(bytes);
        if bytes[0x14D] != expected {
            return Err(RomError::HeaderChecksum { got: bytes[0x14D], expected });
        }
        let code = bytes[0x147];
        let kind = Kind::decode(code).map_err(|name| RomError::UnsupportedMapper { code, name })?;
        let code = bytes[0x148];
        let rom_size = header::rom_size(code).ok_or(RomError::RomSize { code })?;
        let code = bytes[0x149];
        let ram_size = header::ram_size(code).ok_or(RomError::RamSize { code })?;
        if bytes.len() < rom_size {
            return Err(RomError::Truncated { got: bytes.len(), expected: rom_size });
        }
        let (image, rest) = bytes.split_at(rom_size);
        if ![0x00, 0xFF].iter().any(|fill| rest.iter().all(|byte| byte == fill)) {
            return Err(RomError::Oversized { got: bytes.len(), expected: rom_size });
        }
        Ok(Self {
            header: Header::decode(image, kind, rom_size, ram_size),
            bytes: image.into(),
            plan: cpu::plan(image),
            hash: header::fnv1a(image),
        })
    }

    /// The decoded header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The title in the header. See [`Header::title`].
    pub fn title(&self) -> String {
        self.header.title.clone()
    }

    /// The image, without padding behind it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The plan of the bank at `offset`.
    pub(crate) fn plan(&self, offset: usize) -> &Plan {
        self.plan.get(offset..).and_then(|plan| plan.first_chunk()).unwrap_or(&UNPLANNED)
    }

    /// FNV-1a (64 bits) over [`Rom::bytes`]: the same in every process and version.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The cartridge as it is at power-on, with the RAM that the header names.
    pub fn new_cart(&self) -> Cart {
        let ram = if self.header.kind.ram { self.header.ram_size } else { 0 };
        Cart::new(self.board(self.has_second_game()), ram, self.header.kind.rtc)
    }

    /// The cartridge at power-on as `PyBoy` equips it: with RAM in whole banks of 8 KiB and at least
    /// one of them behind MBC1, MBC3 and MBC5, whatever the header says, and as a board with several
    /// games where every bank repeats the logo's bytes.
    pub fn new_pyboy_cart(&self) -> Cart {
        let Kind { mapper, ram, rtc, .. } = self.header.kind;
        let size =
            if mapper == Mapper::None && !ram { 0 } else { self.header.ram_size.max(0x2000) };
        Cart::new(self.board(self.repeats_the_logo()), size, rtc)
    }

    fn board(&self, several_games: bool) -> Board {
        let Kind { mapper, rumble, .. } = self.header.kind;
        Board {
            mapper,
            rom_mask: self.bytes.len() - 1,
            multicart: mapper == Mapper::Mbc1 && several_games,
            mbc30: mapper == Mapper::Mbc3
                && (self.bytes.len() > 0x20_0000 || self.header.ram_size > 0x8000),
            rumble,
        }
    }

    /// MBC1 boards with several games wire the chip differently and cannot be told apart by the
    /// header. They hold 1 MiB and each game brings a header, so the logo is there again at bank 0x10.
    ///
    /// # Source
    /// gb-ctr, MBC1, "Multicarts".
    fn has_second_game(&self) -> bool {
        const SECOND_GAME: usize = 0x10;
        let [Some(first), Some(second)] = [0, SECOND_GAME].map(|bank| self.logo(bank)) else {
            return false;
        };
        let blank = first.iter().all(|byte| *byte == first[0]);
        self.bytes.len() == MULTICART_SIZE && !blank && first == second
    }

    /// What `PyBoy` takes for such a board: 1 MiB with the same bytes where the logo is, whatever
    /// they are, in each of the 64 banks. The boards of [`Rom::has_second_game`] are not among them.
    ///
    /// # Source
    /// `PyBoy` 2.8.1, by its behaviour.
    fn repeats_the_logo(&self) -> bool {
        let first = self.logo(0);
        self.bytes.len() == MULTICART_SIZE
            && (1..self.bytes.len() / BANK_SIZE).all(|bank| self.logo(bank) == first)
    }

    /// The bytes of a bank that are the logo where it begins with a header.
    fn logo(&self, bank: usize) -> Option<&[u8]> {
        self.bytes.get(bank * BANK_SIZE + 0x104..bank * BANK_SIZE + 0x134)
    }
}
