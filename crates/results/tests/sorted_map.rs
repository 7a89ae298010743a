use invitro_results::SortedMap;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

fn pairs() -> impl Strategy<Value = Vec<(String, u8)>> {
    prop::collection::vec(("[a-d]{0,2}", any::<u8>()), 0..12)
}

proptest! {
    /// It holds what a `BTreeMap` holds, whether or not it shares its keys with a map that is changed.
    #[test]
    fn it_is_a_map(made in pairs(), inserted in pairs(), removed in pairs(), start in "[a-d]{0,2}") {
        let mut expected: BTreeMap<String, u8> = made.iter().cloned().collect();
        let mut map: SortedMap<str, u8> = made.into_iter().collect();
        let mut known = HashSet::new();
        let mut other = map.clone();
        map.share_keys(&mut known);
        other.share_keys(&mut known);
        other.insert("e", 0);
        for (key, value) in inserted {
            map.insert(key.as_str(), value);
            expected.insert(key, value);
        }
        for (key, _) in removed {
            prop_assert_eq!(map.remove(&key), expected.remove(&key));
        }
        prop_assert_eq!(map.get(&start), expected.get(&start));
        prop_assert_eq!((map.is_empty(), map.contains_key("e")), (expected.is_empty(), false));
        let same = |pair: &(&str, &u8)| (pair.0.to_owned(), *pair.1);
        let all: Vec<_> = map.iter().map(|pair| same(&pair)).collect();
        prop_assert_eq!(&all, &expected.clone().into_iter().collect::<Vec<_>>());
        let from_start: Vec<_> = map.starting_at(&start).map(|pair| same(&pair)).collect();
        prop_assert_eq!(from_start, expected.range(start..).map(|(key, value)| (key.clone(), *value)).collect::<Vec<_>>());
        prop_assert!(map.keys().zip(map.values()).eq(map.iter()));
    }
}
