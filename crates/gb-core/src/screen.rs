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

/// Spreads the bits of a byte over eight bytes (the most significant bit first in memory).
const SPREAD: [u64; 256] = {
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

#[cfg(test)]
mod tests {
    use super::*;

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
