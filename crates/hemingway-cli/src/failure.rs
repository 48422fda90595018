//! How errors are reported: what is wrong, then on its own line what to do next.

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use console::Style;

use crate::commands::train::BEFORE_THE_GOAL;
use crate::output;

/// Bad usage that is found after the arguments were parsed.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The error of a run that has its model, but whose store could not be written to.
pub fn unrecorded(what: &str, run: &str, model: &Path) -> anyhow::Error {
    let model = model.display();
    anyhow::anyhow!(
        "{what}\nhint: the model is complete in {model}; once the store can be written to, `hemingway train --resume {run}` \
         goes on from what is recorded"
    )
}

/// Prints an error and gives the exit code for it.
pub fn report(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(tell(error))
}

/// The same with the exit code as a number.
pub fn tell(error: &anyhow::Error) -> u8 {
    let (red, cyan) = (Style::new().for_stderr().red().bold(), Style::new().for_stderr().cyan());
    // Messages name their cause themselves, and some bring their own hint along.
    let message = error.to_string().replace("\nhint:", &format!("\n{}", cyan.apply_to("hint:")));
    output::note(&format!("{} {message}", red.apply_to("error:")));
    let own = error.downcast_ref::<hemingway::Error>();
    if let Some(hint) = own.and_then(hemingway::Error::hint) {
        output::note(&format!("{} {hint}", cyan.apply_to("hint:")));
    }
    match own {
        Some(error) if error.is_out_of_reach() => BEFORE_THE_GOAL,
        Some(error) if error.is_bad_input() => 2,
        None if error.is::<Usage>() => 2,
        _ => 1,
    }
}
