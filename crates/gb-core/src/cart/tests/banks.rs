use super::super::RtcTime;
use super::{image, Bench, Rom};

#[test]
fn no_mapper_has_its_ram_always_on_and_ignores_writes() {
    let mut bench = Bench::new(0x08, 0, 2);
    for addr in (0..0x8000).step_by(0x100) {
        bench.write(addr, 0);
    }
    assert_eq!(bench.banks(), (0, 1));
    bench.write(0xBFFF, 0x5A);
    assert_eq!((bench.read(0xBFFF), bench.read(0xA000)), (0x5A, 0));
    let mut bare = Bench::new(0x00, 0, 0);
    bare.write(0xA000, 0x12);
    assert_eq!(bare.read(0xA000), 0xFF);
}

#[test]
fn small_ram_repeats() {
    let mut bench = Bench::new(0x02, 0, 1);
    bench.write(0x0000, 0x0A);
    bench.write(0xA012, 0x34);
    assert_eq!((bench.read(0xA812), bench.read(0xB812)), (0x34, 0x34));
}

#[test]
fn only_the_right_values_enable_ram() {
    for kind in [0x03, 0x06, 0x13, 0x1B] {
        let mut bench = Bench::new(kind, 0, 2);
        let mut enabling = 0;
        for value in 0..=0xFF {
            bench.write(0x0000, 0x00);
            bench.write(0x0000, value);
            let enabled = bench.read(0xA000) != 0xFF
                || kind == 0x06 && {
                    bench.write(0xA000, 0x01);
                    bench.read(0xA000) == 0xF1
                };
            let expected = if kind == 0x1B { value == 0x0A } else { value & 0x0F == 0x0A };
            assert_eq!(enabled, expected, "kind {kind:02X} value {value:02X}");
            enabling += u32::from(enabled);
        }
        assert_eq!(enabling, if kind == 0x1B { 1 } else { 16 });
    }
}

#[test]
fn disabled_ram_takes_no_writes() {
    let mut bench = Bench::new(0x03, 0, 2);
    bench.write(0xA000, 0x77);
    bench.write(0x1FFF, 0x0A);
    assert_eq!(bench.read(0xA000), 0);
}

#[test]
fn mbc1_bank_zero_quirk_looks_at_five_bits() {
    let mut bench = Bench::new(0x01, 6, 0);
    for bank2 in 0..=0xFFu8 {
        for bank1 in 0..=0xFFu8 {
            bench.write(0x4000 + u16::from(bank1) * 0x20, bank2);
            bench.write(0x3FFF - u16::from(bank2) * 0x20, bank1);
            let upper = u16::from(bank2 & 3) << 5;
            let lower = u16::from(bank1 & 0x1F).max(1);
            bench.write(0x6000, 0xFE);
            assert_eq!(bench.banks(), (0, upper | lower));
            bench.write(0x7FFF, 0xFF);
            assert_eq!(bench.banks(), (upper, upper | lower));
        }
    }
}

#[test]
fn mbc1_small_rom_can_show_bank_zero_twice() {
    let mut bench = Bench::new(0x01, 2, 0);
    bench.write(0x2000, 0x10);
    assert_eq!(bench.banks(), (0, 0));
    bench.write(0x2000, 0x00);
    assert_eq!(bench.banks(), (0, 1));
}

#[test]
fn mbc1_mode_banks_the_ram() {
    let mut bench = Bench::new(0x03, 0, 3);
    bench.write(0x0000, 0x0A);
    bench.write(0x6000, 1);
    for bank in 0..4 {
        bench.write(0x4000, bank);
        bench.write(0xA000, 0x40 + bank);
    }
    for bank in 0..4 {
        bench.write(0x4000, bank);
        assert_eq!(bench.read(0xA000), 0x40 + bank);
    }
    bench.write(0x6000, 0);
    assert_eq!(bench.read(0xA000), 0x40);
    let stored = [0, 0x2000, 0x4000, 0x6000].map(|at| bench.cart.ram()[at]);
    assert_eq!(stored, [0x40, 0x41, 0x42, 0x43]);
}

