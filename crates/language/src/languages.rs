//! A world with its languages: a function of `[language]`, `[[languages]]` and a data seed.

use crate::corpus::sentence::Sentence;
use crate::error::{Error, Result};
use crate::family::{Branch, Family};
use crate::grammar::Grammar;
use crate::grammar::analysis::Analysis;
use crate::grammar::parser::{Parser, unfillable};
use crate::lexicon::Lexicon;
use crate::lexicon::history::script;
use crate::world::World;
use crate::world::facts::Facts;
use crate::world::mask::Mask;
use crate::world::symbol::{Language, Symbol, Terminal, WordClass};
use invitro_base::random::Stream;
use invitro_base::settings::{Given, LanguageConfig, LanguageEntry, MixtureConfig, Tags, Withhold};

/// The languages over one world.
///
/// ```
/// use invitro_language::{Language, Languages, LanguageConfig, Stream};
/// let languages = Languages::new(&LanguageConfig::default(), 0).unwrap();
/// let sentence = languages.sampler().sentence(Language::B, &mut Stream::new(0, "example").at(0, 0));
/// let text = languages.text(&sentence.symbols, Language::B);
/// assert!(languages.checker().text(&text, Language::B).facts);
/// ```
#[derive(Clone, Debug)]
pub struct Languages {
    /// The settings they were made from.
    pub config: LanguageConfig,
    /// The data seed.
    pub seed: u64,
    /// The world that their sentences describe.
    pub world: World,
    /// Their family tree.
    pub family: Family,
    /// The words of all languages.
    pub lexicon: Lexicon,
    /// The content of a sequence's first token.
    pub tags: Tags,
    /// Whether the tasks include translation, if only of single words.
    pub translates: bool,
    /// The words of T2's prompts.
    pub given: Given,
    all: Vec<Language>,
    masks: Vec<Mask>,
    /// The withheld facts of every language, if facts are withheld instead of words.
    facts: Option<Vec<Facts>>,
    /// The distinct grammars.
    syntaxes: Vec<Syntax>,
    /// The index of each language's grammar.
    syntax_of: Vec<usize>,
}

/// A grammar with its parser.
#[derive(Clone, Debug)]
pub(crate) struct Syntax {
    pub grammar: Grammar,
    pub parser: Parser,
}

impl Languages {
    /// The pair A and B.
    pub fn new(config: &LanguageConfig, seed: u64) -> Result<Languages> {
        Languages::of_family(config, &[], seed)
    }

    /// The languages of a list; the pair if the list is empty.
    pub fn of_family(config: &LanguageConfig, list: &[LanguageEntry], seed: u64) -> Result<Languages> {
        config.validate()?;
        let family = Family::new(config, list)?;
        let (syntaxes, syntax_of) = syntaxes(&family)?;
        let separator = syntaxes.iter().any(|syntax| syntax.grammar.can_make(Terminal::Separator));
        let world = World::new(config, separator, seed);
        let node_masks = Mask::of_family(&world, &family, seed)?;
        let lexicon = Lexicon::new(&world, config, &family, &node_masks, seed)?;
        let masks = family.nodes().iter().zip(node_masks).filter(|(node, _)| node.language.is_some());
        let masks = masks.map(|(_, mask)| mask).collect();
        let all = family.languages();
        Ok(Languages {
            config: config.clone(),
            seed,
            world,
            family,
            lexicon,
            tags: Tags::TaskLanguage,
            translates: false,
            given: Given::OneToAll,
            all,
            masks,
            facts: None,
            syntaxes,
            syntax_of,
        })
    }

    /// The same languages under the settings of a mixture: withholding, tags, translation, T2's prompts. The words do not change.
    pub fn under(self, mixture: &MixtureConfig) -> Result<Languages> {
        let facts = (mixture.withhold == Withhold::Facts).then(|| self.withheld_facts()).transpose()?;
        let none = Mask::none(&self.world);
        let masks = if facts.is_some() { vec![none; self.masks.len()] } else { self.masks };
        let MixtureConfig { tags, given, .. } = *mixture;
        Ok(Languages { masks, facts, tags, given, translates: mixture.translates(), ..self })
    }

    fn withheld_facts(&self) -> Result<Vec<Facts>> {
        let withheld = |&language: &Language| {
            let node = self.family.node(language);
            if node.mask_share == 0.0 {
                return Ok(Facts::none());
            }
            let stream = Stream::new(self.seed, &format!("facts/{}", language.name()));
            Facts::new(&self.world, node, &mut stream.at(0, 0))
        };
        let facts: Vec<Facts> = self.all.iter().map(withheld).collect::<Result<_>>()?;
        if facts.iter().all(|facts| facts.count() > 0) {
            return Err(Error::mismatch(
                "facts would be withheld in every language: leave one language's `mask_share` at 0",
            ));
        }
        Ok(facts)
    }

