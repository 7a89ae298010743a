//! The inputs of the self-test: shapes, sequences, weights and numbers, the same on every device.

use crate::init::initial_weights;
use crate::{Layout, Shape, TokenSequence};
use invitro_base::random::Rng;
use invitro_base::settings::ModelKind;

/// Shapes and numbers of members: the paper's with fewer layers and an odd vocabulary; a small one with other proportions;
/// and many members of a narrow one, with narrow and with wide heads, for which a GPU uses its largest tiles. Then tied
/// models, and GPT-2 with a head of its own and tied; with gaps between its vectors; with rows of more than one chunk per lane.
pub fn usual_populations() -> Vec<(Shape, usize)> {
    let usual = Shape { layers: 2, ..Shape::paper(509) };
    let small = Shape { width: 96, heads: 3, hidden: 256, vocab: 256, ..usual.clone() };
    let narrow = Shape { width: 128, heads: 4, hidden: 192, vocab: 512, ..usual.clone() };
    let wide_heads = Shape { heads: 2, ..narrow.clone() };
    let tied = Shape { tied: true, ..usual.clone() };
    let tied_narrow = Shape { tied: true, ..narrow.clone() };
    let gpt2 = Shape { kind: ModelKind::Gpt2, ..usual.clone() };
    let gpt2_tied = Shape { kind: ModelKind::Gpt2, tied: true, ..narrow.clone() };
    let gpt2_small = Shape { kind: ModelKind::Gpt2, ..small.clone() };
    let gpt2_wide = Shape { kind: ModelKind::Gpt2, width: 320, heads: 10, hidden: 640, ..usual.clone() };
    let many = [(narrow, 28), (wide_heads, 28), (tied_narrow, 28), (gpt2_tied, 28)];
    let few = [(usual, 2), (small, 2), (tied, 2), (gpt2, 2), (gpt2_small, 2), (gpt2_wide, 2)];
    few.into_iter().chain(many).collect()
}

/// Spans of every kind; filler arises since members differ. Rounded up to 64, the rows are not a multiple of 128.
pub const LENGTHS: [usize; 11] = [3, 17, 40, 64, 65, 130, 256, 12, 33, 2, 30];

/// A member's sequences of a step.
pub fn sequences(shape: &Shape, member: usize, step: u64) -> Vec<TokenSequence> {
    let mut stream = Rng::keyed("selftest.tokens", [member as u64, step, 0]);
    let rows = LENGTHS.iter().skip(member % 2).enumerate();
    rows.map(|(i, &len)| TokenSequence {
        // A third of the rows read one token, like the word boundary.
        tokens: (0..=len)
            .map(|t| if t % 3 == 2 { 9 } else { (stream.uniform() * shape.vocab as f64) as u32 })
            .collect(),
        group: (i % 3) as u8,
    })
    .collect()
}

/// The nearest bf16.
fn rounded(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff_0000)
}

/// Normal random numbers of a named stream.
pub fn normals(name: &str, len: usize, scale: f32) -> Vec<f32> {
    let mut stream = Rng::keyed(&format!("selftest.{name}"), [0, 0, 0]);
    let mut values = Vec::with_capacity(len + 1);
    while values.len() < len {
        values.extend(stream.normals().into_iter().map(|normal| rounded(normal as f32 * scale)));
    }
    values.truncate(len);
    values
}

/// Weights so far from the initial ones that every part of the model has an effect.
pub fn weights(shape: &Shape, member: usize) -> Vec<f32> {
    let gains = Layout::new(shape).decayed;
    let mut weights = initial_weights(shape, member as u64);
    let noise = normals("gains", weights.len() - gains, 0.1);
    weights[..gains].iter_mut().for_each(|w| *w = rounded(*w * 3.0));
    weights[gains..].iter_mut().zip(noise).for_each(|(w, n)| *w = rounded(*w + n));
    weights
}
