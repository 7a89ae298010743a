//! The table of pieces: every symbol in every language, segmented once. The lexicon is closed, so encoding a sequence is
//! copying, and equals encoding its text with `tokenizer.json`.
//!
//! ```text
//! boundary   pieces of `fekoc`     core
//! token      fe koc ▁              fe koc
//! first      ▁fe koc               ▁fe koc
//! last       fe koc▁               fe koc▁
//! ```
//!
//! `tokenizer.cut` cuts words elsewhere (`cut.rs`), and `tokenizer.share` gives pieces separate ids in some languages
//! (`sharing.rs`). Both affect only this table, not `tokenizer.json`. With `tokenizer.dropout`, training reads other cuts
//! (`dropout.rs`); the table has the plain ones.

use crate::error::{Error, Result};
use crate::intervene::cut::Pieces;
use crate::intervene::sharing::Sharing;
use crate::provenance::fingerprint;
use crate::segment::dropout::{DRAWN_CUTS, DrawnCuts};
use crate::segment::words::{self, Recut, core};
use crate::special::{self, SpecialTokens};
use crate::tokenizer::Tokenizer;
use crate::train::alphabet;
use invitro_base::settings::{Boundary, Cut, Kind, Share, TokenizerConfig, no_boundary_token};
use invitro_language::{Category, Language, Languages, Sequence, Symbol, Task};

/// How often the cuts of a training sequence are drawn, until they fit the context.
const DROPOUT_TRIES: usize = 100;

/// The pieces of every word.
#[derive(Clone, Debug)]
pub struct Segmentation {
    pub(crate) boundary: Boundary,
    pub(crate) special: SpecialTokens,
    /// The concatenated pieces of all words, language by language.
    ids: Vec<u32>,
    /// The start of each word's pieces, by language and symbol, and the end of the last.
    starts: Vec<u32>,
    symbols: usize,
    vocab: usize,
    cut: Cut,
    sharing: Sharing,
    /// The cuts that training reads, if they are not the plain ones.
    drawn: Option<DrawnCuts>,
    /// The pieces of names that have common ids although other words do not use these.
    names: Vec<u32>,
    /// Each row's token as in `tokenizer.json`; a language's own row has the language's name appended, as in `koc:B`.
    tokens: Vec<Box<str>>,
    /// Each row's letters, without its mark.
    pub(crate) letters: Vec<Box<[u8]>>,
    /// Whether a row carries, or is, the word boundary.
    pub(crate) marked: Vec<bool>,
}

impl Segmentation {
    /// Segments every word of all languages by a tokenizer of these languages, with the cuts and ids of its settings.
    pub fn new(tokenizer: &Tokenizer, languages: &Languages) -> Result<Segmentation> {
        let config = tokenizer.provenance().map(|provenance| provenance.config.clone()).unwrap_or_default();
        Segmentation::under(tokenizer, languages, &config)
    }

