//! The picture as two bit planes, and its export to the formats people use.

/// Pixels in a line.
pub const WIDTH: usize = 160;
/// Lines.
pub const HEIGHT: usize = 144;
/// Bytes of one bit plane of a line.
pub const PLANE: usize = WIDTH / 8;

/// A picture: for each line 20 bytes of the low bits and 20 bytes of the high bits of its shades
/// (0 = lightest, 3 = darkest); the leftmost pixel is the most significant bit.
pub type Planes = [[u8; 2 * PLANE]; HEIGHT];

/// The colours that a line of the Color's picture is made of: those of the background's palettes, then
/// those of the sprites'. Red is in bits 0–4, green in bits 5–9, blue in bits 10–14.
pub type Palettes = [u16; 64];

/// A picture of the Color. Pixels by number take half the room of colours, and palettes change between
/// lines only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colors {
    /// For each pixel the number of its colour, `0..64`, among those of its line.
    pub pixels: [[u8; WIDTH]; HEIGHT],
    /// The colours of each line.
    pub palettes: [Palettes; HEIGHT],
}
crate::state_fields!(Colors { pixels, palettes });

impl Colors {
    /// A picture of one colour.
    #[expect(clippy::large_stack_arrays, reason = "goes into a box at once")]
    pub(crate) const fn filled(color: u16) -> Self {
        Self { pixels: [[0; WIDTH]; HEIGHT], palettes: [[color; 64]; HEIGHT] }
    }

    /// Each line: the numbers of its pixels, and its colours.
    fn lines(&self) -> impl Iterator<Item = (&[u8; WIDTH], &Palettes)> {
        self.pixels.iter().zip(&self.palettes)
    }

    /// Makes every pixel `color`.
    pub(crate) fn fill(&mut self, color: u16) {
        self.pixels.as_flattened_mut().fill(0);
        self.palettes.as_flattened_mut().fill(color);
    }
}

/// Spreads the bits of a byte over eight bytes (the most significant bit first in memory).
pub(crate) const SPREAD: [u64; 256] = {
    let mut table = [0u64; 256];
    let mut v = 0;
    while v < 256 {
        let mut bit = 0;
        while bit < 8 {
            if v >> (7 - bit) & 1 != 0 {
                table[v] |= 1 << (8 * bit);
            }
            bit += 1;
        }
        v += 1;
    }
    table
};

/// Spreads the bits of a byte over the even bits of a 16-bit number.
const SPREAD2: [u16; 256] = {
    let mut table = [0u16; 256];
    let mut v = 0;
    while v < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[v] |= ((v as u16 >> bit) & 1) << (2 * bit);
            bit += 1;
        }
        v += 1;
    }
    table
};

/// Writes shades, one byte a pixel: `HEIGHT * WIDTH` bytes, 0 (lightest) to 3 (darkest).
///
/// # Panics
/// When `out` has another length.
pub fn shades_into(planes: &Planes, out: &mut [u8]) {
    assert_eq!(out.len(), WIDTH * HEIGHT, "length of the shade buffer");
    for (line, row) in planes.iter().zip(out.chunks_exact_mut(WIDTH)) {
        let (lo, hi) = line.split_at(PLANE);
        for ((&lo, &hi), px) in lo.iter().zip(hi).zip(row.chunks_exact_mut(8)) {
            let v = SPREAD[usize::from(lo)] | SPREAD[usize::from(hi)] << 1;
            px.copy_from_slice(&v.to_le_bytes());
        }
    }
}

/// Writes shades, two bits a pixel: `HEIGHT * WIDTH / 4` bytes, the leftmost of four pixels in the
/// high bits.
///
/// # Panics
/// When `out` has another length.
pub fn packed_into(planes: &Planes, out: &mut [u8]) {
    assert_eq!(out.len(), WIDTH * HEIGHT / 4, "length of the packed buffer");
    for (line, row) in planes.iter().zip(out.chunks_exact_mut(WIDTH / 4)) {
        let (lo, hi) = line.split_at(PLANE);
        for ((&lo, &hi), px) in lo.iter().zip(hi).zip(row.chunks_exact_mut(2)) {
            let v = SPREAD2[usize::from(lo)] | SPREAD2[usize::from(hi)] << 1;
            px.copy_from_slice(&v.to_be_bytes());
        }
    }
}

/// Writes colours, three bytes a pixel: `HEIGHT * WIDTH * 3` bytes; `palette[shade]` is R, G, B.
///
/// # Panics
/// When `out` has another length.
pub fn rgb_into(planes: &Planes, palette: &[[u8; 3]; 4], out: &mut [u8]) {
    assert_eq!(out.len(), WIDTH * HEIGHT * 3, "length of the RGB buffer");
    for (line, row) in planes.iter().zip(out.chunks_exact_mut(3 * WIDTH)) {
        let (lo, hi) = line.split_at(PLANE);
        for ((&lo, &hi), px) in lo.iter().zip(hi).zip(row.chunks_exact_mut(24)) {
            let shades = (SPREAD[usize::from(lo)] | SPREAD[usize::from(hi)] << 1).to_le_bytes();
            for (shade, rgb) in shades.iter().zip(px.chunks_exact_mut(3)) {
                rgb.copy_from_slice(&palette[usize::from(shade & 3)]);
            }
        }
    }
}

/// The eight bits of each of a colour's three parts: five bits, with the upper three repeated below.
fn rgb(color: u16) -> [u8; 3] {
    [0, 5, 10].map(|shift| {
        let part = (color >> shift & 0x1F) as u8;
        part << 3 | part >> 2
    })
}

