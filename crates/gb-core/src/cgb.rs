//! What only the Color has outside the PPU: banked work RAM, VRAM DMA, and a few registers.

use crate::{
    hdma::Hdma,
    state::{Malformed, Reader, State, Writer},
};

/// Bytes of a work RAM bank.
const BANK: usize = 0x1000;

/// Registers and memories.
#[derive(Clone, Debug)]
pub(crate) struct Cgb {
    /// The banks of work RAM that are not shown; the one that D000–DFFF shows lives in the machine's own
    /// work RAM.
    hidden: [[u8; BANK]; 6],
    /// For banks 1–7 their places in `hidden`; that of the bank that is shown means nothing.
    places: [u8; 7],
    /// SVBK as written.
    svbk: u8,
    /// FF72–FF75, which do nothing.
    spare: [u8; 4],
    /// RP, the infrared port.
    rp: u8,
    pub(crate) hdma: Hdma,
}

/// Where a bank lies is no matter: they are saved in the order of their numbers.
impl State for Cgb {
    fn save(&self, w: &mut Writer) {
        let Self { hidden, places, svbk, spare, rp, hdma } = self;
        svbk.save(w);
        for (i, &place) in places.iter().enumerate() {
            if i != self.shown() {
                w.bytes.extend_from_slice(&hidden[usize::from(place)]);
            }
        }
        spare.save(w);
        rp.save(w);
        hdma.save(w);
    }

    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        self.svbk.load(r)?;
        let shown = self.shown();
        for (i, place) in self.places.iter_mut().enumerate() {
            *place = (i - usize::from(i > shown)) as u8;
        }
        for bank in &mut self.hidden {
            bank.load(r)?;
        }
        let Self { hidden: _, places: _, svbk: _, spare, rp, hdma } = self;
        spare.load(r)?;
        rp.load(r)?;
        hdma.load(r)
    }
}

impl Cgb {
    #[expect(clippy::large_stack_arrays, reason = "goes into a box at once")]
    pub(crate) fn new() -> Self {
        Self {
            hidden: [[0; BANK]; 6],
            places: [0, 0, 1, 2, 3, 4, 5],
            svbk: 0,
            spare: [0; 4],
            rp: 0,
            hdma: Hdma::new(),
        }
    }

    /// Index in `places` of what D000–DFFF shows.
    fn shown(&self) -> usize {
        usize::from(self.svbk & 7).max(1) - 1
    }

    /// SVBK with its unused bits set.
    pub(crate) fn svbk(&self) -> u8 {
        0xF8 | self.svbk
    }

    /// Writes SVBK; `wram` is C000–DFFF.
    pub(crate) fn set_svbk(&mut self, v: u8, wram: &mut [u8; 2 * BANK]) {
        let before = self.shown();
        self.svbk = v & 7;
        let after = self.shown();
        if before != after {
            let place = self.places[after];
            self.hidden[usize::from(place)].swap_with_slice(&mut wram[BANK..]);
            self.places[before] = place;
        }
    }

    /// Bank 0–7 of work RAM; `wram` is C000–DFFF.
    pub(crate) fn bank<'a>(&'a self, bank: usize, wram: &'a [u8; 2 * BANK]) -> Option<&'a [u8]> {
        match bank {
            0 => Some(&wram[..BANK]),
            _ if bank == self.shown() + 1 => Some(&wram[BANK..]),
            _ => self.places.get(bank - 1).map(|&place| &self.hidden[usize::from(place)][..]),
        }
    }

    /// RP, seeing no light.
    pub(crate) fn rp(&self) -> u8 {
        0x3E | self.rp
    }

    /// Writes RP.
    pub(crate) fn set_rp(&mut self, v: u8) {
        self.rp = v & 0xC1;
    }

    /// FF72–FF75; of the last only bits 4–6 exist.
    pub(crate) fn spare(&self, addr: u16) -> u8 {
        let i = usize::from(addr - 0xFF72) & 3;
        self.spare[i] | if i == 3 { 0x8F } else { 0 }
    }

    /// Writes FF72–FF75.
    pub(crate) fn set_spare(&mut self, addr: u16, v: u8) {
        let i = usize::from(addr - 0xFF72) & 3;
        self.spare[i] = if i == 3 { v & 0x70 } else { v };
    }

    /// Whether hostile state bytes left every value in its domain.
    pub(crate) fn valid(&self) -> bool {
        self.svbk < 8 && self.hdma.valid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bank `n` is full of `n`.
    fn full() -> (Cgb, [u8; 2 * BANK]) {
        let (mut cgb, mut wram) = (Cgb::new(), [0; 2 * BANK]);
        for bank in 1..8 {
            cgb.set_svbk(bank, &mut wram);
            wram[BANK..].fill(bank);
        }
        (cgb, wram)
    }

    fn check(cgb: &Cgb, wram: &[u8; 2 * BANK]) {
        for bank in 0..8 {
            assert_eq!(cgb.bank(bank, wram).unwrap(), [bank as u8; BANK], "bank {bank}");
        }
        assert_eq!(wram[BANK], cgb.svbk.max(1));
        assert_eq!(cgb.bank(8, wram), None);
    }

    #[test]
    fn banks_keep_what_is_theirs_through_switches_and_states() {
        let (mut cgb, mut wram) = full();
        check(&cgb, &wram);
        let mut bytes = std::collections::BTreeMap::new();
        for turn in 0..200u32 {
            cgb.set_svbk((turn * turn / 3 % 8) as u8, &mut wram);
            check(&cgb, &wram);
            let mut w = Writer::default();
            cgb.save(&mut w);
            let mut loaded = Cgb::new();
            loaded.load(&mut Reader::new(&w.bytes)).unwrap();
            check(&loaded, &wram);
            // The way to a bank leaves no trace.
            let first = bytes.entry(cgb.svbk).or_insert_with(|| w.bytes.clone());
            assert_eq!(*first, w.bytes);
        }
        assert!(bytes.len() >= 4);
    }
}