    /// Every language, in the order of the list.
    #[inline]
    pub fn all(&self) -> &[Language] {
        &self.all
    }

    /// The language of a name.
    pub fn language(&self, name: &str) -> Option<Language> {
        self.all.iter().copied().find(|language| language.name() == name)
    }

    /// The language that a number in [0, 1) selects by these shares; the first language takes the remainder.
    #[inline]
    pub fn pick(&self, shares: &[f64], number: f64) -> Language {
        let mut sum = 0.0;
        let picked = shares.iter().zip(&self.all).skip(1).find(|(share, _)| {
            sum += *share;
            number < sum
        });
        picked.map_or(self.all[0], |(_, &language)| language)
    }

    /// The words of a language that are withheld from training; empty if facts are withheld.
    #[inline]
    pub fn mask(&self, language: Language) -> &Mask {
        &self.masks[language.index()]
    }

    /// The facts of a language that are withheld from training, if facts are withheld instead of words.
    #[inline]
    pub fn facts(&self, language: Language) -> Option<&Facts> {
        self.facts.as_ref().map(|facts| &facts[language.index()])
    }

    /// The languages that have a mask.
    pub fn masked(&self) -> impl Iterator<Item = Language> + '_ {
        self.all.iter().copied().filter(|&language| self.family.node(language).mask_share > 0.0)
    }

    /// Whether a language withholds a sentence from training: it has a masked word, or states a withheld fact.
    #[inline]
    pub fn withholds(&self, language: Language, sentence: &Sentence) -> bool {
        match self.facts(language) {
            None => self.mask(language).touches(&sentence.symbols),
            Some(facts) => facts.stated(&self.world, sentence).next().is_some(),
        }
    }

    /// The descriptors for which a language withholds a sentence.
    pub fn withheld(&self, language: Language, sentence: &Sentence) -> Vec<Symbol> {
        let words = || sentence.symbols.iter().copied();
        match self.facts(language) {
            None => words().filter(|&symbol| self.mask(language).contains(symbol)).collect(),
            Some(facts) => facts.stated(&self.world, sentence).map(|at| sentence.symbols[at]).collect(),
        }
    }

    /// Whether a language withholds a word that code switching would insert into a sentence of another language.
    pub(crate) fn withholds_word(&self, language: Language, symbol: Symbol, sentence: &Sentence) -> bool {
        match self.facts(language) {
            None => self.mask(language).contains(symbol),
            Some(facts) => facts.stated(&self.world, sentence).next().is_some(),
        }
    }

    /// Whether a language withholds a descriptor of an entity that Γ allows.
    #[inline]
    pub fn never_says(&self, language: Language, descriptor: Symbol, entity: Symbol) -> bool {
        match self.facts(language) {
            None => self.mask(language).contains(descriptor),
            Some(facts) => facts.contains(&self.world, entity, descriptor),
        }
    }

    /// Whether a symbol is masked in any language.
    pub fn is_masked(&self, symbol: Symbol) -> bool {
        self.masks.iter().any(|mask| mask.contains(symbol))
    }

    /// The grammar of a language.
    pub fn grammar(&self, language: Language) -> &Grammar {
        &self.syntax(language).grammar
    }

    #[inline]
    pub(crate) fn syntax(&self, language: Language) -> &Syntax {
        &self.syntaxes[self.syntax_of[language.index()]]
    }

    /// Whether all languages share one grammar.
    #[inline]
    pub fn share_grammar(&self) -> bool {
        self.syntaxes.len() == 1
    }

    /// The letters of a language's words, except names.
    pub fn alphabet(&self, language: Language) -> String {
        let letters = self.lexicon.letters(language);
        let alphabet = self.written(&[letters.consonants(), letters.vowels()].concat(), language);
        let more = self.lexicon.borrowed_letters(language);
        let more: String = more.into_iter().filter(|&letter| !alphabet.contains(letter)).collect();
        alphabet + &more
    }

    /// Letters of the shared alphabet in a language's script.
    pub fn written(&self, letters: &str, language: Language) -> String {
        script::write(letters, self.family.node(language).script)
    }

    /// The first words of a sentence whose next word describes an entity; `None` if descriptors precede their subjects.
    pub fn opening(&self, entity: Symbol, language: Language) -> Option<Vec<Symbol>> {
        use WordClass::{Copula, Descriptor, Entity};
        let copula = self.world.copula();
        let openings: [(&[WordClass], &[Symbol]); 3] = [
            (&[Entity, Copula, Descriptor], &[entity, copula]),
            (&[Entity, Descriptor, Copula], &[entity]),
            (&[Copula, Entity, Descriptor], &[copula, entity]),
        ];
        let parser = &self.syntax(language).parser;
        let is_sentence = |parts: &[WordClass]| parser.parse(parts, &mut Analysis::default()).is_ok();
        openings.into_iter().find(|(parts, _)| is_sentence(parts)).map(|(_, words)| words.to_vec())
    }

    /// The calibrated distances of the tree: the languages, the measured and the requested distance.
    pub fn calibrated_distances(&self) -> Vec<(String, f64, f64)> {
        let distances = self.lexicon.distances();
        let nodes = self.family.nodes();
        let measured = |branch: &Branch| {
            if let [one, other] = branch.nodes[..] {
                let [one, other] = [nodes[one].language?, nodes[other].language?];
                let names = format!(" of {} and {}", one.name(), other.name());
                return Some((names, distances.stems(one, other).relative, branch.distance));
            }
            let node = branch.nodes[0];
            let parent = branch.parent.map_or("the proto-language", |parent| &nodes[parent].name);
            let names = format!(" of {} and {parent}", nodes[node].name);
            (branch.sibling_of.is_none() && !branch.by_file)
                .then(|| (names, distances.from_parent(node).relative, branch.distance))
        };
        self.family.branches().iter().filter_map(measured).collect()
    }

    /// The grammars as files: `grammar.txt`, and `grammar.NAME.txt` for each language with another grammar.
    pub fn grammar_files(&self) -> Vec<(String, &str)> {
        let mut files = vec![("grammar.txt".to_owned(), self.grammar(self.all[0]).text())];
        for &language in self.all.iter().filter(|language| self.syntax_of[language.index()] != self.syntax_of[0]) {
            files.push((format!("grammar.{}.txt", language.name()), self.grammar(language).text()));
        }
        files
    }

    /// Whether a symbol's word in a language is a loan: the first language's stem.
    pub fn is_loan(&self, symbol: Symbol, language: Language) -> bool {
        self.lexicon.contact().is_loan(symbol, self.family.position(language))
    }

    /// The symbol whose word in the first language is a language's word of another symbol, its false friend.
    pub fn friend(&self, symbol: Symbol, language: Language) -> Option<Symbol> {
        self.lexicon.contact().friend(symbol, self.family.position(language))
    }

    /// The sound laws as files, `laws.NAME.txt` for each language and ancestor that they made.
    pub fn law_files(&self) -> Vec<(String, String)> {
        let nodes = self.family.nodes().iter().enumerate();
        nodes
            .filter_map(|(at, node)| Some((format!("laws.{}.txt", node.name), self.lexicon.laws(at)?.text())))
            .collect()
    }

    /// A symbol's word in a language.
    #[inline]
    pub fn form(&self, symbol: Symbol, language: Language) -> &str {
        self.lexicon.form(symbol, language)
    }

    /// The text of a sentence: its words, separated by spaces.
    pub fn text(&self, symbols: &[Symbol], language: Language) -> String {
        symbols.iter().map(|&symbol| self.form(symbol, language)).collect::<Vec<_>>().join(" ")
    }
}