/// The shade that comes closest to a colour: its brightness (2 R + 5 G + B) / 8, in four equal
/// steps; 0 is the lightest.
fn nearest_shade(color: u16) -> u8 {
    let part = |shift: u32| color >> shift & 0x1F;
    3 - ((2 * part(0) + 5 * part(5) + part(10)) / 64) as u8
}

/// A picture as the machine drew it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture<'a> {
    /// The four shades of the monochrome models.
    Shades(&'a Planes),
    /// The colours of the Color.
    Colors(&'a Colors),
}

impl Picture<'_> {
    /// Writes shades, one byte a pixel: `HEIGHT * WIDTH` bytes, 0 (lightest) to 3 (darkest); of
    /// colours, the brightness (2 R + 5 G + B) / 8 in four equal steps.
    ///
    /// # Panics
    /// When `out` has another length.
    pub fn shades_into(self, out: &mut [u8]) {
        match self {
            Self::Shades(planes) => shades_into(planes, out),
            Self::Colors(colors) => {
                assert_eq!(out.len(), WIDTH * HEIGHT, "length of the shade buffer");
                for ((numbers, palettes), row) in colors.lines().zip(out.chunks_exact_mut(WIDTH)) {
                    let shades = palettes.map(nearest_shade);
                    for (px, &number) in row.iter_mut().zip(numbers) {
                        *px = shades[usize::from(number & 0x3F)];
                    }
                }
            }
        }
    }

    /// Writes the same shades, two bits a pixel: `HEIGHT * WIDTH / 4` bytes, the leftmost of four
    /// pixels in the high bits.
    ///
    /// # Panics
    /// When `out` has another length.
    pub fn packed_into(self, out: &mut [u8]) {
        match self {
            Self::Shades(planes) => packed_into(planes, out),
            Self::Colors(colors) => {
                assert_eq!(out.len(), WIDTH * HEIGHT / 4, "length of the packed buffer");
                let rows = out.chunks_exact_mut(WIDTH / 4);
                for ((numbers, palettes), row) in colors.lines().zip(rows) {
                    let shades = palettes.map(nearest_shade);
                    for (px, four) in row.iter_mut().zip(numbers.chunks_exact(4)) {
                        *px = four.iter().fold(0, |v, &n| v << 2 | shades[usize::from(n & 0x3F)]);
                    }
                }
            }
        }
    }

    /// Writes colours, three bytes a pixel: `HEIGHT * WIDTH * 3` bytes. Shades become
    /// `palette[shade]`; each part of a colour is `c << 3 | c >> 2`.
    ///
    /// # Panics
    /// When `out` has another length.
    pub fn rgb_into(self, palette: &[[u8; 3]; 4], out: &mut [u8]) {
        match self {
            Self::Shades(planes) => rgb_into(planes, palette, out),
            Self::Colors(colors) => {
                assert_eq!(out.len(), WIDTH * HEIGHT * 3, "length of the RGB buffer");
                let rows = out.chunks_exact_mut(3 * WIDTH);
                for ((numbers, palettes), row) in colors.lines().zip(rows) {
                    let parts = palettes.map(rgb);
                    for (px, &number) in row.chunks_exact_mut(3).zip(numbers) {
                        px.copy_from_slice(&parts[usize::from(number & 0x3F)]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_have_their_bytes_and_shades() {
        let mut colors = Colors::filled(0);
        colors.pixels[0][..6].copy_from_slice(&[9, 8, 63, 1, 2, 3]);
        for (number, color) in [(9, 0x7FFF), (8, 0x001F), (63, 0x03E0), (1, 0x7C00), (2, 0x4210)] {
            colors.palettes[0][number] = color;
        }
        let picture = Picture::Colors(&colors);
        let mut rgb = vec![0; WIDTH * HEIGHT * 3];
        picture.rgb_into(&[[0; 3]; 4], &mut rgb);
        let expected = [[255, 255, 255], [255, 0, 0], [0, 255, 0], [0, 0, 255], [132, 132, 132]];
        assert_eq!(rgb[..15], *expected.as_flattened());
        let mut shades = vec![0; WIDTH * HEIGHT];
        picture.shades_into(&mut shades);
        assert_eq!(shades[..6], [0, 3, 1, 3, 1, 3]);
        let mut packed = vec![0; WIDTH * HEIGHT / 4];
        picture.packed_into(&mut packed);
        assert_eq!(packed[..2], [0b00_11_01_11, 0b01_11_11_11]);
    }

    #[test]
    fn the_three_formats_agree() {
        let mut planes = [[0; 2 * PLANE]; HEIGHT];
        let mut seed = 1u32;
        for b in planes.iter_mut().flatten() {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *b = (seed >> 24) as u8;
        }
        let mut shades = vec![0; WIDTH * HEIGHT];
        shades_into(&planes, &mut shades);
        for (i, &s) in shades.iter().enumerate() {
            let (y, x) = (i / WIDTH, i % WIDTH);
            let bit = |b: u8| b >> (7 - x % 8) & 1;
            assert_eq!(s, bit(planes[y][x / 8]) | bit(planes[y][PLANE + x / 8]) << 1);
        }
        let mut packed = vec![0; WIDTH * HEIGHT / 4];
        packed_into(&planes, &mut packed);
        for (i, &s) in shades.iter().enumerate() {
            assert_eq!(s, packed[i / 4] >> (6 - 2 * (i % 4)) & 3);
        }
        let palette = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]];
        let mut rgb = vec![0; WIDTH * HEIGHT * 3];
        rgb_into(&planes, &palette, &mut rgb);
        for (i, &s) in shades.iter().enumerate() {
            assert_eq!(rgb[3 * i..3 * i + 3], palette[usize::from(s)]);
        }
    }
}
