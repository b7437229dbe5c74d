//! The border to `NumPy`: the only unsafe code of this crate.
//!
//! A result array points into a block of [`Memory`] and holds, as its base, the object that owns
//! the block. So the block lives as long as any array, view or `DLPack` capsule made from it, and
//! goes back to its pool when the last one is gone. Nothing in Rust refers to a block between the
//! two moments, which is what makes handed-out arrays constant unless their owner writes to them.
#![allow(unsafe_code)]

use numpy::ndarray::{ArrayView, IxDyn};
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::buffers::{Buffer, Memory};

/// The owner of one block, as a Python object.
#[pyclass(frozen)]
struct ResultMemory {
    _block: Memory,
}

/// A buffer as an array of its own type.
pub fn wrap<'py, T: Element + bytemuck::Pod>(
    py: Python<'py>,
    mut buffer: Buffer<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let data = buffer.as_mut_slice();
    assert_eq!(data.len(), shape.iter().product::<usize>(), "shape of a result");
    let data = data.as_mut_ptr();
    // SAFETY: `data` is the start of the buffer, which has as many values as `shape` says.
    unsafe { adopt(py, data, buffer.into_memory(), shape) }
}

/// A buffer of zeros and ones as a boolean array.
pub fn wrap_flags<'py>(
    py: Python<'py>,
    mut buffer: Buffer<u8>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
    let data = buffer.as_mut_slice();
    assert_eq!(data.len(), shape.iter().product::<usize>(), "shape of a result");
    assert!(data.iter().all(|&flag| flag <= 1), "a flag that is neither 0 nor 1");
    let data = data.as_mut_ptr().cast::<bool>();
    // SAFETY: as in `wrap`; every byte was just seen to be a valid `bool`.
    unsafe { adopt(py, data, buffer.into_memory(), shape) }
}

/// Makes an array over `data` that owns `block`.
///
/// # Safety
/// `data` points to the start of `block`, which holds valid values of `T` for all of `shape` in
/// row-major order. No reference into the block is alive.
unsafe fn adopt<'py, T: Element>(
    py: Python<'py>,
    data: *mut T,
    block: Memory,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let owner = Bound::new(py, ResultMemory { _block: block })?;
    // SAFETY: the block's heap memory did not move with `block`; it stays where it is until
    // `owner` drops it, and the array holds `owner`. The view is gone before anyone can write.
    unsafe {
        let view = ArrayView::from_shape_ptr(IxDyn(shape), data.cast_const());
        Ok(PyArrayDyn::borrow_from_array(&view, owner.into_any()))
    }
}

/// Copies a one-dimensional array of exactly the type `T`, contiguous or not.
///
/// # Errors
/// What was got and what was expected, for a wrong class, dtype or shape. `len` is the length
/// that the array must have, if any.
pub fn copy_vector<T: Element + Copy>(
    object: &Bound<'_, PyAny>,
    what: &str,
    len: Option<usize>,
) -> Result<Vec<T>, String> {
    let py = object.py();
    let expected = || {
        let shape = len.map_or("(m,)".to_owned(), |len| format!("({len},)"));
        format!("expected a NumPy array, {} of shape {shape}", numpy::dtype::<T>(py))
    };
    let Ok(array) = object.cast::<PyUntypedArray>() else {
        let class = object.get_type();
        let class = class.name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        return Err(format!("{what}: got {class}, {}", expected()));
    };
    let shaped = array.ndim() == 1 && len.is_none_or(|len| array.len() == len);
    match array.cast::<PyArrayDyn<T>>() {
        Ok(values) if shaped => Ok(values.readonly().as_array().iter().copied().collect()),
        _ => {
            let shape = array.getattr("shape").map_or_else(|_| "?".to_owned(), |s| s.to_string());
            Err(format!("{what}: got {} of shape {shape}, {}", array.dtype(), expected()))
        }
    }
}
