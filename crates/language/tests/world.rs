//! The world and its random numbers: the paper's counts, Γ, the mask, and streams that never drift.

use invitro_language::*;

fn paper() -> Languages {
    Languages::new(&LanguageConfig::default(), 3).unwrap()
}

#[test]
fn the_papers_world_has_the_papers_counts() {
    let world = paper().world;
    let count = |category| world.of_category(category).count();
    assert_eq!(count(Category::Noun), 800);
    assert_eq!(count(Category::Name), 100);
    assert_eq!(count(Category::Descriptor), 17_800);
    assert_eq!(count(Category::Relation), 100);
    assert_eq!(world.len(), 18_843);
    for class in world.classes() {
        let subject = (class.0 as usize) < 5;
        assert_eq!(world.properties(class).len(), if subject { 44 } else { 45 });
        assert_eq!(world.relations(class).len(), if subject { 20 } else { 0 });
    }
}

#[test]
fn every_entity_has_four_valid_values_of_each_property_rotated_by_its_key() {
    let world = paper().world;
    for entity in world.entities().step_by(7) {
        let allowed = world.allowed(entity);
        let class = world.class(entity).unwrap();
        assert_eq!(allowed.len(), 4 * world.properties(class).len());
        let key = world.key(entity).unwrap();
        for &property in world.properties(class) {
            let mut turned: Vec<Symbol> = (0..4).map(|i| world.valid_descriptor(key, property, i)).collect();
            turned.sort_unstable();
            let listed: Vec<Symbol> =
                allowed.iter().copied().filter(|&d| world.descriptor_of(d).unwrap().0 == property).collect();
            assert_eq!(turned, listed);
        }
        let partner = world.noun(class, (key as usize + 40) % 80);
        assert_eq!(world.allowed(partner), allowed, "keys that agree modulo 40 share their values");
    }
}

#[test]
fn allowed_forbidden_and_foreign_split_the_descriptors() {
    let world = paper().world;
    let name = world.entity(Class(2), 85);
    assert_eq!(world.category(name), Category::Name);
    let sizes = [world.allowed(name).len(), world.forbidden(name).len(), world.foreign(name).len()];
    assert_eq!(sizes, [176, 44 * 36, 17_800 - 44 * 40]);
}

fn every_entity_keeps_both_kinds(config: &LanguageConfig, seed: u64) {
    let languages = Languages::new(config, seed).unwrap();
    let (world, mask) = (&languages.world, languages.mask(Language::B));
    assert_eq!(mask.symbols().len(), (config.mask_share * world.descriptors().len() as f64).round() as usize);
    for entity in world.entities() {
        let allowed = world.allowed(entity);
        let masked = allowed.iter().filter(|&&d| mask.contains(d)).count();
        assert!(masked > 0 && masked < allowed.len(), "entity {entity:?}: {masked} of {}", allowed.len());
    }
}

#[test]
fn the_mask_leaves_every_entity_words_of_both_kinds() {
    every_entity_keeps_both_kinds(&LanguageConfig::default(), 0);
    let tiny = LanguageConfig {
        classes: 2,
        entities: 6,
        names: 2,
        properties: 8,
        values: 5,
        valid_share: 0.2,
        relations: 2,
        mask_share: 0.4,
        ..Default::default()
    };
    for seed in 0..20 {
        every_entity_keeps_both_kinds(&tiny, seed);
    }
}

#[test]
fn a_mask_that_leaves_an_entity_without_is_an_error() {
    let config = LanguageConfig { mask_share: 0.0001, ..Default::default() };
    let error = Languages::new(&config, 0).unwrap_err().to_string();
    assert!(error.contains("`language.mask_share` is 0.0001 (2 of 17800 descriptors)"), "{error}");
}

#[test]
fn streams_rows_and_steps_differ_and_repeat() {
    let take = |seed, name: &str, step, row| -> Vec<u32> {
        let mut rng = Stream::new(seed, name).at(step, row);
        (0..4).map(|_| rng.bits()).collect()
    };
    let base = take(1, "a", 0, 0);
    assert_eq!(base, take(1, "a", 0, 0));
    for other in [take(2, "a", 0, 0), take(1, "b", 0, 0), take(1, "a", 1, 0), take(1, "a", 0, 1)] {
        assert_ne!(base, other);
    }
}

#[test]
fn below_is_even() {
    let mut rng = Stream::new(0, "even").at(0, 0);
    let mut counts = [0u32; 7];
    for _ in 0..70_000 {
        counts[rng.index(7)] += 1;
    }
    assert!(counts.iter().all(|&c| (9_500..10_500).contains(&c)), "{counts:?}");
}

#[test]
fn the_bits_never_drift() {
    let mut rng = Stream::new(0, "pinned").at(0, 0);
    let first: Vec<u32> = (0..3).map(|_| rng.bits()).collect();
    let pinned = [3_678_039_611, 3_052_742_343, 248_162_954];
    assert_eq!(first, pinned, "a change here changes every language and every corpus");
}