    /// The same with the cuts and ids of other settings.
    pub fn under(tokenizer: &Tokenizer, languages: &Languages, config: &TokenizerConfig) -> Result<Segmentation> {
        check(tokenizer, languages)?;
        let special = SpecialTokens::for_languages(languages);
        let tokens: Vec<String> =
            (0..tokenizer.vocab_size() as u32).map(|id| tokenizer.token(id).unwrap_or_default()).collect();
        let (letters, marked): (Vec<Box<[u8]>>, Vec<bool>) =
            (0..tokens.len() as u32).map(|id| tokenizer.spelled(id)).unzip();
        let boundary = special.boundary();
        let words = words::cut(tokenizer, languages, config.cut, || pieces(&letters, &marked, boundary))?;
        let shares = config.share != Share::All && config.share_boundary && !config.file.is_empty();
        if shares && !words.iter().flatten().flatten().any(|&piece| piece == boundary) {
            return Err(no_boundary_token(tokenizer.boundary()).into());
        }
        let core =
            |symbol: Symbol, language: Language| core(&words[language.index()][symbol.index()], |id| id == boundary);
        let sharing = Sharing::new(languages, config, special.count(), tokens.len() as u32, &core);
        let is_name = |symbol: Symbol| languages.world.category(symbol) == Category::Name;
        let mut names: Vec<u32> = Vec::new();
        if sharing.has_common_names() {
            let pieces = |symbol: Symbol| words[1..].iter().flat_map(move |words| &words[symbol.index()]).copied();
            names = languages.world.symbols().filter(|&symbol| is_name(symbol)).flat_map(pieces).collect();
            names.retain(|&piece| piece != boundary);
            names.sort_unstable();
            names.dedup();
        }
        // The boundary is the same token after every word of a language, names included.
        let id = |piece: u32, symbol: Symbol, language: Language| {
            let is_common = sharing.has_common_names() && piece != boundary && is_name(symbol);
            if is_common { piece } else { sharing.id(piece, language) }
        };
        let drawn = (config.dropout > 0.0).then(|| DrawnCuts::new(tokenizer, languages, &words, config.dropout, id));
        let drawn = drawn.transpose()?;
        let mut ids = Vec::with_capacity(words.len() * languages.world.len() * 4);
        let mut starts = Vec::with_capacity(words.len() * languages.world.len() + 1);
        for (&language, words) in languages.all().iter().zip(&words) {
            for (symbol, word) in languages.world.symbols().zip(words) {
                starts.push(ids.len() as u32);
                ids.extend(word.iter().map(|&piece| id(piece, symbol, language)));
            }
        }
        starts.push(ids.len() as u32);
        let rows = || (0..sharing.rows() as u32).map(|id| (id, sharing.piece(id) as usize));
        let token = |(id, piece): (u32, usize)| match sharing.owner(id) {
            None => tokens[piece].as_str().into(),
            Some(owner) => format!("{}:{}", tokens[piece], languages.all()[owner].name()).into(),
        };
        Ok(Segmentation {
            boundary: tokenizer.boundary(),
            special,
            ids,
            starts,
            symbols: languages.world.len(),
            vocab: tokens.len(),
            cut: config.cut,
            drawn,
            names,
            tokens: rows().map(token).collect(),
            letters: rows().map(|(_, piece)| letters[piece].clone()).collect(),
            marked: rows().map(|(_, piece)| marked[piece]).collect(),
            sharing,
        })
    }

