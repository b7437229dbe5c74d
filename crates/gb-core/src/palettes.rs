//! The colours in which the Color shows a game that was made for the monochrome Game Boy.
//!
//! Its boot program knows ninety titles of its maker by the sum of their bytes, and where two sums
//! collide by the fourth letter too; all other games get the same colours. (The player's own choice,
//! a button held while the logo shows, is not offered.)
//!
//! Source: Pan Docs, "Power Up Sequence", "Compatibility palettes".

use crate::cart::Rom;

/// Four colours, from that of colour number 0.
pub(crate) type Palette = [u16; 4];

/// The sum of a title's bytes, and its fourth letter.
type Title = (u8, u8);

/// Any fourth letter.
const ANY: u8 = 0;

/// Sums of the titles that want the logo in the background when they begin.
const WITH_LOGO: [u8; 2] = [0x43, 0x58];

/// The palettes that games get. The first two are those of a game that is not known.
const PALETTES: [[u16; 4]; 30] = [
    [0x7FFF, 0x1BEF, 0x6180, 0x0000],
    [0x7FFF, 0x421F, 0x1CF2, 0x0000],
    [0x7E74, 0x03FF, 0x0180, 0x0000],
    [0x7FFF, 0x32BF, 0x00D0, 0x0000],
    [0x036A, 0x021F, 0x03FF, 0x7FFF],
    [0x7FFF, 0x7FFF, 0x7E8C, 0x7C00],
    [0x03ED, 0x7FFF, 0x255F, 0x0000],
    [0x7FFF, 0x03FF, 0x001F, 0x0000],
    [0x7FFF, 0x7EEB, 0x001F, 0x7C00],
    [0x7FFF, 0x7E8C, 0x7C00, 0x0000],
    [0x7FFF, 0x42B5, 0x3DC8, 0x0000],
    [0x7FFF, 0x01DF, 0x0112, 0x0000],
    [0x7FFF, 0x03EA, 0x011F, 0x0000],
    [0x299F, 0x001A, 0x000C, 0x0000],
    [0x7C00, 0x7FFF, 0x3FFF, 0x7E00],
    [0x7FFF, 0x5294, 0x294A, 0x0000],
    [0x67FF, 0x77AC, 0x1A13, 0x2D6B],
    [0x7FFF, 0x027F, 0x001F, 0x0000],
    [0x7FFF, 0x03E0, 0x0206, 0x0120],
    [0x4FFF, 0x7ED2, 0x3A4C, 0x1CE0],
    [0x231F, 0x035F, 0x00F2, 0x0009],
    [0x7FFF, 0x1BEF, 0x0200, 0x0000],
    [0x7FFF, 0x03EF, 0x01D6, 0x0000],
    [0x7FFF, 0x033F, 0x0193, 0x0000],
    [0x7FFF, 0x3FFF, 0x7E00, 0x001F],
    [0x0000, 0x4200, 0x037F, 0x7FFF],
    [0x7FFF, 0x6E31, 0x454A, 0x0000],
    [0x7ED6, 0x4BFF, 0x2175, 0x0000],
    [0x0000, 0x7FFF, 0x421F, 0x1CF2],
    [0x03FF, 0x001F, 0x000C, 0x0000],
];

