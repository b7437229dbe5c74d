//! Pictures as observations.

use gb_core::Picture;

/// Height of the screen in pixels.
pub const HEIGHT: usize = 144;
/// Width of the screen in pixels.
pub const WIDTH: usize = 160;

/// The colours of the four shades, lightest first.
pub type Palette = [[u8; 3]; 4];

/// Four greys, as `PyBoy` shows a DMG.
pub const DEFAULT_PALETTE: Palette =
    [[0xFF, 0xFF, 0xFF], [0x99, 0x99, 0x99], [0x55, 0x55, 0x55], [0x00, 0x00, 0x00]];

/// The layout of one picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One byte a pixel, 0 (lightest) to 3 (darkest); of the Color, the brightness in four steps.
    Shades,
    /// Red, green and blue bytes of a palette colour, or of the Color's own.
    Rgb,
    /// Two bits a pixel, the leftmost of four pixels in the high bits.
    Packed,
}

/// How pictures leave the batch.
#[derive(Debug, Clone, Copy)]
pub struct Observation {
    /// The layout.
    pub format: Format,
    /// The colours of [`Format::Rgb`] on a monochrome model.
    pub palette: Palette,
}

impl Observation {
    /// The same colours in another layout, if one is given.
    pub fn with_format(self, format: Option<Format>) -> Self {
        Self { format: format.unwrap_or(self.format), ..self }
    }

    /// The shape of one picture.
    pub fn shape(self) -> &'static [usize] {
        match self.format {
            Format::Shades => &[HEIGHT, WIDTH],
            Format::Rgb => &[HEIGHT, WIDTH, 3],
            Format::Packed => &[HEIGHT, WIDTH / 4],
        }
    }

    /// The bytes of one picture.
    pub fn bytes(self) -> usize {
        self.shape().iter().product()
    }

    /// Writes the picture into `out`, which holds [`Observation::bytes`].
    pub fn write(self, picture: Picture<'_>, out: &mut [u8]) {
        match self.format {
            Format::Shades => picture.shades_into(out),
            Format::Rgb => picture.rgb_into(&self.palette, out),
            Format::Packed => picture.packed_into(out),
        }
    }
}
