//! Batches of Game Boys (being written).
