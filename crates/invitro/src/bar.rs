//! A bar on a terminal, and plain lines above it, or alone where there is no terminal.

use indicatif::{ProgressBar, ProgressStyle};
use invitro_lab::progress::Started;
use std::io::IsTerminal;
use std::time::Duration;

pub struct Bar(Option<ProgressBar>);

impl Bar {
    pub fn new(template: &str) -> Bar {
        Bar(std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            bar.set_style(ProgressStyle::with_template(template).expect("the template is plain"));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        }))
    }

    /// The bar, where there is a terminal to show it on.
    pub fn shown(&self) -> Option<&ProgressBar> {
        self.0.as_ref()
    }

    /// Shows the steps of a population that sets out.
    pub fn start(&self, start: &Started) {
        if let Some(bar) = &self.0 {
            bar.set_length(start.steps);
            bar.set_position(start.from);
            bar.reset_eta();
        }
    }

    pub fn line(&self, text: &str) {
        match &self.0 {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
