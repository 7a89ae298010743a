//! The ring of the last steps' losses.

use crate::ring::{HISTORY, Ring};

#[test]
fn steps_come_out_in_order_and_once() {
    let mut ring = Ring::default();
    assert_eq!(ring.take().count(), 0);
    let mut places = [usize::MAX; HISTORY];
    let mut step = 0;
    for (made, seen) in [(3, 3), (HISTORY, HISTORY), (0, 0), (HISTORY + 5, HISTORY), (1, 1)] {
        for _ in 0..made {
            step += 1;
            places[ring.next()] = step;
            ring.push();
        }
        let read: Vec<usize> = ring.take().map(|place| places[place]).collect();
        assert_eq!(read, (step + 1 - seen..=step).collect::<Vec<_>>());
    }
}
