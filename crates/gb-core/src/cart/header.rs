//! The cartridge header, 0100–014F.

/// Shortest image that holds a whole header, in bytes.
pub(super) const HEADER_END: usize = 0x150;

/// What is wired between the console and the ROM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapper {
    /// No controller: 32 KiB of ROM and perhaps a RAM.
    None,
    /// MBC1, also on multicart boards.
    Mbc1,
    /// MBC2 with its 512 half-bytes of RAM.
    Mbc2,
    /// MBC3 and, where the sizes ask for it, MBC30.
    Mbc3,
    /// MBC5.
    Mbc5,
}

impl Mapper {
    /// The usual name of the chip.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "ROM",
            Self::Mbc1 => "MBC1",
            Self::Mbc2 => "MBC2",
            Self::Mbc3 => "MBC3",
            Self::Mbc5 => "MBC5",
        }
    }
}

/// The cartridge type, byte 0147.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The byte itself.
    pub code: u8,
    /// The memory controller.
    pub mapper: Mapper,
    /// A RAM chip is fitted (MBC2 has its own RAM and says no here).
    pub ram: bool,
    /// A battery keeps the RAM or the clock.
    pub battery: bool,
    /// A real-time clock is fitted.
    pub rtc: bool,
    /// A rumble motor is fitted.
    pub rumble: bool,
}

impl Kind {
    /// Decodes the cartridge type.
    ///
    /// # Errors
    /// The name of a mapper that is not supported.
    pub(super) fn decode(code: u8) -> Result<Self, &'static str> {
        let (mapper, extras) = match code {
            0x00 => (Mapper::None, ""),
            0x01 => (Mapper::Mbc1, ""),
            0x02 => (Mapper::Mbc1, "r"),
            0x03 => (Mapper::Mbc1, "rb"),
            0x05 => (Mapper::Mbc2, ""),
            0x06 => (Mapper::Mbc2, "b"),
            0x08 => (Mapper::None, "r"),
            0x09 => (Mapper::None, "rb"),
            0x0B..=0x0D => return Err("MMM01"),
            0x0F => (Mapper::Mbc3, "tb"),
            0x10 => (Mapper::Mbc3, "trb"),
            0x11 => (Mapper::Mbc3, ""),
            0x12 => (Mapper::Mbc3, "r"),
            0x13 => (Mapper::Mbc3, "rb"),
            0x19 => (Mapper::Mbc5, ""),
            0x1A => (Mapper::Mbc5, "r"),
            0x1B => (Mapper::Mbc5, "rb"),
            0x1C => (Mapper::Mbc5, "m"),
            0x1D => (Mapper::Mbc5, "mr"),
            0x1E => (Mapper::Mbc5, "mrb"),
            0x20 => return Err("MBC6"),
            0x22 => return Err("MBC7"),
            0xFC => return Err("Pocket Camera"),
            0xFD => return Err("Bandai TAMA5"),
            0xFE => return Err("HuC3"),
            0xFF => return Err("HuC1"),
            _ => return Err("unknown"),
        };
        Ok(Self {
            code,
            mapper,
            ram: extras.contains('r'),
            battery: extras.contains('b'),
            rtc: extras.contains('t'),
            rumble: extras.contains('m'),
        })
    }
}

