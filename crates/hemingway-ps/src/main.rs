//! `hemingway-ps`: synchronous SGD with parameter servers, on machines that are pretended with processes of unequal speed.
//!
//! A job for `hemingway tune`: a configuration as JSON on the standard input, what was measured as JSON on the standard
//! output, everything else on the standard error. Exit codes: 0 done, 1 the run failed, 2 bad usage or bad input, 130
//! interrupted.

mod answer;
mod arguments;
mod bucket;
mod cgroup;
mod clock;
mod cluster;
mod configuration;
mod device;
mod error;
mod fleet;
mod head;
mod link;
mod machine;
mod measurements;
mod namespaces;
mod noise;
mod problem;
mod protocol;
mod random;
mod server;
mod throttle;
mod training;
mod wire;
mod worker;

use std::io::Write;
use std::process::ExitCode;

use answer::{Answer, Measured};
use arguments::{Arguments, Job};
use clap::Parser;
use cluster::Cluster;
use configuration::Configuration;
use error::{Error, Result};
use head::Head;
use training::Training;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(job) = arguments.job.filter(|_| !arguments.as_machine) else { machine::run() };
    let (answer, code) = match run(&job) {
        Ok(measured) => (Answer::Ok(measured), 0),
        Err(error) => (Answer::from(&error), error.exit_code()),
    };
    let answer = serde_json::to_string(&answer).expect("answers are plain data");
    // Nobody may be there to read it.
    let _ = writeln!(std::io::stdout(), "{answer}");
    ExitCode::from(code)
}

fn run(job: &Job) -> Result<Measured> {
    let cluster = Cluster::read(&job.cluster)?;
    let text =
        std::io::read_to_string(std::io::stdin()).map_err(|error| Error::Configuration(error.to_string()))?;
    let configuration = Configuration::parse(&text)?;
    let head = Head::start(job, &cluster, &configuration)?;
    if job.verbose {
        tell(job, &head);
    }
    Training::new(job, &cluster, head).run()
}

fn tell(job: &Job, head: &Head) {
    let schedule = &head.schedule;
    let (workers, servers, batch) = (schedule.workers.len(), schedule.servers.len(), schedule.batch);
    let parameters = head.problem.parameters();
    eprintln!("{workers} workers, {servers} parameter servers, {parameters} parameters, batch {batch}");
    match job.throttle {
        arguments::Throttle::Pace => eprintln!("devices pace themselves"),
        arguments::Throttle::Cgroup => eprintln!("control groups limit the devices"),
    }
}
