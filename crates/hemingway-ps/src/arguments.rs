//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::problem::Model;

/// The hidden option with which this program starts itself as a machine.
pub const AS_MACHINE: &str = "as-machine";

/// A synchronous parameter server on pretended machines. It reads a configuration as JSON on the standard input, runs it,
/// and prints what it measured as JSON
///
/// `echo '{"machines": {"a": {"worker": true, "ps": true, "loads": {"cpu": 500}}}}' | hemingway-ps cluster.toml`
#[derive(Debug, Parser)]
#[command(name = "hemingway-ps", version, arg_required_else_help = true)]
pub struct Arguments {
    /// Be one of the machines
    #[arg(long = AS_MACHINE, hide = true, exclusive = true)]
    pub as_machine: bool,

    #[command(flatten)]
    pub job: Option<Job>,
}

/// What is to be run.
#[derive(Debug, Clone, clap::Args)]
pub struct Job {
    /// The machines and the problem, see docs/parameter-server.md
    #[arg(value_name = "CLUSTER.toml")]
    pub cluster: PathBuf,

    /// What is trained
    #[arg(long, value_enum, default_value = "mlp")]
    pub model: Model,

    /// Iterations that are measured
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub iterations: u64,

    /// Iterations before those
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub warm_up: u64,

    /// Random seed of data, initial weights and batches
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Train until the loss on a fixed sample is at most this
    #[arg(long, value_name = "LOSS", value_parser = positive, conflicts_with = "iterations")]
    pub until_loss: Option<f64>,

    /// Fail if the run takes longer
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub limit: Option<f64>,

    /// Gradient noise scale that the learning rate is for, in inputs, instead of the measured one
    #[arg(long, value_name = "INPUTS", value_parser = positive)]
    pub noise_scale: Option<f64>,

    /// How devices are slowed down
    #[arg(long, value_enum, default_value = "pace")]
    pub throttle: Throttle,

    /// Tell on the standard error what is done
    #[arg(long)]
    pub verbose: bool,
}

/// How devices are slowed down to their shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Throttle {
    /// They measure their CPU time and sleep: exact for short work too, and needs no rights
    Pace,
    /// Control groups, versions 1 and 2; needs to write to /sys/fs/cgroup
    Cgroup,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a positive number".into()),
    }
}
