//! Limits of what is read, so that no input takes all memory or never ends. Each is far above what experiments need.

/// Nonterminals of a grammar.
pub const NONTERMINALS: usize = 200;
/// Symbols of a grammar in Chomsky normal form.
pub const GRAMMAR_SYMBOLS: usize = 500;
/// Words of a sampled sentence without its modifiers, and of a sentence that is parsed under one's own grammar. Parsing
/// takes cubic time.
pub const SENTENCE_WORDS: usize = 300;
/// Mean number of words of a grammar's sentences: few enough that most have at most [`SENTENCE_WORDS`].
pub const MEAN_WORDS: f64 = 100.0;
/// Mean number of symbols in a derivation.
pub const MEAN_SYMBOLS: f64 = 1000.0;
