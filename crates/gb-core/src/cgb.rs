//! What only the Color has outside the PPU: banked work RAM, VRAM DMA, and a few registers.

use crate::hdma::Hdma;

/// Bytes of a work RAM bank.
const BANK: usize = 0x1000;

/// Registers and memories.
#[derive(Clone, Debug)]
pub(crate) struct Cgb {
    /// Banks 1–7 of work RAM; the one that D000–DFFF shows lives in the machine's own work RAM and
    /// is stale here.
    banks: [[u8; BANK]; 7],
    /// SVBK as written.
    svbk: u8,
    /// FF72–FF75, which do nothing.
    spare: [u8; 4],
    /// RP, the infrared port.
    rp: u8,
    pub(crate) hdma: Hdma,
}
crate::state_fields!(Cgb { banks, svbk, spare, rp, hdma });

impl crate::state::State for [[u8; BANK]; 7] {
    fn save(&self, w: &mut crate::state::Writer) {
        w.bytes.extend_from_slice(self.as_flattened());
    }
    fn load(&mut self, r: &mut crate::state::Reader<'_>) -> Result<(), crate::state::Malformed> {
        let flat = self.as_flattened_mut();
        flat.copy_from_slice(r.take(flat.len())?);
        Ok(())
    }
}

impl Cgb {
    #[expect(clippy::large_stack_arrays, reason = "goes into a box at once")]
    pub(crate) fn new() -> Self {
        Self { banks: [[0; BANK]; 7], svbk: 0, spare: [0; 4], rp: 0, hdma: Hdma::new() }
    }

    /// Index in `banks` of what D000–DFFF shows.
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
            self.banks[before].copy_from_slice(&wram[BANK..]);
            wram[BANK..].copy_from_slice(&self.banks[after]);
        }
    }

    /// Bank 0–7 of work RAM; `wram` is C000–DFFF.
    pub(crate) fn bank<'a>(&'a self, bank: usize, wram: &'a [u8; 2 * BANK]) -> Option<&'a [u8]> {
        match bank {
            0 => Some(&wram[..BANK]),
            _ if bank == self.shown() + 1 => Some(&wram[BANK..]),
            _ => self.banks.get(bank - 1).map(|bank| &bank[..]),
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
