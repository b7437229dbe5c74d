//! Bits of LCDC (FF40).

/// Background (and window) on.
pub const BG_ON: u8 = 0x01;
/// Sprites on.
pub const OBJ_ON: u8 = 0x02;
/// Sprites are 16 pixels tall.
pub const OBJ_TALL: u8 = 0x04;
/// Background map at 9C00 instead of 9800.
pub const BG_MAP: u8 = 0x08;
/// Background and window tiles at 8000, unsigned, instead of around 9000.
pub const TILES_LOW: u8 = 0x10;
/// Window on.
pub const WINDOW_ON: u8 = 0x20;
/// Window map at 9C00 instead of 9800.
pub const WINDOW_MAP: u8 = 0x40;
/// LCD on.
pub const ON: u8 = 0x80;
