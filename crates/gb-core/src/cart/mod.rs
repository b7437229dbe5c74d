//! Cartridges (being written).