    fn range(&self, symbol: Symbol, language: Language) -> std::ops::Range<usize> {
        let at = language.index() * self.symbols + symbol.index();
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// A word's pieces in running text, with the boundary's token if words have one.
    #[inline]
    pub fn pieces(&self, symbol: Symbol, language: Language) -> &[u32] {
        &self.ids[self.range(symbol, language)]
    }

    /// A word's pieces without a separate boundary token.
    #[inline]
    pub fn core(&self, symbol: Symbol, language: Language) -> &[u32] {
        core(self.pieces(symbol, language), |id| self.is_boundary(id))
    }

    /// Whether an id is a separate boundary token, in any language.
    pub fn is_boundary(&self, id: u32) -> bool {
        self.sharing.piece(id) == self.special.boundary()
    }

    /// The special tokens.
    pub fn special(&self) -> &SpecialTokens {
        &self.special
    }

    /// |V| of the tokenizer.
    pub fn vocab_size(&self) -> usize {
        self.vocab
    }

    /// The number of ids in all languages together, which is the rows of a model. More than |V| if languages have own ids.
    pub fn rows(&self) -> usize {
        self.letters.len()
    }

    /// An id's token as in `tokenizer.json`, with the language's name appended if the id is its own, as in `koc:B`.
    pub fn token(&self, id: u32) -> &str {
        self.tokens.get(id as usize).map_or("", |token| token)
    }

    /// A token's letters as text, with the language's name appended if the id is its own.
    pub fn spelled(&self, id: u32) -> String {
        let common = self.tokens[self.sharing.piece(id) as usize].len();
        String::from_utf8_lossy(self.letters(id)).into_owned() + &self.tokens[id as usize][common..]
    }

    /// Whether an id carries, or is, the word boundary.
    pub fn is_marked(&self, id: u32) -> bool {
        self.marked[id as usize]
    }

    /// The ids in a language of the tokenizer's pieces.
    pub fn ids(&self, pieces: &[u32], language: Language) -> Vec<u32> {
        pieces.iter().map(|&piece| self.sharing.id(piece, language)).collect()
    }

    /// The tokenizer's id of a row's piece.
    pub(crate) fn common_id(&self, row: u32) -> u32 {
        self.sharing.piece(row)
    }

    /// The index of the language that alone has a row; `None` for common rows.
    pub(crate) fn owner(&self, row: u32) -> Option<usize> {
        self.sharing.owner(row)
    }

    /// The pieces that words can be cut into.
    pub fn vocabulary(&self) -> Pieces {
        pieces(&self.letters[..self.vocab], &self.marked[..self.vocab], self.special.boundary())
    }

    /// The ids of a word in a language under another cut.
    pub fn recut(
        &self,
        vocabulary: &Pieces,
        languages: &Languages,
        symbol: Symbol,
        language: Language,
        cut: Cut,
    ) -> Vec<u32> {
        let common_ids = |language: Language| -> Vec<u32> {
            self.pieces(symbol, language).iter().map(|&id| self.sharing.piece(id)).collect()
        };
        let (word, other) = (common_ids(language), common_ids(languages.all()[0]));
        let recut = Recut { pieces: vocabulary, mark: self.boundary, boundary: self.special.boundary(), cut };
        self.ids(&recut.word(languages.form(symbol, language), &word, &other), language)
    }

    /// The ids in a language of a new word, cut as learned, or between its morphemes under `Cut::Morpheme`.
    pub fn spell(&self, tokenizer: &Tokenizer, morphemes: [&str; 3], language: Language) -> Result<Vec<u32>> {
        let pieces = match self.cut {
            Cut::Morpheme => tokenizer.morphemes(morphemes)?,
            _ => tokenizer.morphemes([morphemes.concat().as_str()])?,
        };
        Ok(self.ids(&pieces, language))
    }

    /// For every row, whether a language's text can contain it.
    pub fn usable(&self, language: Language) -> Vec<bool> {
        let mut usable = vec![false; self.rows()];
        (0..self.vocab as u32).for_each(|piece| usable[self.sharing.id(piece, language) as usize] = true);
        self.names.iter().filter(|_| language.index() > 0).for_each(|&piece| usable[piece as usize] = true);
        usable
    }

    /// The table `segmentation.tsv`: every word of every language with its ids and pieces.
    pub fn table(&self, languages: &Languages) -> String {
        let mut table = String::from("language\tsymbol\tform\tids\tpieces\n");
        for &language in languages.all() {
            for symbol in languages.world.symbols() {
                let ids = self.pieces(symbol, language);
                let list = |text: &dyn Fn(u32) -> String| ids.iter().map(|&id| text(id)).collect::<Vec<_>>().join(" ");
                let (label, form) = (languages.world.label(symbol), languages.form(symbol, language));
                let (numbers, pieces) = (list(&|id| id.to_string()), list(&|id| self.token(id).to_owned()));
                table += &format!("{}\t{label}\t{form}\t{numbers}\t{pieces}\n", language.name());
            }
        }
        table
    }

    /// The number of ids that words of these languages can contain: all but special tokens and the boundary.
    pub(crate) fn available(&self, languages: &[Language]) -> u64 {
        let usable: Vec<Vec<bool>> = languages.iter().map(|&language| self.usable(language)).collect();
        let is_piece = |&id: &u32| id >= self.special.count() && !self.is_boundary(id) && !self.letters(id).is_empty();
        let ids = (0..self.rows() as u32).filter(is_piece);
        ids.filter(|&id| usable.iter().any(|usable| usable[id as usize])).count() as u64
    }

    /// A token's letters without its mark; empty for special tokens and the boundary.
    pub fn letters(&self, id: u32) -> &[u8] {
        &self.letters[id as usize]
    }

    /// Appends the ids of a sequence.
    pub fn encode(&self, sequence: &Sequence, out: &mut Vec<u32>) {
        self.encode_words(sequence, out, |symbol, language| self.pieces(symbol, language));
    }

    /// Appends the ids of the prompt: up to `<out>`, or only the task's token for T0.
    pub fn encode_prompt(&self, sequence: &Sequence, out: &mut Vec<u32>) {
        self.encode_prompt_words(sequence, out, &mut |symbol, language| self.pieces(symbol, language));
    }

    /// Appends the ids of the training sequence of a step and row, at most `most` where the plain cuts have as few. With
    /// dropout, every occurrence of a word is in one of its drawn cuts.
    pub fn encode_training(&self, sequence: &Sequence, (step, row): (u64, u64), most: usize, out: &mut Vec<u32>) {
        let start = out.len();
        if let Some(drawn) = &self.drawn {
            let mut rng = drawn.at(step, row);
            for _ in 0..DROPOUT_TRIES {
                let cut = |symbol, language| drawn.cut(symbol, language, rng.index(DRAWN_CUTS));
                self.encode_words(sequence, out, cut);
                if out.len() - start <= most {
                    return;
                }
                out.truncate(start);
            }
        }
        self.encode(sequence, out);
    }

    /// The cuts that training draws of a word, if it has others than the plain one.
    pub fn drawn_cuts(&self, symbol: Symbol, language: Language) -> impl Iterator<Item = &[u32]> {
        let all = self.drawn.iter().flat_map(|drawn| (0..DRAWN_CUTS).map(move |number| (drawn, number)));
        all.map(move |(drawn, number)| drawn.cut(symbol, language, number))
    }

    fn encode_words<'a>(
        &self,
        sequence: &Sequence,
        out: &mut Vec<u32>,
        mut pieces: impl FnMut(Symbol, Language) -> &'a [u32],
    ) {
        self.encode_prompt_words(sequence, out, &mut pieces);
        for (symbol, language) in sequence.sentence_words() {
            out.extend_from_slice(pieces(symbol, language));
        }
        out.push(special::EOS);
    }

