//! Times and rates as they are read and written.

use crate::format::{parse_time, time};
use crate::pace::{Pace, StudyPace};
use std::time::{Duration, Instant};

#[test]
fn times_are_read_and_written() {
    for (text, seconds) in [("90s", 90), ("25m", 1500), ("1h30m", 5400), ("2d", 172_800), ("0.5h", 1800)] {
        assert_eq!(parse_time(text), Ok(Duration::from_secs(seconds)), "{text}");
    }
    for text in ["", "25", "m", "25x", "1h30", "-5m"] {
        assert!(parse_time(text).is_err(), "{text}");
    }
    assert_eq!(time(30.0) + ", " + &time(720.0) + ", " + &time(12_240.0), "30 s, 12 min, 3.4 h");
}

#[test]
fn rate_and_time_left_leave_out_what_they_should() {
    let start = Instant::now();
    let at = |seconds: u64| start + Duration::from_secs(seconds);
    let mut pace = Pace::default();
    pace.start(0, 100, at(0));
    assert_eq!(pace.left(), None);
    // A first evaluation of ten seconds counts for neither.
    pace.resume(at(10));
    pace.stepped(1, 300, at(11));
    assert_eq!((pace.tokens_per_second(), pace.left()), (300.0, Some(99.0)));
    // A later one counts for the time left.
    pace.resume(at(20));
    pace.stepped(2, 300, at(21));
    assert_eq!((pace.tokens_per_second(), pace.left()), (300.0, Some(11.0 / 2.0 * 98.0)));
}

/// A run that was quick for an hour and is slow now has the speed and the time left of now.
#[test]
fn rate_and_time_left_are_those_of_the_last_minute() {
    let start = Instant::now();
    let at = |seconds: u64| start + Duration::from_secs(seconds);
    let mut pace = Pace::default();
    pace.start(0, 10_000, at(0));
    (1..=3600).for_each(|second| pace.stepped(second, 1000, at(second)));
    assert_eq!((pace.tokens_per_second(), pace.left()), (1000.0, Some(6400.0)));
    // From here on a step takes ten seconds.
    (1..=12).for_each(|step| pace.stepped(3600 + step, 1000, at(3600 + 10 * step)));
    assert_eq!((pace.tokens_per_second(), pace.left()), (100.0, Some(63_880.0)));
}

/// Two workers with two cells each, of ten: the time left is that of all ten, not of the four.
#[test]
fn the_time_left_is_the_studys() {
    let start = Instant::now();
    let at = |seconds: u64| start + Duration::from_secs(seconds);
    let mut pace = StudyPace::new(10, 2);
    for worker in 0..2 {
        pace.taken(worker, 2, at(0));
        pace.start(worker, 0, 100, at(0));
    }
    assert_eq!(pace.left(at(0)), None);
    for step in 1..=50 {
        (0..2).for_each(|worker| pace.stepped(worker, step, 10, at(step)));
    }
    // Two cells' worth in 50 s, and eight are left.
    assert!((pace.left(at(50)).unwrap() - 200.0).abs() < 1e-6);
    for step in 51..=100 {
        (0..2).for_each(|worker| pace.stepped(worker, step, 10, at(step)));
    }
    for worker in 0..2 {
        (0..2).for_each(|_| pace.ended(worker));
        pace.taken(worker, 2, at(150));
        pace.start(worker, 0, 100, at(150));
        pace.stepped(worker, 1, 10, at(151));
    }
    // Writing and preparing took 50 s besides for four cells: 151 s for 4.04 cells, and 5.96 are left.
    assert!((pace.left(at(151)).unwrap() - 151.0 / 4.04 * 5.96).abs() < 0.5, "{:?}", pace.left(at(151)));
}

#[test]
fn a_log_gets_a_line_every_few_seconds() {
    let start = Instant::now();
    let mut pace = Pace::default();
    pace.start(0, 1000, start);
    let lines = (0..60).filter(|&second| pace.due(start + Duration::from_secs(second))).count();
    assert_eq!(lines, 12);
}
