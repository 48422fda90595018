//! `hemingway man`: the man page on stdout, or a page for every command in a folder.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man as Page;

use crate::arguments::{Arguments, Man};
use crate::{output, words};

pub fn run(arguments: &Man) -> anyhow::Result<ExitCode> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    match &arguments.folder {
        None => output::bytes(&page(&command)?)?,
        Some(folder) => {
            let pages = write_all(&command, folder)?;
            output::text(&format!("{} in {}\n", words::counted(pages, "page"), folder.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The page of a command in roff.
fn page(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut roff = Vec::new();
    Page::new(command.clone()).render(&mut roff)?;
    Ok(roff)
}

/// The pages of a command and of those below it: `hemingway-runs-prune.1`. Gives their number.
fn write_all(command: &Command, folder: &Path) -> anyhow::Result<usize> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let file = folder.join(format!("{name}.1"));
    std::fs::write(&file, page(command)?).with_context(|| format!("cannot write {}", file.display()))?;
    command.get_subcommands().try_fold(1, |pages, below| Ok(pages + write_all(below, folder)?))
}