/// What known games get: indices of the palettes of the background, of the sprites with OBP0, and of
/// those with OBP1.
const CHOICES: [([usize; 3], &[Title]); 44] = [
    ([2, 2, 2], &[(0x88, ANY)]),
    (
        [3, 3, 3],
        &[
            (0x16, ANY),
            (0x92, ANY),
            (0x35, ANY),
            (0x75, ANY),
            (0x99, ANY),
            (0x0C, ANY),
            (0xB7, ANY),
            (0x67, ANY),
        ],
    ),
    ([4, 5, 1], &[(0x36, ANY)]),
    ([6, 5, 3], &[(0xD1, ANY), (0xF0, ANY), (0xCE, ANY), (0xBF, b'C')]),
    ([7, 7, 7], &[(0xDB, ANY), (0x15, ANY)]),
    ([7, 7, 8], &[(0xF2, ANY), (0x69, ANY), (0x0D, b'R')]),
    ([9, 9, 1], &[(0x3C, ANY)]),
    ([10, 11, 10], &[(0x8C, ANY)]),
    ([12, 1, 1], &[(0x3D, ANY), (0x6A, b'I')]),
    ([2, 13, 14], &[(0x5C, ANY), (0x49, ANY), (0xB3, b'B'), (0x27, b'B')]),
    ([15, 15, 15], &[(0x58, ANY)]),
    ([16, 11, 9], &[(0xC9, ANY)]),
    ([17, 17, 8], &[(0x3E, ANY), (0xE0, ANY)]),
    ([1, 18, 9], &[(0x70, ANY)]),
    ([2, 13, 13], &[(0x1D, ANY)]),
    ([10, 11, 8], &[(0x59, ANY), (0xC6, b'A')]),
    ([17, 1, 1], &[(0x19, ANY)]),
    ([19, 20, 1], &[(0xA8, ANY), (0x86, ANY)]),
    ([1, 21, 1], &[(0x14, ANY)]),
    ([0, 1, 0], &[(0xAA, ANY)]),
    ([12, 12, 8], &[(0x95, ANY), (0xB3, b'R')]),
    ([22, 1, 1], &[(0x34, ANY), (0x66, b'E'), (0xF4, b' ')]),
    ([23, 23, 23], &[(0x6F, ANY)]),
    ([17, 17, 17], &[(0xFF, ANY), (0x71, ANY)]),
    ([3, 9, 9], &[(0x97, ANY), (0x39, ANY), (0x43, ANY)]),
    ([21, 1, 1], &[(0x4B, ANY), (0x90, ANY), (0x9A, ANY), (0xBD, ANY), (0x28, b'F')]),
    ([21, 1, 9], &[(0x17, ANY), (0x8B, ANY), (0x27, b'N'), (0x61, b'A')]),
    (
        [3, 9, 21],
        &[
            (0x10, ANY),
            (0xF6, ANY),
            (0x68, ANY),
            (0x29, ANY),
            (0x52, ANY),
            (0x01, ANY),
            (0x5D, ANY),
            (0x6D, ANY),
        ],
    ),
    ([3, 21, 9], &[(0xF7, ANY), (0xA2, ANY)]),
    ([9, 1, 24], &[(0x4E, ANY)]),
    ([25, 25, 25], &[(0xE8, ANY), (0x28, b'A'), (0xA5, b'A')]),
    ([26, 1, 3], &[(0x9D, ANY)]),
    ([26, 26, 20], &[(0x9C, ANY)]),
    ([26, 20, 8], &[(0x6B, ANY), (0x18, b'K'), (0x6A, b'K')]),
    ([10, 11, 11], &[(0xB3, b'U')]),
    ([27, 28, 28], &[(0x46, b'E')]),
    ([9, 29, 21], &[(0x46, b'R')]),
    ([3, 21, 21], &[(0xA5, b'R')]),
    ([26, 1, 26], &[(0xD3, b'R')]),
    ([10, 3, 9], &[(0xD3, b'I')]),
    ([9, 1, 9], &[(0x61, b'E')]),
    ([26, 1, 1], &[(0xBF, b' ')]),
    ([26, 20, 20], &[(0x0D, b'E')]),
    ([0, 1, 9], &[(0xF4, b'-')]),
];

/// What the boot program makes of a game for the monochrome Game Boy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The sum of the title's bytes; 0 of another maker's games.
    pub(crate) sum: u8,
    pub(crate) background: Palette,
    /// Of the sprites with OBP0 and with OBP1.
    pub(crate) sprites: [Palette; 2],
    /// Whether the logo is shown in the background.
    pub(crate) logo: bool,
}

impl Choice {
    /// For a game that is not known.
    pub(crate) const UNKNOWN: Self =
        Self { sum: 0, background: PALETTES[0], sprites: [PALETTES[1]; 2], logo: false };

