//! Audio processing unit (being written).
