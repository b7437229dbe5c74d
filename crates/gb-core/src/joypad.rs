//! P1 (FF00) and its interrupt.

/// The button matrix.
#[derive(Clone, Debug)]
pub struct Joypad {
    /// Bits 0–7: Right, Left, Up, Down, A, B, Select, Start; 1 = pressed.
    buttons: u8,
    /// P1 bits 4 and 5 as written (0 selects the row).
    select: u8,
    /// What P1 reads where it is latched at writes (`PyBoy` profile).
    latch: u8,
    latched: bool,
}
crate::state_fields!(Joypad { buttons, select, latch } skip { latched });

impl Joypad {
    /// Nothing pressed. `latched`: P1 reads what it was at its last write, `latch` before any.
    pub fn new(select: u8, latched: bool, latch: u8) -> Self {
        Self { buttons: 0, select: select & 0x30, latch, latched }
    }

    /// The four input lines, 0 = low = pressed.
    fn lines(&self) -> u8 {
        let mut low = 0;
        if self.select & 0x10 == 0 {
            low |= self.buttons & 0x0F;
        }
        if self.select & 0x20 == 0 {
            low |= self.buttons >> 4;
        }
        !low & 0x0F
    }

    /// P1.
    pub fn read(&self) -> u8 {
        if self.latched {
            self.latch
        } else {
            0xC0 | self.select | self.lines()
        }
    }

    /// Writes P1; returns whether a line fell, which requests the interrupt.
    pub fn write(&mut self, v: u8) -> bool {
        let before = self.lines();
        self.select = v & 0x30;
        // The reference shows a row only where exactly one is selected, and no selection bits.
        let one_row = matches!(self.select, 0x10 | 0x20);
        self.latch = 0xC0 | if one_row { self.lines() } else { 0x0F };
        before & !self.lines() != 0
    }

    /// The buttons held.
    pub fn buttons(&self) -> u8 {
        self.buttons
    }

    /// Changes the buttons held; returns whether a line fell.
    pub fn set_buttons(&mut self, buttons: u8) -> bool {
        let before = self.lines();
        self.buttons = buttons;
        before & !self.lines() != 0
    }

    /// Whether one of the selected lines is low, which ends `STOP`.
    pub fn any_low(&self) -> bool {
        self.lines() != 0x0F
    }

    /// Whether hostile state bytes left every value in its domain.
    pub fn valid(&self) -> bool {
        self.select & !0x30 == 0
    }
}
