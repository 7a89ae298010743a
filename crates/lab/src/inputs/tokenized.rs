//! The languages as a model reads them: a tokenizer with its table of pieces.

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use invitro_language::{Language, Languages, Sequence, Source, Symbol, Task};
use invitro_model::TokenSequence;
use invitro_tokenizer::{Segmentation, Tokenizer};
use std::sync::Arc;

pub struct TokenizedText {
    pub tokenizer: Tokenizer,
    pub segmentation: Segmentation,
    /// By language, the rows that its text can have; empty where that is all of them.
    usable: Vec<Arc<[bool]>>,
}

impl TokenizedText {
    /// The experiment's tokenizer, trained or read.
    pub fn new(experiment: &Experiment, languages: &Languages) -> Result<TokenizedText> {
        let tokenizer = Tokenizer::new(languages, &experiment.tokenizer, &experiment.mixture)?;
        TokenizedText::with_tokenizer(tokenizer, experiment, languages)
    }

    /// The experiment's languages by a tokenizer that is there.
    pub fn with_tokenizer(
        tokenizer: Tokenizer,
        experiment: &Experiment,
        languages: &Languages,
    ) -> Result<TokenizedText> {
        let segmentation = Segmentation::under(&tokenizer, languages, &experiment.tokenizer)?;
        let has_more = segmentation.rows() > segmentation.vocab_size();
        let languages_with_own_ids = languages.all().iter().filter(|_| has_more);
        let usable = languages_with_own_ids.map(|&language| segmentation.usable(language).into()).collect();
        Ok(TokenizedText { tokenizer, segmentation, usable })
    }

    /// |V|
    pub fn vocab(&self) -> usize {
        self.segmentation.vocab_size()
    }

    /// Rows of the model: |V|, and more where languages have ids of their own.
    pub fn rows(&self) -> usize {
        self.segmentation.rows()
    }

    /// The ids that a language's text can have, which ranks are taken among; none where that is all of them.
    pub fn usable(&self, language: Language) -> Option<Arc<[bool]>> {
        self.usable.get(language.index()).cloned()
    }

    /// A whole sequence, from its task to its end.
    pub fn sequence(&self, sequence: &Sequence) -> Vec<u32> {
        let mut tokens = Vec::with_capacity(64);
        self.segmentation.encode(sequence, &mut tokens);
        tokens
    }

    /// The prompt of a sequence, which a model continues.
    pub fn prompt(&self, sequence: &Sequence) -> Vec<u32> {
        let mut tokens = Vec::with_capacity(64);
        self.segmentation.encode_prompt(sequence, &mut tokens);
        tokens
    }

    /// `<T0:ℓ>` and the first words of a free sentence, with the boundary after the last word where that is a token.
    pub fn opening(&self, language: Language, words: &[Symbol]) -> Vec<u32> {
        let task = [self.segmentation.special().task(Task::T0, language)];
        let words = words.iter().flat_map(|&word| self.segmentation.pieces(word, language));
        task.iter().chain(words).copied().collect()
    }

    /// A word's pieces, and how many of them come before a boundary that ends it.
    pub fn word(&self, symbol: Symbol, language: Language) -> (&[u32], usize) {
        let pieces = self.segmentation.pieces(symbol, language);
        (pieces, pieces.len() - usize::from(pieces.last().is_some_and(|&last| self.segmentation.is_boundary(last))))
    }

    /// The ids of a word that was given, and whether the language has it: from the table if so, else as the tokenizer
    /// takes it apart.
    pub fn given(&self, word: &str, languages: &Languages, language: Language) -> Result<(Vec<u32>, bool)> {
        if let Some(symbol) = languages.lexicon.symbol(word, language) {
            return Ok((self.segmentation.pieces(symbol, language).to_vec(), true));
        }
        let tokens = self.tokenizer.pieces_in_text(word)?;
        let is_special = tokens.iter().any(|&token| token < self.tokenizer.special().count());
        if is_special || self.tokenizer.decode(&tokens)?.trim() != word {
            return Err(Error::Spelling { word: word.to_owned(), language: language.name() });
        }
        Ok((self.segmentation.ids(&tokens, language), false))
    }

    /// The ids of a text in a language: its words, and special tokens among them.
    pub fn words(&self, text: &str, languages: &Languages, language: Language) -> Result<Vec<u32>> {
        let special = self.segmentation.special().tokens();
        let mut ids = Vec::new();
        for word in text.split_whitespace() {
            match special.iter().position(|token| token == word) {
                Some(id) => ids.push(id as u32),
                None => ids.extend(self.given(word, languages, language)?.0),
            }
        }
        Ok(ids)
    }

    /// A row of training: redrawn until it fits the context.
    pub fn training_row(&self, source: &mut Source, step: u64, row: u64, context: usize) -> Result<Sequence> {
        Ok(source.draw_where(step, row, |sequence| self.segmentation.length(sequence) <= context)?)
    }

    /// The same as the model takes it, its words in cuts that dropout draws where there is some.
    pub fn draw(&self, source: &mut Source, step: u64, row: u64, context: usize) -> Result<TokenSequence> {
        let sequence = self.training_row(source, step, row, context)?;
        let mut tokens = Vec::with_capacity(64);
        self.segmentation.encode_training(&sequence, (step, row), context, &mut tokens);
        Ok(TokenSequence { tokens, group: sequence.task as u8 })
    }

    /// The rows that a training step reads; the first step is 1.
    pub fn batch(&self, source: &mut Source, step: u64, rows: u64, context: usize) -> Result<Vec<TokenSequence>> {
        (0..rows).map(|row| self.draw(source, step - 1, row, context)).collect()
    }

    /// The first `count` rows of a training run; under a schedule as many from all of it, since the first are of one stage.
    pub fn training_rows(&self, experiment: &Experiment, languages: &Languages, count: u64) -> Result<Vec<Vec<u32>>> {
        let batch = experiment.train.batch as u64;
        let (steps, scheduled) = (experiment.train.steps, !experiment.mixture.schedule.is_empty());
        let mut source = Source::training(languages, &experiment.mixture, batch, steps);
        let step = |i: u64| if scheduled { i * steps / count } else { i / batch };
        let row = |i: u64| self.draw(&mut source, step(i), i % batch, experiment.model.context);
        (0..count).map(row).map(|row| Ok(row?.tokens)).collect()
    }
}
