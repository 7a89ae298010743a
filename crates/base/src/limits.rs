//! Limits of what is read, so that no input takes all memory or never ends. Each is far above what experiments need.

use std::io::{BufRead, Error, ErrorKind, Read, Result};
use std::path::Path;

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

/// Cells of a study, before `where` leaves some out.
pub const CELLS: u64 = 100_000;
/// Evaluations of a run.
pub const EVALUATIONS: u64 = 1_000_000;
/// Bytes of a line of text.
pub const LINE_BYTES: usize = 1 << 20;
/// Bytes of a file that a config or an argument names: a tokenizer, a wordlist, a grammar, a text.
pub const FILE_BYTES: u64 = 256 << 20;
/// Bytes that a Parquet table may always unpack to, and how many times its own bytes where that is more.
pub const TABLE_BYTES: u64 = 64 << 20;
/// See [`TABLE_BYTES`].
pub const TABLE_RATIO: u64 = 200;
/// Bytes of text in the rows of a Parquet table.
pub const TABLE_TEXT: usize = 1 << 30;
/// The largest id of a `tokenizer.json`: four times the largest vocabulary in use.
pub const TOKEN_ID: u64 = 1 << 22;
/// Added tokens of a `tokenizer.json`.
pub const ADDED_TOKENS: usize = 20_000;
/// How many letters the replacements of a `tokenizer.json` may make of one.
pub const REPLACED_LETTERS: f64 = 100.0;
/// Rows of a wordlist.
pub const WORDLIST_ROWS: usize = 200_000;
/// Letters of a word in a wordlist.
pub const WORD_LETTERS: usize = 200;
/// Meanings of a wordlist whose words are compared each with each.
pub const FITTED_MEANINGS: usize = 5_000;
/// Comparisons of two letters in fitting a distance: about a minute.
pub const LETTER_PAIRS: f64 = 2e10;
/// Pairs of words of one meaning in a wordlist.
pub const WORD_PAIRS: f64 = 1e6;

/// Reads a file of at most [`FILE_BYTES`].
pub fn read_file(path: &Path) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    std::fs::File::open(path)?.take(FILE_BYTES + 1).read_to_end(&mut content)?;
    match content.len() as u64 > FILE_BYTES {
        true => Err(too_large(format!("it has more than {} MB, which is the most that is read", FILE_BYTES >> 20))),
        false => Ok(content),
    }
}

/// The same as text.
pub fn read_text_file(path: &Path) -> Result<String> {
    String::from_utf8(read_file(path)?).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Appends the next line to `line`, its end included, and returns its length: 0 at the end of the input. A line of more
/// than [`LINE_BYTES`] is an error.
pub fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<usize> {
    let read = input.take(LINE_BYTES as u64 + 1).read_until(b'\n', line)?;
    match read > LINE_BYTES {
        true => Err(too_large(format!("it has more than {} MB, which is the most of a line", LINE_BYTES >> 20))),
        false => Ok(read),
    }
}

fn too_large(why: String) -> Error {
    Error::new(ErrorKind::FileTooLarge, why)
}
