//! The `hemingway` command: arguments, one library call, text.
//!
//! Data goes to stdout, progress and errors to stderr. Exit codes: 0 done, 2 bad usage or bad input, 3 stopped before
//! the goal, 1 anything else.

mod arguments;
mod coefficients;
mod commands;
mod environment;
mod failure;
mod interrupt;
mod lambda;
mod metrics;
mod output;
mod plan;
mod progress;
mod stages;
mod summary;
mod table;
mod words;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;

fn main() -> ExitCode {
    run(Arguments::parse()).unwrap_or_else(|error| failure::report(&error))
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Command::Train(train) => commands::train::run(*train),
        Command::Explain(explain) => commands::explain::run(*explain),
        Command::Profile(profile) => commands::profile::run(*profile),
        Command::Predict(predict) => commands::predict::run(predict),
        Command::Evaluate(evaluate) => commands::evaluate::run(evaluate),
        Command::Platt(platt) => commands::platt::run(platt),
        Command::Export(export) => commands::export::run(export),
        Command::Runs(runs) => commands::runs::run(runs),
        Command::Show(show) => commands::show::run(show),
        Command::Plot(plot) => commands::plot::run(&plot),
        Command::Algorithms(algorithms) => commands::algorithms::run(algorithms),
        Command::Calibrate(calibrate) => commands::calibrate::run(calibrate),
        Command::Measure(measure) => commands::measure::run(*measure),
        Command::Fit(fit) => commands::fit::run(fit),
        Command::Tune(tune) => commands::tune::run(tune),
        Command::Reproduce(reproduce) => commands::reproduce::run(reproduce),
        Command::Completions(completions) => commands::completions::run(&completions),
        Command::Man(man) => commands::man::run(&man),
    }
}
