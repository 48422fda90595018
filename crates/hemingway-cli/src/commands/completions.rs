//! `hemingway completions`: a script with which a shell completes commands and flags.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::arguments::{Arguments, Completions};
use crate::output;

pub fn run(arguments: &Completions) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "hemingway", &mut script);
    output::bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
