//! `invitro findings`: pages with places for claims, filled from tables.

use anyhow::{Result, bail};
use invitro_report::claims::template::fill;
use std::path::PathBuf;
use std::process::ExitCode;

/// Fill pages whose templates have places for estimates and claims of studies
#[derive(clap::Args)]
pub struct Args {
    /// The file that names studies, estimates and pages
    #[arg(default_value = "docs/findings.toml", value_name = "FILE")]
    file: PathBuf,
    /// Write nothing: fail where a page is not as the tables have it
    #[arg(long)]
    check: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    for page in fill(&args.file)? {
        let shown = page.path.display();
        if std::fs::read_to_string(&page.path).is_ok_and(|text| text == page.text) {
            say!("{shown}: as the tables have it");
        } else if args.check {
            bail!("`{shown}` is not as the tables have it; `invitro findings {}` writes it", args.file.display());
        } else {
            invitro_base::files::write(&page.path, page.text.as_bytes())?;
            say!("{shown}: written");
        }
    }
    Ok(ExitCode::SUCCESS)
}
