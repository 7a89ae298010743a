//! Pieces that a language shares with the first language, and separate ids for the others.
//!
//! Every piece has a common row in the model and, for every language but the first, a row of that language. A word has
//! the common ids of shared pieces and its language's own ids of other pieces; the first language has only common ids. So
//! all arms have the same text, cuts and number of rows, and differ only in ids.
//!
//! The candidates of a language are the pieces in both its words and the first language's; the mass of a candidate is its
//! count in the language's text. `sem` measures how far a piece occurs in forms of the same symbols:
//!
//! ```text
//! sem(t) = Σ_v min(p_A(v | t), p_B(v | t))      p(v | t) ∝ frequency of v × count of t in v's form
//! ```
//!
//! `cognate` shares the candidates with the highest sem, up to half of the mass; `other` shares the remaining ones. The
//! boundary's token, with a quarter of all mass, is not a candidate; `tokenizer.share_boundary` decides about it.

use invitro_base::settings::{Share, TokenizerConfig};
use invitro_language::{Category, Language, Languages, Stream, Symbol};

/// Sentences of the first language in which words are counted.
const SENTENCES: u64 = 20_000;

/// The ids of the pieces in every language.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// Special tokens, whose ids are common to all.
    special: u32,
    vocab: u32,
    /// By language and piece, whether it has the common id. Empty if all pieces have it.
    shared: Vec<Vec<bool>>,
    /// Whether names have common ids everywhere.
    names: bool,
    /// Rows of the model.
    rows: u32,
}

