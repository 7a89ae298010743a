//! The lexicons as a CLDF wordlist, with what programs for historical linguistics are to find: cognate sets and borrowings.

use crate::error::{Error, Result};
use crate::languages::Languages;
use crate::lexicon::history::script;
use crate::world::symbol::{Category, Language, Symbol};

/// The tables with their columns; `cldf-metadata.json` describes them.
const TABLES: [(&str, &str); 5] = [
    ("languages.csv", "ID,Name,Parent"),
    ("parameters.csv", "ID,Name,Category"),
    ("forms.csv", "ID,Language_ID,Parameter_ID,Form,Segments,Stem"),
    ("cognates.csv", "ID,Form_ID,Cognateset_ID"),
    ("borrowings.csv", "ID,Target_Form_ID,Source_Form_ID,Comment"),
];

impl Languages {
    /// The files of a CLDF wordlist, by name: all words but names, which are no cognates, and real words, whose cognates are
    /// not known. Words of one proto-stem form a cognate set, loans among them; a false friend is in that of its form.
    pub fn cldf(&self) -> Result<Vec<(&'static str, String)>> {
        if self.lexicon.has_replaced_stems() {
            return Err(Error::mismatch(
                "at this distance unrelated stems replace some of the proto-language's, so that cognate sets are not known: \
                 export CLDF at a smaller distance",
            ));
        }
        let world = &self.world;
        let is_real = |symbol: Symbol| self.lexicon.borrowed().is_some_and(|real| real.concept(symbol).is_some());
        let counts = |&symbol: &Symbol| world.category(symbol) != Category::Name && !is_real(symbol);
        let id = |symbol: Symbol| world.label(symbol).replace('.', "_");
        let form_id = |symbol: Symbol, language: Language| format!("{}-{}", language.name(), id(symbol));
        let mut tables = TABLES.map(|(_, columns)| vec![columns.to_owned()]);
        let nodes = self.family.nodes();
        for &language in self.all() {
            let parent = self.family.node(language).parent.map_or("", |parent| &nodes[parent].name);
            tables[0].push(format!("{0},{0},{parent}", language.name()));
        }
        let first = self.all()[0];
        for symbol in world.symbols().filter(counts) {
            tables[1].push(format!("{},{},{}", id(symbol), world.label(symbol), world.category(symbol).name()));
            for &language in self.all() {
                let word = self.lexicon.word(symbol, language);
                // Sounds in letters that every program knows.
                let parts = [word.prefix(), word.stem(), word.suffix()].map(script::read);
                let spaced = |part: &String| part.chars().map(String::from).collect::<Vec<_>>().join(" ");
                let segments = parts.iter().filter(|part| !part.is_empty()).map(spaced).collect::<Vec<_>>().join(" + ");
                let form = form_id(symbol, language);
                let (name, concept, stem) = (language.name(), id(symbol), script::read(&word.stem_letters()));
                tables[2].push(format!("{form},{name},{concept},{},{segments},{stem}", word.form()));
                let friend = self.friend(symbol, language);
                tables[3].push(format!("{form},{form},{}", id(friend.unwrap_or(symbol))));
                let source = friend.map(|friend| (friend, "false friend"));
                let source = source.or_else(|| self.is_loan(symbol, language).then_some((symbol, "loan")));
                if let Some((source, kind)) = source {
                    tables[4].push(format!("{form},{form},{},{kind}", form_id(source, first)));
                }
            }
        }
        let names = TABLES.iter().map(|(name, _)| *name);
        let mut files: Vec<(&str, String)> = names.zip(tables.into_iter().map(|rows| rows.join("\n") + "\n")).collect();
        files.push(("Wordlist-metadata.json", include_str!("cldf-metadata.json").to_owned()));
        Ok(files)
    }
}