    /// For the game in the slot.
    pub(crate) fn of(rom: &Rom) -> Self {
        let Some(header) = rom.bytes().get(..0x150).filter(|header| knows_maker(header)) else {
            return Self::UNKNOWN;
        };
        let title = &header[0x134..0x144];
        let sum = title.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        let known = |titles: &[Title]| {
            titles.iter().any(|&(s, letter)| s == sum && (letter == ANY || letter == title[3]))
        };
        let palettes = CHOICES.iter().find(|(_, titles)| known(titles)).map_or([0, 1, 1], |c| c.0);
        let [background, first, second] = palettes.map(|i| PALETTES[i]);
        Self { sum, background, sprites: [first, second], logo: WITH_LOGO.contains(&sum) }
    }
}

/// Whether a header names the console's maker as the game's: by code 01, old or new.
fn knows_maker(header: &[u8]) -> bool {
    match header[0x14B] {
        0x33 => &header[0x144..0x146] == b"01",
        old => old == 0x01,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(title: &str, old_licensee: u8, licensee: [u8; 2]) -> Choice {
        let mut image = vec![0; 0x8000];
        image[0x134..0x134 + title.len()].copy_from_slice(title.as_bytes());
        image[0x144..0x146].copy_from_slice(&licensee);
        image[0x14B] = old_licensee;
        let sum = |sum: u8, byte: &u8| sum.wrapping_sub(*byte).wrapping_sub(1);
        image[0x14D] = image[0x134..0x14D].iter().fold(0, sum);
        Choice::of(&Rom::parse(&image).unwrap())
    }

    /// The colours are those that the community lists for these games.
    #[test]
    fn known_titles_have_their_colours() {
        const RED: Palette = [0x7FFF, 0x421F, 0x1CF2, 0x0000];
        const BLUE: Palette = [0x7FFF, 0x7E8C, 0x7C00, 0x0000];
        const GREEN: Palette = [0x7FFF, 0x1BEF, 0x0200, 0x0000];
        const YELLOW: Palette = [0x7FFF, 0x03FF, 0x001F, 0x0000];
        let colors = |c: Choice| (c.sum, c.background, c.sprites);
        for code in [(0x01, *b"\0\0"), (0x33, *b"01")] {
            let of = |title| colors(choice(title, code.0, code.1));
            assert_eq!(of("POKEMON RED"), (0x14, RED, [GREEN, RED]));
            assert_eq!(of("POKEMON BLUE"), (0x61, BLUE, [RED, BLUE]));
            assert_eq!(of("TETRIS"), (0xDB, YELLOW, [YELLOW; 2]));
        }
    }

    #[test]
    fn other_makers_titles_and_letters_are_unknown() {
        assert_eq!(choice("TETRIS", 0x33, *b"02"), Choice::UNKNOWN);
        assert_eq!(choice("TETRIS", 0x08, *b"01"), Choice::UNKNOWN);
        // The sum of a known title with another fourth letter.
        let collides = choice("POKDMON BLUF", 0x01, *b"\0\0");
        assert_eq!(collides, Choice { sum: 0x61, ..Choice::UNKNOWN });
    }

    #[test]
    fn every_title_is_listed_once_and_every_palette_is_used() {
        let titles: Vec<Title> = CHOICES.iter().flat_map(|(_, titles)| *titles).copied().collect();
        assert_eq!(titles.len(), 89);
        for (i, &(sum, letter)) in titles.iter().enumerate() {
            let again = titles[..i].iter().find(|t| t.0 == sum && (t.1 == letter || t.1 == ANY));
            assert_eq!(again, None, "{sum:02X}");
        }
        for i in 2..PALETTES.len() {
            assert!(CHOICES.iter().any(|(palettes, _)| palettes.contains(&i)), "palette {i}");
        }
    }

    #[test]
    fn the_logo_shows_for_two_sums() {
        assert!(choice("X", 0x01, *b"\0\0").logo);
        assert!(choice("C", 0x01, *b"\0\0").logo);
        assert!(!choice("X", 0x02, *b"\0\0").logo);
        assert!(!choice("Y", 0x01, *b"\0\0").logo);
    }
}
