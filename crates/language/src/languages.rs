//! A world with its grammar, its lexicons and its mask: everything `[language]` and a data seed decide.

use crate::config::LanguageConfig;
use crate::error::{Error, Result};
use crate::grammar::Grammar;
use crate::lexicon::Lexicon;
use crate::mask::Mask;
use crate::parser::{Parser, unfillable};
use crate::symbol::{Language, Symbol, Terminal};
use crate::world::World;

/// The languages A and B over one world.
///
/// ```
/// use invitro_language::{Language, Languages, LanguageConfig, Stream};
/// let languages = Languages::new(&LanguageConfig::default(), 0).unwrap();
/// let sentence = languages.sampler().sentence(&mut Stream::new(0, "example").at(0, 0));
/// let text = languages.text(&sentence.symbols, Language::B);
/// assert!(languages.checker().text(&text, Language::B).facts);
/// ```
#[derive(Clone, Debug)]
pub struct Languages {
    /// The settings they were made from.
    pub config: LanguageConfig,
    /// The data seed.
    pub seed: u64,
    /// The world they speak of.
    pub world: World,
    /// The grammar of both.
    pub grammar: Grammar,
    /// The words of both.
    pub lexicon: Lexicon,
    /// The words withheld from B.
    pub mask: Mask,
    pub(crate) parser: Parser,
}

impl Languages {
    /// The languages of a config and a data seed.
    pub fn new(config: &LanguageConfig, seed: u64) -> Result<Languages> {
        config.validate()?;
        let grammar = Grammar::load(&config.grammar)?;
        let parser = Parser::new(&grammar);
        if let Some(terminals) = unfillable(&grammar, &parser) {
            return Err(Error::Mismatch(format!(
                "grammar `{}` makes phrases that nothing can fill, such as {terminals:?}: a descriptor or relation verb \
                 needs a subject in its phrase, and an object a relation verb",
                grammar.name()
            )));
        }
        if !grammar.can_make(Terminal::Descriptor) {
            return Err(Error::Mismatch(format!(
                "grammar `{}` makes no descriptors, so that no sentence could have a masked word and B† would be empty",
                grammar.name()
            )));
        }
        let world = World::new(config, grammar.can_make(Terminal::Separator), seed);
        let mask = Mask::new(&world, config, seed)?;
        let lexicon = Lexicon::new(&world, config, &mask, seed)?;
        Ok(Languages { config: config.clone(), seed, world, grammar, lexicon, mask, parser })
    }

    /// Whether words of this language are withheld from training: those of B that the mask has.
    #[inline]
    pub fn has_mask(&self, language: Language) -> bool {
        language == Language::B
    }

    /// A symbol's word in a language.
    #[inline]
    pub fn form(&self, symbol: Symbol, language: Language) -> &str {
        self.lexicon.form(symbol, language)
    }

    /// A sentence's text: its words with a space between them.
    pub fn text(&self, symbols: &[Symbol], language: Language) -> String {
        let mut text = String::with_capacity(symbols.len() * 10);
        for (i, &symbol) in symbols.iter().enumerate() {
            if i > 0 {
                text.push(' ');
            }
            text.push_str(self.form(symbol, language));
        }
        text
    }
}
