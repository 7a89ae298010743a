//! A model in training on disk: weights, both moments and the step, as safetensors.
//!
//! Tensors are named `weights.layers.0.qkv`, `mean.head`, `variance.norm` and so on. The header's metadata has one entry,
//! `invitro`: JSON with the schema, the shape, the step, the caller's metadata, and the file's seal
//! ([`invitro_base::sealed`]). A resumed run equals an uninterrupted one, bit for bit.

use crate::{Error, Layout, Result, Shape, Tensor, tensor_file};
use invitro_base::sealed;
use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Incremented when older files can no longer be read.
const SCHEMA: u32 = 2;
/// The entry of the header's metadata.
const ENTRY: &str = "invitro";

/// One model after `step` steps. The vectors are in the order of [`Layout`].
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    pub shape: Shape,
    pub step: u64,
    pub metadata: BTreeMap<String, String>,
    pub weights: Vec<f32>,
    pub mean: Vec<f32>,
    pub variance: Vec<f32>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    schema: u32,
    step: u64,
    shape: Shape,
    metadata: BTreeMap<String, String>,
    seal: String,
}

/// Every tensor of a layout with its name.
pub fn named_tensors(layout: &Layout) -> Vec<(String, Tensor)> {
    let named = |name: &str, tensor| (name.to_string(), tensor);
    let mut all = vec![named("embed", layout.embed)];
    all.extend(layout.positions.map(|positions| named("positions", positions)));
    for l in 0..layout.layers.len() {
        all.extend(layout.of_layer(l).into_iter().map(|(name, tensor)| (format!("layers.{l}.{name}"), tensor)));
    }
    all.push(named("norm", layout.norm.gain));
    all.extend(layout.norm.bias.map(|bias| named("norm.bias", bias)));
    if layout.head.weight != layout.embed {
        all.push(named("head", layout.head.weight));
    }
    all
}

impl Checkpoint {
    /// Writes the file atomically.
    pub fn save(&self, path: &Path) -> Result<()> {
        let (shape, metadata) = (self.shape.clone(), self.metadata.clone());
        let header = Header { schema: SCHEMA, step: self.step, shape, metadata, seal: sealed::blank() };
        let header = serde_json::to_string(&header).map_err(|error| Error::writing(path, error))?;
        let named = named_tensors(&Layout::new(&self.shape));
        let mut tensors = Vec::new();
        for (vector, values) in [("weights", &self.weights), ("mean", &self.mean), ("variance", &self.variance)] {
            for (name, tensor) in &named {
                tensors.push((format!("{vector}.{name}"), *tensor, &values[tensor.range()]));
            }
        }
        tensor_file::write(path, &tensors, (ENTRY, header))
    }

    /// Reads a file of [`Checkpoint::save`]; the error for any other file says what it is.
    pub fn load(path: &Path) -> Result<Self> {
        let wrong = |what: String| Error::File(format!("{}: {what}", path.display()));
        let whole = invitro_base::files::read(path).map_err(|e| wrong(format!("cannot read: {e}")))?;
        let (_, metadata) = SafeTensors::read_metadata(&whole)
            .map_err(|e| wrong(format!("not a safetensors file, or a truncated one ({e})")))?;
        let entry = metadata.metadata().as_ref().and_then(|entries| entries.get(ENTRY));
        let entry = entry.ok_or_else(|| wrong("a safetensors file, but not a checkpoint of invitro".into()))?;
        let schema = serde_json::from_str::<serde_json::Value>(entry).ok().and_then(|v| v["schema"].as_u64());
        if schema != Some(SCHEMA as u64) {
            let found = schema.map_or("no schema".to_string(), |schema| format!("schema {schema}"));
            return Err(wrong(format!("a checkpoint with {found}, but this version reads schema {SCHEMA}")));
        }
        if sealed::is_whole(&whole, tensor_file::header(&whole)) != Some(true) {
            return Err(wrong("a damaged checkpoint: its checksum is another".into()));
        }
        let header: Header =
            serde_json::from_str(entry).map_err(|e| wrong(format!("a checkpoint with a bad header ({e})")))?;
        header.shape.validate().map_err(|e| wrong(e.to_string()))?;
        // Checked before any memory is allocated.
        let needed = 3 * size_of::<f32>() as u128 * header.shape.parameters();
        if needed > whole.len() as u128 {
            let held = whole.len();
            return Err(wrong(format!("its header's shape takes {needed} bytes, but the file has {held}")));
        }
        let tensors = SafeTensors::deserialize(&whole).map_err(|e| wrong(format!("a truncated checkpoint ({e})")))?;
        let layout = Layout::new(&header.shape);
        let vector = |vector: &str| {
            let mut values = vec![0.0; layout.size];
            for (name, tensor) in named_tensors(&layout) {
                let name = format!("{vector}.{name}");
                let found = tensors.tensor(&name).map_err(|_| wrong(format!("a checkpoint without {name}")))?;
                if found.dtype() != Dtype::F32 || found.data().len() != tensor.len() * 4 {
                    return Err(wrong(format!(
                        "{name} is {:?} of {:?}, but its header's shape says F32 of [{}, {}]",
                        found.dtype(),
                        found.shape(),
                        tensor.rows,
                        tensor.cols
                    )));
                }
                let numbers = found.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                values[tensor.range()].iter_mut().zip(numbers).for_each(|(own, given)| *own = given);
            }
            Ok(values)
        };
        Ok(Checkpoint {
            weights: vector("weights")?,
            mean: vector("mean")?,
            variance: vector("variance")?,
            shape: header.shape,
            step: header.step,
            metadata: header.metadata,
        })
    }

    /// Whether every weight is finite.
    pub fn is_finite(&self) -> bool {
        self.weights.iter().all(|weight| weight.is_finite())
    }

    /// Checks that it fits a model of this shape; the error names the first property that differs.
    pub fn fits(&self, shape: &Shape) -> Result<()> {
        let properties = |shape: &Shape| -> Vec<(&str, String)> {
            let (sizes, floats) = shape.numbers();
            let kind = [("kind", shape.kind.name().to_string()), ("tied", shape.tied.to_string())];
            let sizes = sizes.map(|(name, size)| (name, size.to_string()));
            kind.into_iter().chain(sizes).chain(floats.map(|(name, value)| (name, value.to_string()))).collect()
        };
        let pairs = properties(&self.shape).into_iter().zip(properties(shape));
        match pairs.into_iter().find(|(own, given)| own != given) {
            Some(((name, own), (_, given))) => {
                Err(Error::Shape(format!("the checkpoint's {name} is {own}, but the model's is {given}")))
            }
            None => Ok(()),
        }
    }
}
