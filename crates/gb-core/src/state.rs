//! The save-state codec: one declaration of a component's fields drives both directions.
//!
//! [`state_fields!`](crate::state_fields) destructures the component exhaustively, so a field that
//! is added to a struct and forgotten in its declaration does not compile. Integers are
//! little-endian; arrays and vectors have the length that the running machine gives them.

/// A byte sink for [`State::save`].
#[derive(Default)]
pub struct Writer {
    /// Bytes written so far.
    pub bytes: Vec<u8>,
}

/// A byte source for [`State::load`].
pub struct Reader<'a> {
    rest: &'a [u8],
}

/// The bytes ended before the machine was whole, or a value is outside its domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

impl<'a> Reader<'a> {
    /// Reads from the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next `n` bytes.
    ///
    /// # Errors
    /// [`Malformed`] when fewer are left.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        if n > self.rest.len() {
            return Err(Malformed);
        }
        let (head, tail) = self.rest.split_at(n);
        self.rest = tail;
        Ok(head)
    }

    /// Whether every byte has been read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

/// Something whose every bit goes into a save state and comes back from it.
pub trait State {
    /// Appends the value.
    fn save(&self, w: &mut Writer);
    /// Replaces the value.
    ///
    /// # Errors
    /// [`Malformed`] when the bytes end early or hold a value outside the domain of the type.
    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed>;
}

macro_rules! int_state {
    ($($t:ty),*) => {$(
        impl State for $t {
            #[inline]
            fn save(&self, w: &mut Writer) {
                w.bytes.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
                let mut buf = [0; size_of::<$t>()];
                buf.copy_from_slice(r.take(size_of::<$t>())?);
                *self = <$t>::from_le_bytes(buf);
                Ok(())
            }
        }
    )*};
}
int_state!(u8, u16, u32, u64, i16, i32, i64);

impl State for bool {
    fn save(&self, w: &mut Writer) {
        u8::from(*self).save(w);
    }
    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        match r.take(1)?[0] {
            0 => *self = false,
            1 => *self = true,
            _ => return Err(Malformed),
        }
        Ok(())
    }
}

impl<const N: usize> State for [u8; N] {
    fn save(&self, w: &mut Writer) {
        w.bytes.extend_from_slice(self);
    }
    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        self.copy_from_slice(r.take(N)?);
        Ok(())
    }
}

impl<T, const M: usize, const N: usize> State for [[T; M]; N]
where
    [T; M]: State,
{
    fn save(&self, w: &mut Writer) {
        for part in self {
            part.save(w);
        }
    }
    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        self.iter_mut().try_for_each(|part| part.load(r))
    }
}

impl<const N: usize> State for [u16; N] {
    fn save(&self, w: &mut Writer) {
        for part in self {
            part.save(w);
        }
    }
    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        self.iter_mut().try_for_each(|part| part.load(r))
    }
}

/// Whether there is a value is part of the machine (its model), not of the state.
impl<T: State> State for Option<Box<T>> {
    fn save(&self, w: &mut Writer) {
        if let Some(part) = self {
            part.save(w);
        }
    }
    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        self.as_mut().map_or(Ok(()), |part| part.load(r))
    }
}

/// The length is part of the machine (for example the size of the cartridge RAM), not of the state.
impl State for Vec<u8> {
    fn save(&self, w: &mut Writer) {
        w.bytes.extend_from_slice(self);
    }
    fn load(&mut self, r: &mut Reader<'_>) -> Result<(), Malformed> {
        let n = self.len();
        self.copy_from_slice(r.take(n)?);
        Ok(())
    }
}

/// Implements [`State`](crate::state::State) for a struct from the list of all its fields; a
/// `skip` list names fields that are derived or configuration and stay as they are.
#[macro_export]
macro_rules! state_fields {
    ($t:ty { $($f:ident),* $(,)? } $(skip { $($s:ident),* $(,)? })?) => {
        impl $crate::state::State for $t {
            fn save(&self, w: &mut $crate::state::Writer) {
                let Self { $($f,)* $($($s: _,)*)? } = self;
                $( $crate::state::State::save($f, w); )*
            }
            fn load(&mut self, r: &mut $crate::state::Reader<'_>)
                -> Result<(), $crate::state::Malformed> {
                let Self { $($f,)* $($($s: _,)*)? } = self;
                $( $crate::state::State::load($f, r)?; )*
                Ok(())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, PartialEq, Debug)]
    struct Part {
        a: u8,
        b: u64,
        c: [u8; 3],
        derived: u32,
    }
    state_fields!(Part { a, b, c } skip { derived });

    #[test]
    fn round_trip_and_early_end() {
        let part = Part { a: 1, b: 2, c: [3, 4, 5], derived: 9 };
        let mut w = Writer::default();
        part.save(&mut w);
        assert_eq!(w.bytes.len(), 12);
        let mut back = Part::default();
        back.load(&mut Reader::new(&w.bytes)).unwrap();
        assert_eq!(back, Part { derived: 0, ..part });
        assert_eq!(back.load(&mut Reader::new(&w.bytes[..11])), Err(Malformed));
    }
}
