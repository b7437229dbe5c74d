//! Machines, small programs and pictures.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Seek};
use std::path::Path;
use std::sync::Arc;

use gb_core::cart::Rom;
use gb_core::screen::{HEIGHT, WIDTH};
use gb_core::{GameBoy, Model, Profile};

use crate::split_mix::split_mix;

/// T-cycles in one frame.
pub const FRAME: u64 = 70_224;

/// A machine at power-on with the ROM in `path`.
pub fn boot(path: &Path, profile: Profile) -> GameBoy {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    insert(&bytes, profile)
}

/// A machine of a given model, with the hardware's profile.
pub fn boot_model(path: &Path, model: Model) -> GameBoy {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    GameBoy::with_model(Arc::new(Rom::parse(&bytes).unwrap()), Profile::Hardware, model)
}

/// A machine at power-on with a cartridge image.
pub fn insert(image: &[u8], profile: Profile) -> GameBoy {
    GameBoy::new(Arc::new(Rom::parse(image).unwrap()), profile)
}

/// Makes the header of a 32 KiB image good: cartridge type, no more ROM, RAM size code, checksum.
pub fn fix_header(image: &mut [u8], kind: u8, ram_code: u8) {
    (image[0x147], image[0x148], image[0x149]) = (kind, 0, ram_code);
    image[0x14D] =
        image[0x134..0x14D].iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte).wrapping_sub(1));
}

/// A stream of reproducible choices.
pub struct Choices(pub u64);

impl Choices {
    pub fn next(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// The picture of a machine: one byte a pixel, 0 (lightest) to 3 (darkest).
pub fn shades(machine: &GameBoy) -> Vec<u8> {
    let mut out = vec![0; WIDTH * HEIGHT];
    machine.picture().shades_into(&mut out);
    out
}

/// The picture of a machine: red, green and blue.
pub fn rgb(machine: &GameBoy) -> Vec<u8> {
    let mut out = vec![0; WIDTH * HEIGHT * 3];
    machine.picture().rgb_into(&[[255; 3], [170; 3], [85; 3], [0; 3]], &mut out);
    out
}

/// Reads a picture's bytes; gives how many make up a pixel, too.
pub fn read_pixels(path: &Path) -> (Vec<u8>, usize) {
    decode(open(path), &path.display().to_string())
}

/// Reads a picture whose greys (or colours) stand for the four shades.
pub fn read_shades(path: &Path) -> Vec<u8> {
    let greens = read_greens(open(path), &path.display().to_string());
    greens.into_iter().map(|green| 3 - ((u16::from(green) * 3 + 127) / 255) as u8).collect()
}

/// The green channel of a PNG called `name`, which is the grey of a grey picture too.
pub fn read_greens(png: impl BufRead + Seek, name: &str) -> Vec<u8> {
    let (pixels, channels) = decode(png, name);
    let green = usize::from(channels >= 3);
    pixels.chunks_exact(channels).map(|pixel| pixel[green]).collect()
}

/// Pixels of a machine's picture that differ from a reference by more than the low bits that PNGs
/// of five-bit colours round in several ways.
pub fn different_colors(machine: &GameBoy, reference: &Path) -> usize {
    let (expected, channels) = read_pixels(reference);
    let got = rgb(machine);
    got.chunks_exact(3)
        .zip(expected.chunks_exact(channels))
        .filter(|(got, expected)| {
            // A grey picture has one channel for all three.
            got.iter().zip(expected.iter().cycle()).any(|(a, b)| a >> 3 != b >> 3)
        })
        .count()
}

fn open(path: &Path) -> BufReader<File> {
    BufReader::new(File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// The bytes of a PNG called `name`, and how many make up a pixel.
fn decode(png: impl BufRead + Seek, name: &str) -> (Vec<u8>, usize) {
    let mut decoder = png::Decoder::new(png);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width as usize, info.height as usize), (WIDTH, HEIGHT), "{name}");
    (pixels, info.color_type.samples())
}

/// Compares a picture with the one in `reference`; writes both to the build folder where they
/// differ.
pub fn check_picture(name: &str, machine: &GameBoy, reference: &Path) -> Result<(), String> {
    let (got, expected) = (shades(machine), read_shades(reference));
    let different = got.iter().zip(&expected).filter(|(got, expected)| got != expected).count();
    if different == 0 {
        return Ok(());
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (kind, picture) in [("actual", &got), ("expected", &expected)] {
        write_shades(&folder.join(format!("{name}-{kind}.png")), picture);
    }
    Err(format!(
        "{different} of {} pixels differ; see {name}-actual.png and {name}-expected.png in {}",
        got.len(),
        folder.display()
    ))
}

fn write_shades(path: &Path, shades: &[u8]) {
    let file = BufWriter::new(File::create(path).unwrap());
    let mut encoder = png::Encoder::new(file, WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Grayscale);
    let greys: Vec<u8> = shades.iter().map(|shade| 255 - shade * 85).collect();
    encoder.write_header().unwrap().write_image_data(&greys).unwrap();
}
