//! `hemingway-worker`: one rank of a training run over MPI.

mod communicator;
mod computing;
mod guard;
mod job;
mod measure;
mod messages;
mod pulse;
mod question;
mod selftest;
mod server;
mod servers;
mod speech;
mod train;
mod transport;

use std::path::PathBuf;

use clap::Parser;

use crate::communicator::Mpi;

/// One rank of a training run over MPI. `hemingway train --engine mpi` starts these; by hand it is
/// `mpirun -n 4 hemingway-worker job.json`.
#[derive(Parser)]
#[command(name = "hemingway-worker", version, arg_required_else_help = true)]
struct Arguments {
    /// The job: a file that rank 0 can read, or - for the first line of the standard input
    #[arg(value_name = "JOB", required_unless_present_any = ["measure", "check"])]
    job: Option<PathBuf>,

    /// Measure kernels and network, with sums of these lengths among others
    #[arg(long, value_name = "LENGTHS", num_args = 0.., conflicts_with = "job")]
    measure: Option<Vec<usize>>,

    /// Check that the ranks can talk to one another
    #[arg(long, conflicts_with_all = ["job", "measure"])]
    check: bool,
}

fn main() {
    let arguments = Arguments::parse();
    guard::die_with_the_launcher();
    let mpi = Mpi::start();
    let world = mpi.world();
    guard::die_of_panics(world.rank());
    let outcome = match &arguments.job {
        Some(job) => train::run(&world, job),
        None if arguments.measure.is_some() => measure::run(&world, &arguments.measure.unwrap_or_default()),
        None => selftest::run(&world),
    };
    if let Err(error) = outcome {
        fail(world.rank(), &error);
    }
}

/// Tells what happened, and takes the other ranks along.
fn fail(rank: usize, error: &anyhow::Error) -> ! {
    if train::happened_elsewhere(error) {
        // Whoever it happened to says so and ends everyone.
        std::thread::sleep(std::time::Duration::from_secs(5));
    }
    let bad_input = train::is_bad_input(error);
    guard::say_failure(rank, bad_input, format!("{error:#}"));
    Mpi::abort(if bad_input { 2 } else { 1 })
}
