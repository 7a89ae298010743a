//! How a word came to be: its proto-stem, what changed along the branches, and what it was made of.

use crate::languages::Languages;
use crate::world::symbol::{Category, Language, Symbol};
use serde::Serialize;

/// One step of a word's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DerivationStep {
    /// What happened: a sound law in its notation, or the name of another step.
    pub change: String,
    /// The language or ancestor in which it happened; empty for the proto-language.
    pub node: String,
    /// What came of it.
    pub form: String,
}

impl Languages {
    /// The history of a symbol's word in a language: the proto-stem, every law and every run of edits that changed it, and the
    /// word that was made of it. Steps without effect are left out.
    pub fn derivation(&self, symbol: Symbol, language: Language) -> Vec<DerivationStep> {
        let (nodes, lexicon) = (self.family.nodes(), &self.lexicon);
        let last = self.family.position(language);
        let mut path: Vec<usize> = std::iter::successors(Some(last), |&node| nodes[node].parent).collect();
        path.reverse();
        let step = |change: &str, node: &str, form: &str| DerivationStep {
            change: change.into(),
            node: node.into(),
            form: form.into(),
        };
        if lexicon.is_borrowed(symbol) {
            return vec![step("real word", language.name(), lexicon.form(symbol, language))];
        }
        let mut form = lexicon.proto_stem(symbol).as_str().to_owned();
        let mut steps = vec![step("proto-stem", "", &form)];
        for node in path.into_iter().filter(|_| self.world.category(symbol) != Category::Name) {
            let name = &nodes[node].name;
            for law in lexicon.laws(node).iter().flat_map(|laws| laws.laws()) {
                let after = law.apply(&form);
                if after != form {
                    steps.push(step(law.text(), name, &after));
                    form = after;
                }
            }
            let inherited = lexicon.inherited_stem(symbol, node).as_str();
            if form != inherited {
                steps.push(step("edits", name, inherited));
                form = inherited.to_owned();
            }
        }
        // Loans and false friends come last, and to no descendant.
        let contact = match lexicon.contact().friend(symbol, last) {
            Some(friend) => Some(format!("false friend: the first language's word of {}", self.world.label(friend))),
            None => lexicon.contact().is_loan(symbol, last).then(|| "loan of the first language's stem".to_owned()),
        };
        if let Some(contact) = contact {
            form = lexicon.stem(symbol, last).as_str().to_owned();
            steps.push(step(&contact, language.name(), &form));
        }
        let word = lexicon.word(symbol, language);
        if word.form() != form {
            let parts = [word.prefix(), word.stem(), word.suffix()];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            steps.push(step("word", language.name(), &parts.join("·")));
        }
        steps
    }
}
