//! The file of hidden states: safetensors whose numbers are written as they are computed, since all of them at once may be
//! more than fits into memory.

use anyhow::Result;
use invitro_lab::Trained;
use invitro_language::{Language, Task};
use serde_json::{Value, json};
use std::io::Write;

pub struct TensorHeader {
    /// Strings by name, as safetensors has them.
    metadata: Value,
    layers: usize,
    width: usize,
    lines: Vec<i64>,
    offsets: Vec<i64>,
    tokens: Vec<i64>,
}

impl TensorHeader {
    pub fn new(trained: &Trained, language: Language, task: Task, layers: &[usize]) -> TensorHeader {
        let pieces: Vec<&str> = (0..trained.text.rows()).map(|id| trained.text.segmentation.token(id as u32)).collect();
        let metadata = json!({
            "run": trained.experiment.id(),
            "step": trained.checkpoint.step.to_string(),
            "language": language.name(),
            "task": task.name(),
            "layers": json!(layers).to_string(),
            "pieces": json!(pieces).to_string(),
        });
        let width = trained.checkpoint.shape.width;
        TensorHeader { metadata, layers: layers.len(), width, lines: Vec::new(), offsets: vec![0], tokens: Vec::new() }
    }

    /// Adds a sentence and its tokens that have states.
    pub fn sentence(&mut self, line: usize, tokens: &[u32]) {
        self.lines.push(line as i64);
        self.tokens.extend(tokens.iter().map(|&token| i64::from(token)));
        self.offsets.push(self.tokens.len() as i64);
    }

    pub fn tokens(&self) -> usize {
        self.tokens.len()
    }

    /// Writes all that comes before the states.
    pub fn write(&self, out: &mut impl Write) -> Result<()> {
        let integers = [("lines", &self.lines), ("offsets", &self.offsets), ("tokens", &self.tokens)];
        let mut header = json!({ "__metadata__": self.metadata });
        let mut end = 0;
        for (name, values) in integers {
            let start = end;
            end += 8 * values.len();
            header[name] = json!({ "dtype": "I64", "shape": [values.len()], "data_offsets": [start, end] });
        }
        let shape = [self.tokens.len(), self.layers, self.width];
        let data = [end, end + 4 * shape.iter().product::<usize>()];
        header["states"] = json!({ "dtype": "F32", "shape": shape, "data_offsets": data });
        let mut header = header.to_string();
        // The numbers are aligned to 8 bytes.
        header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for number in integers.iter().flat_map(|(_, values)| values.iter()) {
            out.write_all(&number.to_le_bytes())?;
        }
        Ok(())
    }
}