/// The distinct grammars of the spoken languages, and the index of each language's.
fn syntaxes(family: &Family) -> Result<(Vec<Syntax>, Vec<usize>)> {
    let mut syntaxes: Vec<(String, Syntax)> = Vec::new();
    let mut syntax_of = Vec::new();
    for language in family.languages() {
        let given = &family.node(language).grammar;
        let known = syntaxes.iter().position(|(known, _)| known == given);
        syntax_of.push(known.unwrap_or(syntaxes.len()));
        if known.is_some() {
            continue;
        }
        let grammar = Grammar::load(given)?;
        let parser = Parser::new(&grammar);
        if let Some(terminals) = unfillable(&grammar, &parser) {
            return Err(Error::mismatch(format!(
                "grammar `{}` makes phrases that nothing can fill, such as {terminals:?}: a descriptor or relation verb \
                 needs a subject in its phrase, and an object a relation verb",
                grammar.name()
            )));
        }
        if !grammar.can_make(Terminal::Descriptor) {
            return Err(Error::mismatch(format!(
                "grammar `{}` makes no descriptors, so that no sentence could have a masked word and B† would be empty",
                grammar.name()
            )));
        }
        syntaxes.push((given.clone(), Syntax { grammar, parser }));
    }
    Ok((syntaxes.into_iter().map(|(_, syntax)| syntax).collect(), syntax_of))
}
