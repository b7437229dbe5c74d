//! The flag register, kept as the results it is derived from.
//!
//! Most flags are overwritten before anything reads them, so an ALU operation stores its operands'
//! traces (three plain moves) and the F byte is put together only for `PUSH AF`, `DAA` and the like.

/// Z, N, H and C of the SM83.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    /// Z is set when this is zero.
    pub zero: u8,
    /// N: the last arithmetic operation was a subtraction.
    pub subtract: bool,
    /// H is bit 4.
    pub half: u8,
    /// C.
    pub carry: bool,
}

impl Flags {
    /// From the F register; its low four bits do not exist.
    #[inline(always)]
    pub fn from_byte(f: u8) -> Self {
        Self {
            zero: !f & 0x80,
            subtract: f & 0x40 != 0,
            half: (f & 0x20) >> 1,
            carry: f & 0x10 != 0,
        }
    }

    /// The F register.
    #[inline(always)]
    pub fn byte(self) -> u8 {
        u8::from(self.zero == 0) << 7
            | u8::from(self.subtract) << 6
            | (self.half & 0x10) << 1
            | u8::from(self.carry) << 4
    }
}

#[cfg(test)]
mod tests {
    use super::Flags;

    #[test]
    fn every_f_byte_survives() {
        for f in 0..=255u8 {
            assert_eq!(Flags::from_byte(f).byte(), f & 0xF0);
        }
    }
}
