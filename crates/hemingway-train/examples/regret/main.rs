//! The work of `bench/regret` that takes long: the tables of all fixed configurations, and the runs of the planner.
//!
//!     regret tables RESULTS --data FOLDER [--jobs N] [--only TEXT]
//!     regret plans  RESULTS --data FOLDER --hemingway BINARY [--jobs N] [--only TEXT]
//!
//! Both read the cells and the clusters of `bench/regret` (`--bench FOLDER` if it is elsewhere) and keep what is finished: a
//! second call goes on where the first one stopped.

mod cells;
mod clocks;
mod plans;
mod tables;

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments = Arguments::parse()?;
    match arguments.command.as_str() {
        "tables" => tables::complete(&arguments),
        "plans" => plans::complete(&arguments),
        other => Err(format!("unknown command {other}\nhint: tables or plans").into()),
    }
}

/// What was asked for.
struct Arguments {
    command: String,
    results: PathBuf,
    options: HashMap<String, String>,
}

impl Arguments {
    fn parse() -> Outcome<Arguments> {
        let mut words = std::env::args().skip(1);
        let (Some(command), Some(results)) = (words.next(), words.next()) else {
            return Err("usage: regret tables|plans RESULTS --data FOLDER [--jobs N] [--only TEXT]".into());
        };
        let mut options = HashMap::new();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").filter(|name| OPTIONS.contains(name));
            let name = name.ok_or_else(|| format!("unknown option {word}\nhint: one of {OPTIONS:?}"))?;
            let value = words.next().ok_or_else(|| format!("--{name} needs a value"))?;
            options.insert(name.to_owned(), value);
        }
        Ok(Arguments { command, results: results.into(), options })
    }

    fn get(&self, name: &str) -> Outcome<&str> {
        Ok(self.options.get(name).ok_or_else(|| format!("--{name} is missing"))?)
    }

    fn number(&self, name: &str, default: f64) -> Outcome<f64> {
        Ok(self.options.get(name).map_or(Ok(default), |value| value.parse())?)
    }

    fn bench(&self) -> &Path {
        Path::new(self.options.get("bench").map_or("bench/regret", String::as_str))
    }

    fn data(&self, dataset: &str) -> Outcome<PathBuf> {
        Ok(Path::new(self.get("data")?).join(format!("{dataset}.libsvm.gz")))
    }

    fn cluster(&self, name: &str) -> PathBuf {
        self.bench().join("clusters").join(format!("{name}.toml"))
    }

    fn table(&self, problem: &str) -> PathBuf {
        self.results.join("tables").join(format!("{problem}.jsonl"))
    }
}

const OPTIONS: [&str; 8] = ["data", "jobs", "only", "runs", "bench", "hemingway", "patience", "budget"];

/// Does every piece of work, so many at a time. All are tried; the first error is returned.
fn in_parallel<T: Sync>(jobs: usize, work: &[T], each: impl Fn(&T) -> Outcome<()> + Sync) -> Outcome<()> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut failure = None;
        while let Some(piece) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            failure = failure.or(each(piece).err().map(|error| error.to_string()));
        }
        failure
    };
    let failures: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a failed assertion is a bug")).collect()
    });
    failures.into_iter().flatten().next().map_or(Ok(()), |failure| Err(failure.into()))
}
