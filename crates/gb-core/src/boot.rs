//! What a boot program leaves behind at 0100, per profile.

use crate::{
    apu::Apu,
    cart::{CgbSupport, Rom},
    cgb::Cgb,
    cpu::{Cpu, Flags, Pair},
    dma::OamDma,
    joypad::Joypad,
    machine::Machine,
    palettes::Choice,
    ppu::{color::Color, Ppu},
    serial::Serial,
    speed::Speed,
    timer::Timer,
    Model, Profile, Revision,
};

/// Registers and positions at the moment PC first is 0100.
pub(crate) struct Boot {
    pub(crate) clock: u64,
    counter: u16,
    /// Line and dot of the PPU.
    ppu: (u8, u64),
    af: u16,
    bc: u16,
    de: u16,
    hl: u16,
    joypad_select: u8,
    joypad_latch: u8,
}

/// DMG-ABC. The boot program takes about 23.4 million T-cycles; its low 16 bits are what DIV shows.
///
/// Source: mooneye `acceptance/boot_*-dmgABC`, Pan Docs "Power Up Sequence".
const HARDWARE: Boot = Boot {
    clock: 357 * 0x1_0000 + 0xABC8,
    counter: 0xABC8,
    ppu: (153, 396),
    af: 0x01B0,
    bc: 0x0013,
    de: 0x00D8,
    hl: 0x014D,
    joypad_select: 0x00,
    joypad_latch: 0xCF,
};

/// `PyBoy` 2.8.1 with its own boot program.
///
/// Source: measured, PC first at 0100 at T-cycle 4,507,360, in dot 112 of line 145.
const PYBOY: Boot = Boot {
    clock: 4_507_360,
    counter: 0xC6E0,
    ppu: (145, 116),
    af: 0x01D0,
    bc: 0x0013,
    de: 0x008F,
    hl: 0x0087,
    joypad_select: 0x30,
    joypad_latch: 0x00,
};

/// CGB-ABCDE with a game made for it.
///
/// Source: Pan Docs "Power Up Sequence"; the moment as other accurate emulators have it.
const HARDWARE_COLOR: Boot = Boot {
    clock: 200 * 0x1_0000 + 0x1E9C,
    counter: 0x1E9C,
    ppu: (144, 168),
    de: 0xFF56,
    hl: 0x000D,
    ..HARDWARE_COMPATIBLE
};

/// CGB-ABCDE with a DMG game that the boot program does not know. (How long it takes to find out about a
/// game is not known: the moment is the same for all.)
///
/// Source: mooneye `misc/boot_*-C`, `misc/boot_*-cgb*`; Pan Docs "Power Up Sequence".
const HARDWARE_COMPATIBLE: Boot = Boot {
    clock: 200 * 0x1_0000 + 0x2674,
    counter: 0x2674,
    ppu: (148, 352),
    af: 0x1180,
    bc: 0x0000,
    de: 0x0008,
    hl: 0x007C,
    joypad_select: 0x30,
    joypad_latch: 0xFF,
};

/// `PyBoy` 2.8.1 with its own boot program for the Color.
///
/// Source: measured.
const PYBOY_COLOR: Boot = Boot {
    clock: 4_507_420,
    counter: 0xC71C,
    ppu: (145, 176),
    af: 0x1180,
    bc: 0x0000,
    de: 0x0008,
    hl: 0x007C,
    joypad_select: 0x30,
    joypad_latch: 0x00,
};

/// The same with a DMG game, whose colours take it longer; they are the same for all of them.
///
/// Source: measured.
const PYBOY_COMPATIBLE: Boot =
    Boot { clock: 4_507_436, counter: 0xC72C, ppu: (145, 192), ..PYBOY_COLOR };

/// The colours in each of the reference's palettes.
const PYBOY_PALETTE: [u16; 4] = [0x1CE7, 0x1E19, 0x7E31, 0x217B];

fn made_for_color(rom: &Rom) -> bool {
    rom.header().cgb != CgbSupport::None
}

impl Boot {
    pub(crate) fn of(profile: Profile, model: Model, rom: &Rom) -> Self {
        let mut boot = match (profile, model) {
            (Profile::Hardware, Model::Dmg) => HARDWARE,
            (Profile::Hardware, Model::Cgb) if made_for_color(rom) => HARDWARE_COLOR,
            (Profile::Hardware, Model::Cgb) => HARDWARE_COMPATIBLE,
            (Profile::PyBoy, Model::Dmg) => PYBOY,
            (Profile::PyBoy, Model::Cgb) if made_for_color(rom) => PYBOY_COLOR,
            (Profile::PyBoy, Model::Cgb) => PYBOY_COMPATIBLE,
        };
        if profile == Profile::Hardware && model == Model::Cgb && !made_for_color(rom) {
            let Choice { sum, logo, .. } = Choice::of(rom);
            boot.bc = u16::from(sum) << 8;
            // Where the boot program's search for a title that wants the logo ends.
            boot.hl = if logo { 0x991A } else { boot.hl };
        }
        if profile == Profile::Hardware && model == Model::Dmg && rom.bytes()[0x14D] == 0 {
            // The last computation is the header checksum, whose carries stay in F.
            boot.af = 0x0180;
        }
        boot
    }

