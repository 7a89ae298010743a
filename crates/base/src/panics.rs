//! Panics of libraries that read files: some do, on damaged ones, where they should return an error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result of `read`, or what it said when it panicked. Nothing is printed. For calls into libraries alone, and on
/// one thread: our own code does not panic on what it reads.
pub fn catch_panic<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                usual(panic);
            }
        }));
    });
    let before = QUIET.replace(true);
    // What the panic left behind is dropped with the error.
    let result = catch_unwind(AssertUnwindSafe(read));
    QUIET.set(before);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        format!("it is damaged ({text})")
    })
}
