//! Letters: how words are made of them, written in scripts and compared.

use crate::levenshtein::{edits, levenshtein, normalised};
use crate::phonology::{Letters, is_pronounceable};
use crate::script::{COUNT, read, write};
use invitro_base::random::Stream;
use proptest::prelude::*;
use std::collections::HashSet;

#[test]
fn stems_have_their_length_and_letters_fall_off_as_zipf_says() {
    let mut rng = Stream::new(1, "phonology").at(0, 0);
    let letters = Letters::proto(1.0, &mut rng);
    let mut counts = [0usize; 256];
    for i in 0..20_000 {
        let stem = letters.stem(3 + i % 9, &mut rng);
        assert_eq!(stem.letters().len(), 3 + i % 9);
        assert!(is_pronounceable(stem.letters()), "{}", stem.as_str());
        stem.letters().iter().for_each(|&l| counts[l as usize] += 1);
    }
    for ranking in [letters.consonants(), letters.vowels()] {
        let at = |rank: usize| counts[ranking.as_bytes()[rank - 1] as usize] as f64;
        assert!((1.8..2.2).contains(&(at(1) / at(2))) && (3.5..4.5).contains(&(at(1) / at(4))), "{ranking}");
    }
}

#[test]
fn no_drift_keeps_the_ranking() {
    let mut rng = Stream::new(1, "phonology").at(0, 0);
    let letters = Letters::proto(1.0, &mut rng);
    let same = letters.descend(0.0, &mut rng);
    assert_eq!((letters.consonants(), letters.vowels()), (same.consonants(), same.vowels()));
}

#[test]
fn every_letter_stands_once() {
    let alphabets: Vec<String> = (0..=COUNT).map(|script| write("abcdefghijklmnopqrstuvwxyz", script)).collect();
    assert!(alphabets.iter().all(|alphabet| alphabet.chars().count() == 26));
    assert_eq!(alphabets.iter().flat_map(|alphabet| alphabet.chars()).collect::<HashSet<_>>().len(), 26 * (COUNT + 1));
    for script in 0..=COUNT {
        assert_eq!(read(&write("azmxq", script)), "azmxq");
    }
}

#[test]
fn the_papers_example() {
    assert_eq!(levenshtein(b"caqjna", b"caqujna"), 1);
    assert_eq!(normalised(b"fekoc", b"foc"), 0.4);
}

proptest! {
    #[test]
    fn equals_the_plain_table(a in "[a-e]{0,31}", b in "[a-e]{0,31}") {
        prop_assert_eq!(levenshtein(a.as_bytes(), b.as_bytes()), edits(a.as_bytes(), b.as_bytes()));
    }
}
