//! The lexicon as the table `lexicon.tsv`, written by `invitro language export` and into every run folder. Its columns are
//! stable.

use crate::languages::Languages;
use crate::lexicon::word::Word;
use crate::world::symbol::Language;

impl Languages {
    /// One row per symbol, tab-separated, with a header; a field that does not apply is empty. `class` is the class of an
    /// entity, or of the entities that a descriptor or relation verb applies to. `concept` is the source of real words.
    pub fn lexicon_tsv(&self) -> String {
        let world = &self.world;
        let columns = |kind: &str| names(kind, &mut self.all().iter().copied());
        let masked: Vec<Language> = self.masked().collect();
        // A single masked language needs no name.
        let masks = if masked.len() > 1 { names("masked", &mut self.masked()) } else { "masked".into() };
        let mut head = vec!["symbol\tcategory\tclass\tproperty\tvalue".into(), columns("form"), columns("stem"), masks];
        let borrowed = self.lexicon.borrowed();
        head.extend(borrowed.map(|_| "concept".into()));
        let mut out = head.join("\t") + "\n";
        for symbol in world.symbols() {
            let descriptor = world.descriptor_of(symbol);
            let number = |n: Option<u16>| n.map_or(String::new(), |n| n.to_string());
            let mut row = vec![
                world.label(symbol),
                world.category(symbol).name().to_owned(),
                number(world.class(symbol).map(|class| class.0)),
                number(descriptor.map(|(property, _)| property.0)),
                number(descriptor.map(|(_, value)| value)),
            ];
            let words: Vec<&Word> = self.all().iter().map(|&language| self.lexicon.word(symbol, language)).collect();
            row.extend(words.iter().map(|word| word.form().to_owned()));
            row.extend(words.iter().map(|word| word.stem_letters()));
            row.extend(masked.iter().map(|&language| self.mask(language).contains(symbol).to_string()));
            row.extend(borrowed.map(|borrowed| borrowed.concept(symbol).unwrap_or_default().to_owned()));
            out.push_str(&row.join("\t"));
            out.push('\n');
        }
        out
    }
}

/// `form_A`, `form_B`, …, tab-separated.
fn names(kind: &str, languages: &mut dyn Iterator<Item = Language>) -> String {
    languages.map(|language| format!("{kind}_{}", language.name())).collect::<Vec<_>>().join("\t")
}
