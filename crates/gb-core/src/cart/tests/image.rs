use super::super::header::{fnv1a, header_checksum};
use super::super::{CgbSupport, Rom, RomError};
use super::{image, Bench};

#[test]
fn header_is_decoded() {
    let mut bytes = image(0x10, 6, 3);
    bytes[0x134..0x144].copy_from_slice(b"POKEMON_SLVAAXE\x80");
    bytes[0x144..0x147].copy_from_slice(b"01\x03");
    bytes[0x14A..0x14D].copy_from_slice(&[1, 0x33, 2]);
    bytes[0x14D] = header_checksum(&bytes);
    let sum: u32 = bytes.iter().map(|&byte| u32::from(byte)).sum();
    bytes[0x14E..0x150].copy_from_slice(&(sum as u16).to_be_bytes());
    let rom = Rom::parse(&bytes).unwrap();
    let header = rom.header();
    assert_eq!(rom.title(), "POKEMON_SLVAAXE");
    assert_eq!(header.manufacturer.as_deref(), Some("AAXE"));
    assert_eq!((header.cgb, header.sgb), (CgbSupport::Enhanced, true));
    assert_eq!(header.kind.to_string(), "MBC3+TIMER+RAM+BATTERY");
    assert_eq!((header.rom_size, header.ram_size), (0x20_0000, 0x8000));
    assert_eq!((header.overseas, header.version), (true, 2));
    assert_eq!(header.licensee, "01");
    assert!(!header.logo_valid);
    assert_eq!(header.global_checksum, header.computed_global_checksum);
    assert_eq!(rom.bytes(), bytes);
}

#[test]
fn header_shows_strange_titles_and_old_licensees() {
    let mut bytes = image(0x00, 0, 0);
    bytes[0x134..0x140].copy_from_slice(b"A\x01B\xE9C  \0DEFG");
    bytes[0x14B] = 0xA4;
    bytes[0x14D] = header_checksum(&bytes);
    let rom = Rom::parse(&bytes).unwrap();
    assert_eq!(rom.title(), "A?B?C");
    assert_eq!(rom.header().manufacturer, None);
    assert_eq!(rom.header().licensee, "A4");
    assert_eq!(rom.header().kind.to_string(), "ROM");
}

#[test]
fn bad_images_say_what_is_wrong() {
    let message = |bytes: &[u8]| Rom::parse(bytes).unwrap_err().to_string();
    let good = image(0x01, 1, 0);
    assert_eq!(
        message(&good[..0x14F]),
        "ROM: too short for a cartridge header: got 335 bytes, expected at least 336"
    );
    assert_eq!(
        message(&good[..0x9000]),
        "ROM: truncated: got 36864 bytes, expected 65536 from the size code at 0148"
    );
    let mut bad = good.clone();
    bad[0x14D] ^= 0x40;
    assert!(matches!(
        Rom::parse(&bad),
        Err(RomError::HeaderChecksum { got, expected }) if got ^ expected == 0x40
    ));
    assert!(message(&image(0xFE, 0, 0)).contains("got FE (HuC3), expected no mapper, MBC1"));
    assert!(message(&image(0x42, 0, 0)).contains("got 42 (unknown)"));
    for (at, code) in [(0x148, 9), (0x148, 0x52), (0x149, 6)] {
        let mut bad = good.clone();
        bad[at] = code;
        bad[0x14D] = header_checksum(&bad);
        assert!(message(&bad).contains(&format!("size code at {at:04X}: got {code:02X}")));
    }
}

#[test]
fn padding_behind_the_image_is_dropped_and_data_refused() {
    let good = image(0x01, 1, 0);
    let rom = Rom::parse(&good).unwrap();
    for fill in [0x00, 0xFF] {
        let mut padded = good.clone();
        padded.resize(0x2_0000, fill);
        let from_padded = Rom::parse(&padded).unwrap();
        assert_eq!(from_padded, rom);
        padded[0x1_8000] ^= 1;
        assert_eq!(
            Rom::parse(&padded),
            Err(RomError::Oversized { got: 0x2_0000, expected: 0x1_0000 })
        );
    }
}

#[test]
fn hash_is_stable_and_depends_on_every_byte() {
    assert_eq!(fnv1a(b""), 0xCBF2_9CE4_8422_2325);
    assert_eq!(fnv1a(b"foobar"), 0x8594_4171_F739_67E8);
    let mut bytes = image(0x00, 0, 0);
    let before = Rom::parse(&bytes).unwrap().hash();
    bytes[0x7FFF] ^= 1;
    assert_ne!(Rom::parse(&bytes).unwrap().hash(), before);
}

#[test]
fn ram_needs_both_the_type_and_the_size() {
    for (kind, code, size) in
        [(0x02, 0, 0), (0x01, 2, 0), (0x02, 1, 0x800), (0x08, 2, 0x2000), (0x1A, 4, 0x2_0000)]
    {
        assert_eq!(Bench::new(kind, 0, code).cart.ram().len(), size, "kind {kind:02X}");
    }
    for (kind, code, size) in
        [(0x00, 2, 0), (0x01, 0, 0x2000), (0x02, 1, 0x2000), (0x13, 3, 0x8000), (0x06, 0, 512)]
    {
        let cart = Rom::parse(&image(kind, 0, code)).unwrap().new_pyboy_cart();
        assert_eq!(cart.ram().len(), size, "kind {kind:02X}");
    }
}