/// A function to the common ids of a word's pieces without the boundary's token.
pub type CorePieces<'a> = &'a (dyn Fn(Symbol, Language) -> &'a [u32] + Sync);

impl Sharing {
    /// Applies the settings to a vocabulary that begins with `special` special tokens and the boundary's token.
    pub fn new(languages: &Languages, config: &TokenizerConfig, special: u32, vocab: u32, core: CorePieces) -> Sharing {
        let own = languages.all().len() as u32 - 1;
        let rows = vocab + if config.has_own_rows() { own * (vocab - special) } else { 0 };
        let mut sharing = Sharing { special, vocab, shared: Vec::new(), names: config.share_names, rows };
        if config.share != Share::All {
            let counts = frequencies(languages);
            let shared = |&language: &Language| {
                let mut shared = vec![language.index() == 0; vocab as usize];
                shared[..special as usize].fill(true);
                if language.index() > 0 {
                    let candidates = candidates(languages, config, language, vocab, &counts, core);
                    shared_pieces(candidates, config, languages.seed).for_each(|piece| shared[piece as usize] = true);
                    shared[special as usize] = config.share_boundary;
                }
                shared
            };
            sharing.shared = languages.all().iter().map(shared).collect();
        }
        sharing
    }

    /// Rows of the model.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Whether names have common ids although their pieces are not shared.
    pub fn has_common_names(&self) -> bool {
        self.names && !self.shared.is_empty()
    }

    /// The id of a piece in a language.
    pub fn id(&self, piece: u32, language: Language) -> u32 {
        match self.shared.get(language.index()).and_then(|shared| shared.get(piece as usize)) {
            Some(false) => {
                self.vocab + (language.index() as u32 - 1) * (self.vocab - self.special) + piece - self.special
            }
            _ => piece,
        }
    }

    /// The piece of an id.
    pub fn piece(&self, id: u32) -> u32 {
        if id < self.vocab { id } else { self.special + (id - self.vocab) % (self.vocab - self.special) }
    }

    /// The index of the language that owns an id; `None` for common ids.
    pub fn owner(&self, id: u32) -> Option<usize> {
        id.checked_sub(self.vocab).map(|own| 1 + (own / (self.vocab - self.special)) as usize)
    }
}

/// The counts of symbols in sentences of the first language, plus one, so that unseen symbols count too.
fn frequencies(languages: &Languages) -> Vec<u64> {
    let mut counts = vec![1; languages.world.len()];
    let stream = Stream::new(languages.seed, "tokenizer/share");
    let mut sampler = languages.sampler();
    for row in 0..SENTENCES {
        let sentence = sampler.sentence(languages.all()[0], &mut stream.at(0, row));
        sentence.symbols.iter().for_each(|symbol| counts[symbol.index()] += 1);
    }
    counts
}

/// A piece that occurs in two languages.
struct SharedPiece {
    piece: u32,
    /// Its count in the language's text.
    mass: u64,
    sem: f64,
}

/// The candidates of a language, by id.
fn candidates(
    languages: &Languages,
    config: &TokenizerConfig,
    language: Language,
    vocab: u32,
    counts: &[u64],
    core: CorePieces,
) -> Vec<SharedPiece> {
    let world = &languages.world;
    // Names that keep their ids are not counted.
    let counted = |symbol: &Symbol| !(config.share_names && world.category(*symbol) == Category::Name);
    // By piece, the mass of the piece in each symbol, in the order of symbols.
    let uses = |language: Language| {
        let mut uses: Vec<Vec<(Symbol, u64)>> = vec![Vec::new(); vocab as usize];
        for symbol in world.symbols().filter(counted) {
            for &piece in core(symbol, language) {
                match uses[piece as usize].last_mut() {
                    Some((last, mass)) if *last == symbol => *mass += counts[symbol.index()],
                    _ => uses[piece as usize].push((symbol, counts[symbol.index()])),
                }
            }
        }
        uses
    };
    let [first, own] = [languages.all()[0], language].map(uses);
    let mass = |uses: &[(Symbol, u64)]| uses.iter().map(|(_, mass)| mass).sum::<u64>();
    let candidate = |(piece, (first, own)): (u32, (&Vec<(Symbol, u64)>, &Vec<(Symbol, u64)>))| {
        (!first.is_empty() && !own.is_empty()).then(|| {
            let [of_first, of_own] = [first, own].map(|uses| mass(uses));
            let sem = common(first, own).map(|(a, b)| (a as f64 / of_first as f64).min(b as f64 / of_own as f64)).sum();
            SharedPiece { piece, mass: of_own, sem }
        })
    };
    (0..).zip(first.iter().zip(&own)).filter_map(candidate).collect()
}

/// The masses of the symbols that two sorted lists share.
fn common<'a>(first: &'a [(Symbol, u64)], own: &'a [(Symbol, u64)]) -> impl Iterator<Item = (u64, u64)> + 'a {
    let of_own = |symbol: &Symbol| own.binary_search_by_key(symbol, |(other, _)| *other).ok().map(|at| own[at].1);
    first.iter().filter_map(move |(symbol, mass)| Some((*mass, of_own(symbol)?)))
}

/// The candidates that are shared.
fn shared_pieces(mut candidates: Vec<SharedPiece>, config: &TokenizerConfig, seed: u64) -> impl Iterator<Item = u32> {
    let total: u64 = candidates.iter().map(|candidate| candidate.mass).sum();
    let most = match config.share {
        Share::All => total as f64,
        Share::None => 0.0,
        Share::Cognate | Share::Other => total as f64 / 2.0,
        Share::Random => config.share_p * total as f64,
    };
    if config.share == Share::Random {
        let stream = Stream::new(seed, "tokenizer/share/random");
        candidates.sort_by_cached_key(|candidate| {
            let mut rng = stream.at(0, candidate.piece.into());
            (rng.bits(), rng.bits(), candidate.piece)
        });
    } else {
        candidates.sort_by(|a, b| b.sem.total_cmp(&a.sem).then(a.piece.cmp(&b.piece)));
    }
    // The longest prefix whose mass is at most `most`.
    let sums = candidates.iter().scan(0, |sum, candidate| {
        *sum += candidate.mass;
        Some(*sum)
    });
    let first = sums.take_while(|&sum| sum as f64 <= most).count();
    let remaining = candidates.split_off(first);
    let shared = if config.share == Share::Other { remaining } else { candidates };
    shared.into_iter().map(|candidate| candidate.piece)
}
