//! How errors are told: what is wrong, then on its own line what to do next.

use std::process::ExitCode;

use console::Style;

use crate::commands::train::BEFORE_THE_GOAL;
use crate::output;

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
        _ => 1,
    }
}