#[test]
fn mbc1_multicart_is_found_and_wired_differently() {
    let logo: Vec<u8> = (1..=48).collect();
    let mut bytes = image(0x01, 5, 0);
    bytes[0x104..0x134].copy_from_slice(&logo);
    let mut single = Bench::with_image(&bytes);
    bytes[0x4_0104..0x4_0134].copy_from_slice(&logo);
    let mut multi = Bench::with_image(&bytes);
    for (bench, expected) in [(&mut single, (0x00, 0x12)), (&mut multi, (0x20, 0x22))] {
        bench.write(0x2000, 0x12);
        bench.write(0x4000, 2);
        bench.write(0x6000, 1);
        let (low, high) = bench.banks();
        assert_eq!((low & 0x3F, high & 0x3F), expected);
    }
    // The zero check still looks at five bits, so bank 0x10 of a game can be reached.
    multi.write(0x2000, 0x10);
    assert_eq!(multi.banks(), (0x20, 0x20));
    multi.write(0x2000, 0x00);
    assert_eq!(multi.banks(), (0x20, 0x21));
    // Blank logos say nothing.
    let mut blank = Bench::new(0x01, 5, 0);
    blank.write(0x2000, 0x12);
    assert_eq!(blank.banks(), (0, 0x12));
}

#[test]
fn pyboy_finds_a_multicart_where_every_bank_repeats_the_logo() {
    let logo: Vec<u8> = (1..=48).collect();
    let everywhere = |bytes: &mut [u8]| {
        for bank in bytes.chunks_exact_mut(0x4000) {
            bank[0x104..0x134].copy_from_slice(&logo);
        }
    };
    let banks = |bytes: &[u8]| {
        let rom = Rom::parse(bytes).unwrap();
        let mut bench = Bench { cart: rom.new_pyboy_cart(), rom, clock: 0 };
        bench.write(0x2000, 0x12);
        bench.write(0x4000, 2);
        bench.write(0x6000, 1);
        let (low, high) = bench.banks();
        (low & 0x3F, high & 0x3F)
    };
    let (single, multi) = ((0x00, 0x12), (0x20, 0x22));
    let mut bytes = image(0x01, 5, 0);
    assert_eq!(banks(&bytes), multi, "blank bytes are as good as a logo");
    bytes[0x104..0x134].copy_from_slice(&logo);
    assert_eq!(banks(&bytes), single);
    for game in [0x10, 0x20, 0x30] {
        bytes[game * 0x4000 + 0x104..game * 0x4000 + 0x134].copy_from_slice(&logo);
    }
    assert_eq!(banks(&bytes), single, "a real board with several games");
    everywhere(&mut bytes);
    assert_eq!(banks(&bytes), multi);
    bytes[63 * 0x4000 + 0x133] ^= 1;
    assert_eq!(banks(&bytes), single, "one byte off in the last bank");
    for code in [4, 6] {
        let mut other = image(0x01, code, 0);
        everywhere(&mut other);
        assert_eq!(banks(&other), single, "another size");
    }
}

#[test]
fn mbc2_tells_its_registers_apart_by_address_bit_8() {
    let mut bench = Bench::new(0x06, 3, 0);
    for page in 0..0x40u16 {
        bench.write(page << 8, 0x35);
        assert_eq!(bench.banks().1, if page & 1 == 0 { 1 } else { 5 });
        bench.write(0x0100, 0xF0);
        assert_eq!(bench.banks(), (0, 1));
    }
    for addr in (0x4000..0x8000).step_by(0x80) {
        bench.write(addr, 0x0A);
    }
    assert_eq!(bench.banks(), (0, 1));
    assert_eq!(bench.read(0xA000), 0xFF);
}

