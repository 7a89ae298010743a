//! Writes tensors as a safetensors file, with a seal if its header has a place for one.

use crate::{Error, Result, Tensor};
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

/// Writes named tensors and one entry of metadata atomically. The order of several entries would differ between runs.
pub(crate) fn write(path: &Path, tensors: &[(String, Tensor, &[f32])], entry: (&str, String)) -> Result<()> {
    let named: Vec<(&str, Vec<usize>, Vec<u8>)> = tensors
        .iter()
        .map(|(name, tensor, values)| {
            // A gain is a vector, everything else a matrix.
            let shape = if tensor.rows == 1 { vec![tensor.cols] } else { vec![tensor.rows, tensor.cols] };
            (name.as_str(), shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
        })
        .collect();
    let bytes = || -> std::result::Result<Vec<u8>, SafeTensorError> {
        let view = |shape: &Vec<usize>, bytes| TensorView::new(Dtype::F32, shape.clone(), bytes);
        let views = named.iter().map(|(name, shape, bytes)| Ok((*name, view(shape, bytes)?)));
        let views = views.collect::<std::result::Result<Vec<_>, SafeTensorError>>()?;
        serialize(views, Some(HashMap::from([(entry.0.to_string(), entry.1)])))
    };
    let mut bytes = bytes().map_err(|error| Error::writing(path, error))?;
    let header = header(&bytes);
    invitro_base::sealed::seal(&mut bytes, header);
    invitro_base::files::write(path, bytes).map_err(|error| Error::writing(path, error))
}

/// The byte range of a safetensors file's header.
pub(crate) fn header(bytes: &[u8]) -> Range<usize> {
    let (length, body) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
    let start = bytes.len() - body.len();
    start..start + body.len().min(usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX))
}
