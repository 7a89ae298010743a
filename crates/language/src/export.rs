//! The lexicon as a table for other programs, `lexicon.tsv`. Its columns are stable: `invitro language export` and every
//! run folder write the same file.

use crate::languages::Languages;
use crate::symbol::Language;

impl Languages {
    /// One row per symbol, tab-separated, with a header; a field that does not apply is empty. `class` is an entity's, or
    /// the one that a descriptor or relation verb is about.
    pub fn lexicon_tsv(&self) -> String {
        let world = &self.world;
        let columns = |kind: &str| Language::ALL.map(|language| format!("{kind}_{}", language.name())).join("\t");
        let mut out =
            format!("symbol\tcategory\tclass\tproperty\tvalue\t{}\t{}\tmasked\n", columns("form"), columns("stem"));
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
            let words = Language::ALL.map(|language| self.lexicon.word(symbol, language));
            row.extend(words.iter().map(|word| word.form().to_owned()));
            row.extend(words.iter().map(|word| word.stem().to_owned()));
            row.push(self.mask.contains(symbol).to_string());
            out.push_str(&row.join("\t"));
            out.push('\n');
        }
        out
    }
}
