//! The VRAM DMA of the Color (FF51–FF55): at once, or sixteen bytes in each H-blank.
//!
//! Source: Pan Docs, "CGB Registers"; `SameSuite` `dma/*`.

/// Bytes of a block.
pub(crate) const BLOCK: u16 = 16;

/// The unit's registers.
#[derive(Clone, Debug)]
pub(crate) struct Hdma {
    source: u16,
    /// Offset in VRAM.
    target: u16,
    /// FF55 bits 0–6: blocks left, less one.
    left: u8,
    /// An H-blank transfer is under way.
    active: bool,
    /// Blocks to copy before the processor goes on.
    due: u8,
}
crate::state_fields!(Hdma { source, target, left, active, due });

/// One byte to copy, from the bus to an offset in VRAM.
pub(crate) struct Transfer {
    pub(crate) from: u16,
    pub(crate) to: u16,
}

impl Hdma {
    pub(crate) fn new() -> Self {
        Self { source: 0, target: 0, left: 0x7F, active: false, due: 0 }
    }

    /// FF55; the other registers cannot be read.
    pub(crate) fn read(&self) -> u8 {
        self.left | u8::from(!self.active) << 7
    }

    /// FF51–FF54.
    pub(crate) fn set_address(&mut self, addr: u16, v: u8) {
        let v = u16::from(v);
        match addr {
            0xFF51 => self.source = v << 8 | self.source & 0xF0,
            0xFF52 => self.source = self.source & 0xFF00 | v & 0xF0,
            0xFF53 => self.target = (v & 0x1F) << 8 | self.target & 0xF0,
            _ => self.target = self.target & 0x1F00 | v & 0xF0,
        }
    }

    /// FF55. `now`: a block of an H-blank transfer can be copied at once.
    pub(crate) fn start(&mut self, v: u8, now: bool) {
        self.left = v & 0x7F;
        if v & 0x80 == 0 && self.active {
            self.active = false;
            self.due = 0;
            return;
        }
        self.active = v & 0x80 != 0;
        self.due = if self.active { u8::from(now) } else { self.left + 1 };
    }

    /// FF55 in the reference: an H-blank transfer that is given up forgets what was left, and one
    /// under way only takes a new length.
    pub(crate) fn start_reference(&mut self, v: u8, lcd_on: bool) {
        let (active, ends) = (self.active, v & 0x80 == 0);
        self.start(v, !active && !lcd_on);
        if active && ends {
            self.left = 0;
        }
    }

    /// Whether H-blanks matter.
    pub(crate) fn active(&self) -> bool {
        self.active
    }

    /// An H-blank begins.
    pub(crate) fn hblank(&mut self) {
        self.due = u8::from(self.active);
    }

    /// Lets a block be copied now.
    pub(crate) fn copy_block(&mut self) {
        self.due = 1;
    }

    /// Blocks to copy now.
    pub(crate) fn due(&self) -> u8 {
        self.due
    }

    /// The next byte of the block.
    pub(crate) fn next_byte(&mut self) -> Transfer {
        let transfer = Transfer { from: self.source, to: self.target };
        self.source = self.source.wrapping_add(1);
        self.target = (self.target + 1) & 0x1FFF;
        transfer
    }

    /// A block is complete.
    pub(crate) fn finish_block(&mut self) {
        self.due = self.due.saturating_sub(1);
        if self.left == 0 {
            self.active = false;
        }
        self.left = self.left.wrapping_sub(1) & 0x7F;
    }

    /// Whether hostile state bytes left every value in its domain.
    pub(crate) fn valid(&self) -> bool {
        self.left < 0x80 && self.due <= 0x80 && self.target < 0x2000
    }
}