#[test]
fn mbc2_ram_is_512_half_bytes() {
    let mut bench = Bench::new(0x06, 0, 0);
    bench.write(0x3E00, 0x0A);
    bench.write(0xA1FF, 0x5C);
    bench.write(0xA200, 0x03);
    assert_eq!([0xA1FF, 0xBFFF, 0xA000].map(|addr| bench.read(addr)), [0xFC, 0xFC, 0xF3]);
    assert_eq!((bench.cart.ram().len(), bench.cart.ram()[0x1FF]), (512, 0x0C));
    bench.cart.load_ram(&[0xA5; 512]).unwrap();
    assert_eq!((bench.cart.ram()[7], bench.read(0xA007)), (0x05, 0xF5));
}

#[test]
fn mbc3_banks() {
    let mut bench = Bench::new(0x13, 6, 3);
    bench.write(0x0000, 0x0A);
    for (value, bank) in [(0x00, 1), (0x80, 1), (0x20, 0x20), (0xFF, 0x7F)] {
        bench.write(0x2000, value);
        assert_eq!(bench.banks(), (0, bank));
    }
    for bank in 0..4 {
        bench.write(0x5FFF, bank);
        bench.write(0xA000, bank + 1);
    }
    bench.write(0x4000, 6);
    assert_eq!(bench.read(0xA000), 3);
    for bank in 8..16 {
        bench.write(0x4000, bank);
        bench.write(0xA000, 0x99);
        assert_eq!(bench.read(0xA000), 0xFF);
    }
    assert!(!bench.cart.set_rtc(RtcTime::default(), 0) && bench.cart.rtc(0).is_none());
}

#[test]
fn mbc30_has_one_more_bit_in_each_bank_register() {
    let mut bench = Bench::new(0x10, 7, 5);
    bench.write(0x0000, 0x0A);
    bench.write(0x2000, 0x80);
    assert_eq!(bench.banks(), (0, 0x80));
    bench.write(0x4000, 7);
    bench.write(0xA000, 0x66);
    assert_eq!(bench.cart.ram()[7 * 0x2000], 0x66);
}

#[test]
fn mbc5_banks() {
    let mut bench = Bench::new(0x1B, 8, 4);
    bench.write(0x0000, 0x0A);
    for bank in [0u16, 1, 0x20, 0xFF, 0x100, 0x1FF] {
        bench.write(0x2FFF, bank as u8);
        bench.write(0x3FFF, 0xFE | (bank >> 8) as u8);
        assert_eq!(bench.banks(), (0, bank));
    }
    for bank in 0..16 {
        bench.write(0x4000, 0xF0 | bank);
        bench.write(0xA000, bank + 1);
    }
    assert_eq!(bench.cart.ram()[0xF * 0x2000], 0x10);
    bench.write(0x6000, 0x07);
    assert_eq!(bench.read(0xA000), 0x10);
}

#[test]
fn mbc5_motor_is_not_a_ram_bank() {
    let mut bench = Bench::new(0x1E, 0, 4);
    bench.write(0x0000, 0x0A);
    bench.write(0x4000, 0x0B);
    bench.write(0xA000, 0x21);
    assert_eq!(bench.cart.ram()[3 * 0x2000], 0x21);
}

#[test]
fn ram_goes_in_and_out_by_exact_size() {
    let mut bench = Bench::new(0x03, 0, 2);
    let bytes: Vec<u8> = (0..0x2000).map(|i| (i % 251) as u8).collect();
    bench.cart.load_ram(&bytes).unwrap();
    assert_eq!(bench.cart.ram(), bytes);
    let error = bench.cart.load_ram(&bytes[1..]).unwrap_err();
    assert_eq!(error.to_string(), "cartridge RAM: got 8191 bytes, expected 8192");
    assert_eq!(bench.cart.ram(), bytes);
}

#[test]
fn clone_from_copies_everything_in_place() {
    let mut source = Bench::clocked();
    source.write(0x2000, 3);
    source.write(0x4000, 2);
    source.write(0xA123, 0x44);
    let mut target = source.rom.new_cart();
    let buffer = target.ram().as_ptr();
    target.clone_from(&source.cart);
    assert_eq!(target, source.cart);
    assert_eq!(target.ram().as_ptr(), buffer);
    assert_eq!(source.cart.clone(), source.cart);
}