    pub(crate) fn cpu(&self) -> Cpu {
        let [a, f] = self.af.to_be_bytes();
        Cpu {
            a,
            flags: Flags::from_byte(f),
            bc: Pair::new(self.bc),
            de: Pair::new(self.de),
            hl: Pair::new(self.hl),
            sp: 0xFFFE,
            pc: 0x0100,
            ..Cpu::default()
        }
    }

    pub(crate) fn machine(
        &self,
        rom: &Rom,
        profile: Profile,
        model: Model,
        revision: Revision,
    ) -> Machine {
        let clock = self.clock;
        let (line, dot) = self.ppu;
        let timer = Timer::new(clock, self.counter);
        let reference = profile == Profile::PyBoy;
        let apu = match (profile, model) {
            (Profile::PyBoy, _) => Apu::after_pyboy_boot(clock, timer.div_base),
            (Profile::Hardware, Model::Dmg) => Apu::after_boot(clock, timer.div_base),
            (Profile::Hardware, Model::Cgb) => {
                Apu::after_color_boot(clock, timer.div_base, revision)
            }
        };
        let mut m = Machine {
            clock,
            horizon: 0,
            next_event: 0,
            rom_at: [0; 2],
            wram: [0; 0x2000],
            hram: [0; 0x80],
            unusable: [0; 0x60],
            interrupt_flags: 0x01,
            ppu: Ppu::after_boot(reference, clock, line, dot),
            timer,
            serial: Serial::new(reference, model == Model::Cgb && made_for_color(rom)),
            joypad: Joypad::new(self.joypad_select, reference, self.joypad_latch),
            dma: OamDma::new(0xFF),
            apu,
            // The reference equips cartridges in its own way.
            cart: if reference { rom.new_pyboy_cart() } else { rom.new_cart() },
            profile,
            stall: 0,
            speed: Speed::default(),
            cgb: (model == Model::Cgb).then(|| Box::new(Cgb::new())),
        };
        if model == Model::Cgb {
            m.ppu.set_color(color(rom, reference, revision));
        }
        m.remap();
        match profile {
            Profile::Hardware => {
                draw_logo(&mut m.ppu.vram, rom);
                let kept = !made_for_color(rom) && Choice::of(rom).logo;
                if model == Model::Dmg || kept {
                    show_logo(&mut m.ppu.vram);
                }
            }
            Profile::PyBoy => {
                draw_pyboy_logo(&mut m.ppu.vram);
                m.ppu.draw_all();
                if let Some(color) = m.ppu.color.as_mut().filter(|color| color.compatible()) {
                    color.choose(&Choice::UNKNOWN);
                }
                m.hram[0x7C] = if model == Model::Cgb { 0xB0 } else { 0xB1 };
            }
        }
        m
    }
}

/// The Color's palettes: those of a DMG game are the boot program's choice, which the reference makes
/// only after it has drawn its picture.
fn color(rom: &Rom, reference: bool, revision: Revision) -> Box<Color> {
    let compatible = !made_for_color(rom);
    let mut color = Box::new(Color::new(compatible, revision));
    if reference {
        color.set_palettes(&PYBOY_PALETTE.repeat(8), &PYBOY_PALETTE.repeat(8));
    } else if compatible {
        color.choose(&Choice::of(rom));
    }
    color
}

/// The logo of the header, each pixel doubled in both directions, and the trademark sign, as tiles.
fn draw_logo(vram: &mut [u8; 0x2000], rom: &Rom) {
    let double = |nibble: u8| (0..4).fold(0u8, |v, i| v | (nibble >> i & 1) * 3 << (2 * i));
    let mut at = 0x10;
    for &byte in &rom.bytes()[0x104..0x134] {
        for nibble in [byte >> 4, byte & 0x0F] {
            let row = double(nibble);
            vram[at] = row;
            vram[at + 2] = row;
            at += 4;
        }
    }
    for row in [0x3C, 0x42, 0xB9, 0xA5, 0xB9, 0xA5, 0x42, 0x3C] {
        vram[at] = row;
        at += 2;
    }
}

/// The map entries that show it.
fn show_logo(vram: &mut [u8; 0x2000]) {
    for i in 0..12 {
        vram[0x1904 + i] = i as u8 + 1;
        vram[0x1924 + i] = i as u8 + 13;
    }
    vram[0x1910] = 0x19;
}

/// The six letters that the reference's boot program leaves in tiles 1–6, a byte a row, and the
/// map entries that show them.
fn draw_pyboy_logo(vram: &mut [u8; 0x2000]) {
    const ROWS: [u64; 6] = [
        0x0000_007C_7E66_6666,
        0x7E7C_6060_6060_6000,
        0x0066_6666_667E_3C1C,
        0x7E7C_6666_667E_7C00,
        0x003C_7E66_667E_3C00,
        0x18F0_E000_0000_0000,
    ];
    for (i, row) in ROWS.iter().flat_map(|r| r.to_be_bytes()).enumerate() {
        vram[0x10 + 2 * i] = row;
        vram[0x11 + 2 * i] = row;
    }
    for (at, tile) in [
        (0x1908, 1),
        (0x190A, 1),
        (0x1928, 2),
        (0x1929, 3),
        (0x192A, 4),
        (0x192B, 5),
        (0x192C, 3),
        (0x1949, 6),
        (0x194C, 6),
    ] {
        vram[at] = tile;
    }
}