impl std::fmt::Display for Kind {
    /// For example `MBC3+TIMER+RAM+BATTERY`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.mapper.name())?;
        let extras = [
            (self.rtc, "+TIMER"),
            (self.rumble, "+RUMBLE"),
            (self.ram, "+RAM"),
            (self.battery, "+BATTERY"),
        ];
        for (_, name) in extras.into_iter().filter(|(fitted, _)| *fitted) {
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// What the game says about Game Boy Color, byte 0143.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CgbSupport {
    /// Made for the monochrome Game Boy.
    None,
    /// Runs on both, with colour on the newer one.
    Enhanced,
    /// Asks for a Game Boy Color.
    Required,
}

/// Everything that the header says, decoded.
///
/// # Source
/// Pan Docs, "The Cartridge Header".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The title up to its first NUL byte; bytes outside printable ASCII show as `?`. Games for the
    /// Color have 15 bytes for it, of which the last four may be [`Header::manufacturer`].
    pub title: String,
    /// Bytes 013F–0142 where they look like a manufacturer code: capital letters and digits in a
    /// header with a Color flag. Titles of 15 characters can look the same.
    pub manufacturer: Option<String>,
    /// Byte 0143.
    pub cgb: CgbSupport,
    /// Byte 0146 is 03: the game uses Super Game Boy functions.
    pub sgb: bool,
    /// Byte 0147.
    pub kind: Kind,
    /// Byte 0148, decoded: size of the ROM in bytes.
    pub rom_size: usize,
    /// Byte 0149, decoded: size of the RAM in bytes as the header has it. MBC2 says zero and has 512
    /// half-bytes.
    pub ram_size: usize,
    /// Byte 014A is 01: not sold in Japan.
    pub overseas: bool,
    /// The licensee: two characters (bytes 0144–0145) where byte 014B is 33, else byte 014B as two
    /// hexadecimal digits.
    pub licensee: String,
    /// Byte 014C.
    pub version: u8,
    /// Whether 0104–0133 holds the logo that the boot code of the console asks for.
    pub logo_valid: bool,
    /// Byte 014D; equal to the sum of 0134–014C, or the image would have been refused.
    pub header_checksum: u8,
    /// Bytes 014E–014F. No console checks them.
    pub global_checksum: u16,
    /// What [`Header::global_checksum`] should be: the sum of all other bytes of the image.
    pub computed_global_checksum: u16,
}

/// FNV-1a of the logo that the boot code compares with 0104–0133.
const LOGO_HASH: u64 = 0x0E13_F858_5A99_F41F;

/// FNV-1a, 64 bits.
pub(super) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

/// The header checksum as the boot code computes it. `image` holds at least [`HEADER_END`] bytes.
pub(super) fn header_checksum(image: &[u8]) -> u8 {
    image[0x134..0x14D].iter().fold(0u8, |sum, &byte| sum.wrapping_sub(byte).wrapping_sub(1))
}

/// Size in bytes of the ROM with size code `code`. The codes 52–54 of some old lists were never
/// seen on a cartridge.
pub(super) const fn rom_size(code: u8) -> Option<usize> {
    if code <= 8 {
        Some(0x8000 << code)
    } else {
        None
    }
}

/// Size in bytes of the RAM with size code `code`. Code 1 (2 KiB) is used by homebrew only.
pub(super) const fn ram_size(code: u8) -> Option<usize> {
    match code {
        0 => Some(0),
        1 => Some(0x800),
        2 => Some(0x2000),
        3 => Some(0x8000),
        4 => Some(0x2_0000),
        5 => Some(0x1_0000),
        _ => None,
    }
}

/// The bytes up to the first NUL as text.
fn text(bytes: &[u8]) -> String {
    bytes
        .iter()
        .take_while(|&&byte| byte != 0)
        .map(|&byte| if matches!(byte, 0x20..=0x7E) { char::from(byte) } else { '?' })
        .collect()
}

impl Header {
    /// Decodes the header of a whole `image` whose type and sizes are known to be good.
    pub(super) fn decode(image: &[u8], kind: Kind, rom_size: usize, ram_size: usize) -> Self {
        let cgb = match image[0x143] {
            flag if flag & 0xC0 == 0xC0 => CgbSupport::Required,
            flag if flag & 0x80 != 0 => CgbSupport::Enhanced,
            _ => CgbSupport::None,
        };
        let (title_end, code) = match cgb {
            CgbSupport::None => (0x144, None),
            _ => (0x143, Some(&image[0x13F..0x143])),
        };
        let is_code = |code: &&[u8]| {
            code.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        };
        let global_checksum = u16::from_be_bytes([image[0x14E], image[0x14F]]);
        let sum = image.iter().fold(0u16, |sum, &byte| sum.wrapping_add(u16::from(byte)));
        let stored = u16::from(image[0x14E]) + u16::from(image[0x14F]);
        Self {
            title: text(&image[0x134..title_end]).trim_end().to_owned(),
            manufacturer: code.filter(is_code).map(text),
            cgb,
            sgb: image[0x146] == 0x03,
            kind,
            rom_size,
            ram_size,
            overseas: image[0x14A] == 0x01,
            licensee: match image[0x14B] {
                0x33 => text(&image[0x144..0x146]),
                old => format!("{old:02X}"),
            },
            version: image[0x14C],
            logo_valid: fnv1a(&image[0x104..0x134]) == LOGO_HASH,
            header_checksum: image[0x14D],
            global_checksum,
            computed_global_checksum: sum.wrapping_sub(stored),
        }
    }
}
