//! Masks of whole properties.

use crate::common::{small, worlds};
use invitro_language::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The masked properties of a class, with how many values of each are masked.
fn masked_values(languages: &Languages, language: Language, class: Class) -> Vec<usize> {
    let world = &languages.world;
    let values = languages.config.values;
    let masked = |&property: &Property| {
        (0..values).filter(|&value| languages.mask(language).contains(world.descriptor(property, value))).count()
    };
    world.properties(class).iter().map(masked).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn properties_are_masked_whole_and_no_value_of_them_is_ever_trained(config in worlds(), seed in 0u64..1000) {
        let config = LanguageConfig { mask: MaskUnit::Properties, ..config };
        let share = config.mask_share;
        let languages = match Languages::new(&config, seed) {
            Ok(languages) => languages,
            Err(error) => {
                prop_assert!(error.to_string().starts_with("`language.mask_share` is "), "{error}");
                // One subject class in a world of three properties for each has one that is descriptive.
                let of_class = config.properties / config.classes;
                let unusable = |n: usize| (share * n as f64).round() == 0.0 || (share * n as f64).round() == n as f64;
                prop_assert!(unusable(of_class - 1) || unusable(of_class - 2));
                return Ok(());
            }
        };
        let (world, mask) = (&languages.world, languages.mask(Language::B));
        prop_assert_eq!(mask.symbols().len(), config.masked_words(share));
        for class in world.classes() {
            let masked = masked_values(&languages, Language::B, class);
            let whole = masked.iter().filter(|&&values| values == config.values).count();
            prop_assert_eq!(whole, (share * masked.len() as f64).round() as usize);
            prop_assert!(masked.iter().all(|&values| values == 0 || values == config.values));
        }
        for entity in world.entities() {
            let allowed = world.allowed(entity);
            let masked = allowed.iter().filter(|&&word| mask.contains(word)).count();
            prop_assert!(0 < masked && masked < allowed.len(), "an entity keeps both kinds");
        }
        let mixture = MixtureConfig { lambda: 1.0, code_switch: 0.2, ..Default::default() };
        let mut source = Source::training(&languages, &mixture, 64, 20);
        for row in 0..400 {
            let row = source.draw(row / 64, row % 64).unwrap();
            let mut words = row.prompt_words().chain(row.sentence_words());
            prop_assert!(!words.any(|(word, language)| language == Language::B && mask.contains(word)));
        }
        // B† is there to be asked for.
        prop_assert!(Source::condition(&languages, "test", LanguageCondition::B_MASKED, Task::T0).draw(0, 0).is_ok());
    }
}

#[test]
fn languages_of_a_family_mask_properties_of_their_own() {
    let list = [("A", 0.0), ("B", 0.25), ("C", 0.5)]
        .map(|(name, mask_share)| LanguageEntry { mask_share, ..LanguageEntry::new(name) });
    let config = LanguageConfig { mask: MaskUnit::Properties, ..small() };
    let languages = Languages::of_family(&config, &list, 0).unwrap();
    let masked =
        |at: usize| -> BTreeSet<Symbol> { languages.mask(languages.all()[at]).symbols().iter().copied().collect() };
    assert_eq!(
        (masked(0).len(), masked(1).len(), masked(2).len()),
        (0, config.masked_words(0.25), config.masked_words(0.5))
    );
    assert!(!masked(1).is_subset(&masked(2)), "each draws its own");
    // The same seed masks other words one by one.
    let by_word = Languages::of_family(&small(), &list, 0).unwrap();
    let of_class = masked_values(&by_word, by_word.all()[1], Class(0));
    assert!(of_class.iter().any(|&values| 0 < values && values < config.values));
}

#[test]
fn a_class_with_one_property_cannot_be_masked_by_properties() {
    let config = LanguageConfig { mask: MaskUnit::Properties, properties: 12, ..small() };
    let error = Languages::new(&config, 0).unwrap_err().to_string();
    assert!(error.contains("at least 2 properties of descriptors for each class"), "{error}");
    let config = LanguageConfig { mask_share: 0.05, properties: 40, ..config };
    let error = Languages::new(&config, 0).unwrap_err().to_string();
    assert!(error.ends_with("unmasked valid descriptors: 0.07 does here"), "{error}");
}
