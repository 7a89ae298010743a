//! `[mixture]`

use super::{Range, Section, SettingError, require};
use crate::{named, settings};

settings! {
    /// `[mixture]`: how the languages and the tasks share the training rows.
    MixtureConfig in "mixture", "how the languages and the tasks share the training rows" {
        lambda: f64 = 0.25, Range::above_to(0.0, 1.0), Paper + tokenizer,
            "|D_B| / |D_A|, before rows with masked words are taken out; in a family, of every language that has no share of its own";
        tasks: [f64; 3] = [0.2, 0.4, 0.4], Range::Words("three shares that sum to 1"), Lubana,
            "T0 (free generation), T1 (unscrambling), T2 (conditional generation)";
        corpus: Corpus = Corpus::Fresh, Range::Any, Ours, "fresh: every row is new; finite: `sentences` rows, repeated";
        sentences: u64 = 100_000, Range::from(1.0), Ours, "rows of a finite corpus";
        epochs: u64 = 10, Range::from(1.0), Ours, "how often a finite corpus may be read";
        given: Given = Given::OneToAll, Range::Any, Lubana + neutral + languages,
            "the words of T2's prompt. one-to-all: of each kind (subjects, objects, verbs, descriptors) one to all that the sentence has; one-per-phrase: one of each kind in each phrase";
        sampling: f64 = 1.0, Range::within(0.0, 1.0), Ours + neutral + tokenizer,
            "α: a language is drawn by its size to this power; 1: as large as it is, 0: all alike";
        withhold: Withhold = Withhold::Words, Range::Any, Paper + languages,
            "kept from training in a language with a mask: sentences with a masked word; sentences that state a withheld fact, of which `mask_share` is then the share; nothing: the control";
        translation: f64 = 0.0, Range::to_below(0.0, 1.0), Ours + neutral + languages,
            "share of T3 (translation), all directions alike; `tasks` share the rest";
        schedule: Vec<f64> = Vec::new(), Range::Words("shares from 0 to 1"), Ours + neutral + tokenizer,
            "share of all languages but the first in each of equal stages of training, before masked rows are taken out; none: by lambda throughout";
        code_switch: f64 = 0.0, Range::within(0.0, 1.0), Ours + neutral,
            "how often a word of a training row is said in another language, wherever it stands in the row; never one that is withheld there";
        tags: Tags = Tags::TaskLanguage, Range::Any, Paper + neutral + languages,
            "whether the token that opens a sequence names the task and the language (T1:B) or the task alone (T1)";
        parallel: Parallel = Parallel::None, Range::Any, Ours + neutral,
            "symbols: every sentence is drawn once and said in all languages, so that a smaller text is a translation of a part of the largest";
        exposure: Exposure = Exposure::None, Range::Any, Ours + neutral + languages,
            "training rows that show masked words without any fact. bare: the word alone after <T0:B>; dictionary: the word and its translation (T3), from and into a language that has it, by turns";
        exposures: u64 = 1, Range::from(0.0), Ours + neutral,
            "with exposure: how often training shows every masked word; these rows replace others, at most half of all";
    }
}

named! {
    /// Whether training rows are drawn fresh for every step or from a finite set.
    Corpus {
        /// Every row is new.
        Fresh = "fresh",
        /// Rows of a finite set, again in every epoch.
        Finite = "finite",
    }
}

named! {
    /// What the token that opens a sequence says.
    Tags {
        /// Task and language: `<T1:B>`.
        TaskLanguage = "task-language",
        /// The task alone: `<T1>`.
        Task = "task",
    }
}

named! {
    /// Whether the languages' texts are translations of each other.
    Parallel {
        /// Every row has a sentence of its own.
        None = "none",
        /// A sentence is said in all languages, each as often as its size allows: a smaller text is a translation of a part
        /// of the largest.
        Symbols = "symbols",
    }
}

named! {
    /// The words of T2's prompt.
    Given {
        /// Of each kind, one to all that the sentence has.
        OneToAll = "one-to-all",
        /// Of each kind, one in each phrase.
        OnePerPhrase = "one-per-phrase",
    }
}

named! {
    /// How training shows masked words, if at all.
    Exposure {
        /// Not at all.
        None = "none",
        /// The word alone.
        Bare = "bare",
        /// A translation pair of single words.
        Dictionary = "dictionary",
    }
}

named! {
    /// What training never shows of a language that has a mask.
    Withhold {
        /// Sentences with a masked word.
        Words = "words",
        /// Sentences that state a withheld fact: both of its words occur, but never the one said of the other.
        Facts = "facts",
        /// Nothing. B† should come out like B: the control of the whole setup.
        Nothing = "nothing",
    }
}

impl MixtureConfig {
    /// Whether anything is kept from training.
    pub fn withholds(&self) -> bool {
        self.withhold != Withhold::Nothing
    }

    /// Whether any row is a translation, if only of single words.
    pub fn translates(&self) -> bool {
        self.translation > 0.0 || self.exposure == Exposure::Dictionary
    }

    /// Every setting in its range, and all of them fitting each other.
    pub fn validate(&self) -> Result<(), SettingError> {
        self.check_ranges()?;
        let sum: f64 = self.tasks.iter().sum();
        require(
            self.tasks.iter().all(|&t| t >= 0.0) && (sum - 1.0).abs() < 1e-6,
            "mixture.tasks",
            format!("{:?}, which sums to {sum}", self.tasks),
            "three shares that sum to 1",
        )?;
        require(
            self.schedule.len() <= 1000 && self.schedule.iter().all(|share| (0.0..=1.0).contains(share)),
            "mixture.schedule",
            format!("{:?}", self.schedule),
            "at most 1000 shares from 0 to 1, one for each stage of training",
        )?;
        self.check_exposure()?;
        if self.schedule.is_empty() {
            return Ok(());
        }
        if self.schedule.iter().all(|&share| share == 0.0) {
            return Err(SettingError::Mismatch(
                "`mixture.schedule` has only zeros: all but the first language would never be seen".into(),
            ));
        }
        if self.corpus == Corpus::Finite {
            return Err(SettingError::Mismatch(
                "`mixture.schedule` changes the share of B during training, but `mixture.corpus` is finite: its rows are the \
                 same in every epoch"
                    .into(),
            ));
        }
        Ok(())
    }

    /// Exposures are of masked words, and spread over the whole training.
    fn check_exposure(&self) -> Result<(), SettingError> {
        let why = match self.withhold {
            _ if self.exposure == Exposure::None => return Ok(()),
            Withhold::Facts => "`mixture.withhold` is facts: there are no masked words",
            Withhold::Nothing => "`mixture.withhold` is nothing: masked words are in the training text anyway",
            Withhold::Words if self.corpus == Corpus::Finite => {
                "`mixture.corpus` is finite: its rows are the same in every epoch, and exposures are not among them"
            }
            Withhold::Words if self.schedule.contains(&0.0) => {
                "`mixture.schedule` has a stage with nothing but the first language, and exposures are spread over all stages"
            }
            Withhold::Words => return Ok(()),
        };
        Err(SettingError::Mismatch(format!("`mixture.exposure` is {}, but {why}", self.exposure.name())))
    }
}