    fn encode_prompt_words<'a>(
        &self,
        sequence: &Sequence,
        out: &mut Vec<u32>,
        pieces: &mut impl FnMut(Symbol, Language) -> &'a [u32],
    ) {
        out.push(self.special.opening(sequence));
        for (symbol, language) in sequence.prompt_words() {
            out.extend_from_slice(pieces(symbol, language));
        }
        if sequence.task != Task::T0 {
            out.push(special::OUT);
        }
    }

    /// The number of ids that [`Segmentation::encode`] appends.
    pub fn length(&self, sequence: &Sequence) -> usize {
        let words = sequence.prompt_words().chain(sequence.sentence_words());
        let pieces: usize = words.map(|(symbol, language)| self.range(symbol, language).len()).sum();
        pieces + 2 + usize::from(sequence.task != Task::T0)
    }
}

/// Checks that a tokenizer was trained on these languages.
fn check(tokenizer: &Tokenizer, languages: &Languages) -> Result<()> {
    let ours = SpecialTokens::for_languages(languages);
    if *tokenizer.special() != ours {
        let tokens = |special: &SpecialTokens| special.tokens()[special::OUT as usize + 1..].join(" ");
        return Err(Error::mismatch(format!(
            "the tokenizer was trained on other languages or tasks: it has {}, but these have {}",
            tokens(tokenizer.special()),
            tokens(&ours)
        )));
    }
    if let Some(provenance) = tokenizer.provenance() {
        let (trained, ours) = (&provenance.language, fingerprint(languages));
        if *trained != ours {
            return Err(Error::mismatch(format!(
                "the tokenizer was trained on another language: its words have the fingerprint {trained}, those of this \
                 language {ours}; the settings under `language`, `languages` and `seeds.data` must be the same"
            )));
        }
    }
    let has_letters = !matches!(tokenizer.kind(), None | Some(Kind::Byte));
    let missing = |c: &char| has_letters && tokenizer.word(&c.to_string()).map_or(0, |w| w.len()) != 1;
    match alphabet::letters(languages).into_iter().find(missing) {
        None => Ok(()),
        Some(letter) => Err(Error::mismatch(format!(
            "the tokenizer was trained on another language: it does not know the letter `{letter}`"
        ))),
    }
}

/// What words can be cut into.
fn pieces(letters: &[Box<[u8]>], marked: &[bool], boundary: u32) -> Pieces {
    let tokens = (0..).zip(letters.iter().zip(marked)).skip(boundary as usize + 1);
    Pieces::new(tokens.map(|(id, (letters, &marked))| (id, &letters[..], marked)))
}
