//! The envelope of a save state: magic, version, profile, console, ROM hash, checksum.

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use crate::{state::Writer, Model, Profile, Revision};

/// The version that this library writes and the only one it reads.
pub const STATE_VERSION: u16 = 3;

const MAGIC: [u8; 6] = *b"HYBGBS";
/// Magic, version (2), profile (1), console (1), ROM hash (8), checksum (8), all little-endian.
pub(crate) const HEADER: usize = 26;
const CHECKSUM: std::ops::Range<usize> = 18..26;

/// Why a save state was refused. The machine is unchanged in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StateError {
    /// Shorter than the envelope.
    #[error(
        "save state: got {got} bytes, expected at least {HEADER}; it is truncated or no save state"
    )]
    TooShort {
        /// Bytes given.
        got: usize,
    },
    /// The first bytes are not those of a save state.
    #[error("save state: got magic {got:02X?}, expected {MAGIC:02X?} (\"HYBGBS\"); these bytes are not a save state of this library")]
    Foreign {
        /// The first six bytes.
        got: [u8; 6],
    },
    /// Written by a newer or older version of the format.
    #[error("save state: got format version {got}, expected {STATE_VERSION}; it was written by another version of this library")]
    Version {
        /// Version of the state.
        got: u16,
    },
    /// Made with another profile.
    #[error("save state: got one of profile {:?}, expected {:?}", option(*got), option(*expected))]
    OtherProfile {
        /// Profile of the state.
        got: Profile,
        /// Profile of the machine.
        expected: Profile,
    },
    /// Made with another model.
    #[error("save state: got one of model {got:?}, expected {expected:?}")]
    OtherModel {
        /// Model of the state.
        got: Model,
        /// Model of the machine.
        expected: Model,
    },
    /// Made with another making of the Color.
    #[error("save state: got one of revision {got:?}, expected {expected:?}")]
    OtherRevision {
        /// Revision of the state.
        got: Revision,
        /// Revision of the machine.
        expected: Revision,
    },
    /// Made with another ROM.
    #[error("save state: got one of the ROM with hash {got:016x}, expected {expected:016x}; it belongs to another game or version")]
    OtherRom {
        /// ROM hash of the state.
        got: u64,
        /// Hash of the machine's ROM.
        expected: u64,
    },
    /// The checksum does not fit.
    #[error(
        "save state: got checksum {got:016x}, expected {expected:016x}; it is damaged or truncated"
    )]
    Damaged {
        /// Checksum of the bytes given.
        got: u64,
        /// Checksum that they name.
        expected: u64,
    },
    /// The checksum fits, but the body does not describe a machine.
    #[error("save state: the envelope is right but the body does not describe a machine of this cartridge")]
    Malformed,
}

/// A profile as the options of the library spell it.
fn option(profile: Profile) -> &'static str {
    match profile {
        Profile::Hardware => "hardware",
        Profile::PyBoy => "pyboy",
    }
}

/// The kind of machine that a state belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) profile: Profile,
    pub(crate) model: Model,
    pub(crate) revision: Revision,
}

/// The consoles, each at its number in a state.
const CONSOLES: [(Model, Revision); 4] = [
    (Model::Dmg, Revision::E),
    (Model::Cgb, Revision::E),
    (Model::Cgb, Revision::B),
    (Model::Cgb, Revision::Zero),
];

impl Kind {
    /// Checks that a state of this kind fits a machine of the `expected` one.
    ///
    /// # Errors
    /// [`StateError`] that names the first part that differs.
    pub(crate) fn expect(self, expected: Self) -> Result<(), StateError> {
        if self.profile != expected.profile {
            return Err(StateError::OtherProfile { got: self.profile, expected: expected.profile });
        }
        if self.model != expected.model {
            return Err(StateError::OtherModel { got: self.model, expected: expected.model });
        }
        if self.revision != expected.revision {
            let (got, expected) = (self.revision, expected.revision);
            return Err(StateError::OtherRevision { got, expected });
        }
        Ok(())
    }

    fn bytes(self) -> [u8; 2] {
        let console = CONSOLES.iter().position(|&c| c == (self.model, self.revision));
        [self.profile as u8, console.unwrap_or(0) as u8]
    }

    fn from_bytes(profile: u8, console: u8) -> Option<Self> {
        let profile = match profile {
            0 => Profile::Hardware,
            1 => Profile::PyBoy,
            _ => return None,
        };
        let &(model, revision) = CONSOLES.get(usize::from(console))?;
        Some(Self { profile, model, revision })
    }
}

pub(crate) fn begin(w: &mut Writer, kind: Kind, rom: u64) {
    w.bytes.extend_from_slice(&MAGIC);
    w.bytes.extend_from_slice(&STATE_VERSION.to_le_bytes());
    w.bytes.extend_from_slice(&kind.bytes());
    w.bytes.extend_from_slice(&rom.to_le_bytes());
    w.bytes.extend_from_slice(&[0; 8]);
}

fn checksum(bytes: &[u8]) -> u64 {
    let (head, rest) = bytes.split_at(CHECKSUM.start.min(bytes.len()));
    let body = rest.get(CHECKSUM.len()..).unwrap_or(&[]);
    xxh3_64(head).rotate_left(1) ^ xxh3_64(body)
}

/// Writes the right checksum into a save state, for example after its body was edited.
pub fn seal(bytes: &mut [u8]) {
    let sum = checksum(bytes);
    if let Some(field) = bytes.get_mut(CHECKSUM) {
        field.copy_from_slice(&sum.to_le_bytes());
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
}

/// Checks the envelope and gives the body.
pub(crate) fn open(bytes: &[u8], kind: Kind, rom: u64) -> Result<&[u8], StateError> {
    let mut magic = [0; 6];
    for (m, &b) in magic.iter_mut().zip(bytes) {
        *m = b;
    }
    if bytes.len() >= magic.len() && magic != MAGIC {
        return Err(StateError::Foreign { got: magic });
    }
    if bytes.len() < HEADER {
        return Err(StateError::TooShort { got: bytes.len() });
    }
    let version = u16::from_le_bytes([bytes[6], bytes[7]]);
    if version != STATE_VERSION {
        return Err(StateError::Version { got: version });
    }
    let expected = u64_at(bytes, CHECKSUM.start);
    let got = checksum(bytes);
    if got != expected {
        return Err(StateError::Damaged { got, expected });
    }
    let got = u64_at(bytes, 10);
    if got != rom {
        return Err(StateError::OtherRom { got, expected: rom });
    }
    Kind::from_bytes(bytes[8], bytes[9]).ok_or(StateError::Malformed)?.expect(kind)?;
    Ok(&bytes[HEADER..])
}
