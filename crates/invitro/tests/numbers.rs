//! Times and rates as they are read and written.

use crate::format::{parse_time, time};
use crate::pace::Pace;
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
    assert_eq!(pace.left(at(1)), None);
    // A first evaluation of ten seconds counts for neither.
    pace.resume(at(10));
    pace.stepped(1, 300, at(11));
    assert_eq!((pace.tokens_per_second(), pace.left(at(11))), (300.0, Some(99.0)));
    // A later one counts for the time left.
    pace.resume(at(20));
    pace.stepped(2, 300, at(21));
    assert_eq!((pace.tokens_per_second(), pace.left(at(21))), (300.0, Some(11.0 / 2.0 * 98.0)));
}

#[test]
fn a_log_gets_a_line_every_few_seconds() {
    let start = Instant::now();
    let mut pace = Pace::default();
    pace.start(0, 1000, start);
    let lines = (0..60).filter(|&second| pace.due(start + Duration::from_secs(second))).count();
    assert_eq!(lines, 12);
}
