//! Rounds, sums and virtual seconds of algorithms to certified errors, one line for each combination.
//!
//!     rounds DATA [--algorithms a,b] [--losses logistic] [--lambdas 1e-3] [--workers 4] [--errors 1e-3,1e-4]
//!            [--clusters FILE,FILE] [--most 1000] [--batch N] [--local-steps N] [--memory N] [--step-size F]
//!            [--positive LABEL] [--seed N]
//!
//! Every round is scored. `sums` are counted on a network where nothing but the beginning of a sum takes time.

use std::error::Error;

use hemingway_data::{Dataset, LoadOptions, load};
use hemingway_train::{
    Cluster, Engine, Event, Job, Loss, Machine, Network, Parameters, Point, Problem, Scoring, Simulated,
    Start, StopRules, algorithm,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments = Arguments::parse()?;
    let options =
        LoadOptions { positive: arguments.text("positive").map(str::to_owned), ..Default::default() };
    let data = load(&arguments.data, &options)?;
    let name = arguments.data.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default();
    println!("{} rows, {} features", data.matrix.rows(), data.matrix.columns());
    let errors: Vec<f64> = arguments.list("errors", "1e-3,1e-4")?;
    for loss in arguments.list::<Loss>("losses", "logistic")? {
        for lambda in arguments.list::<f64>("lambdas", "1e-3")? {
            for workers in arguments.list::<usize>("workers", "4")? {
                for algorithm in arguments.list::<String>("algorithms", "cocoa-plus")? {
                    let problem = Problem::new(loss, lambda)?;
                    let case =
                        Case { arguments: &arguments, data: &data, problem, workers, algorithm: &algorithm };
                    println!(
                        "{name:<14} {loss:<14} {lambda:<7e} m {workers:<3} {algorithm:<16} {}",
                        case.line(&errors)?
                    );
                }
            }
        }
    }
    Ok(())
}

/// One line of the table.
struct Case<'a> {
    arguments: &'a Arguments,
    data: &'a Dataset,
    problem: Problem,
    workers: usize,
    algorithm: &'a str,
}

impl Case<'_> {
    fn line(&self, errors: &[f64]) -> Outcome<String> {
        let sums = self.run(counting(), errors)?;
        let one = counting().network.sum_seconds(self.workers, 0).max(1.0);
        let mut parts: Vec<String> = Vec::new();
        for (error, reached) in errors.iter().zip(reached(&sums, errors)) {
            parts.push(match reached {
                Some(point) => {
                    format!("{error:e}: {:>5} rounds {:>6.0} sums", point.round, point.seconds.0 / one)
                }
                None => format!(
                    "{error:e}: not by {:>5} ({:.1e})",
                    sums.len(),
                    sums.last().map_or(f64::NAN, |p| p.certified_error)
                ),
            });
        }
        for file in self.arguments.list::<String>("clusters", "")? {
            let cluster = Cluster::from_toml(&file, &std::fs::read_to_string(&file)?)?;
            let points = self.run(cluster, errors)?;
            let seconds = reached(&points, errors).into_iter();
            let seconds =
                seconds.map(|point| point.map_or("-".to_owned(), |point| format!("{:.1}", point.seconds.0)));
            let name = file.rsplit('/').next().unwrap_or_default().trim_end_matches(".toml").to_owned();
            parts.push(format!("{name} {} s", seconds.collect::<Vec<_>>().join(" ")));
        }
        Ok(parts.join("  "))
    }

    fn run(&self, cluster: Cluster, errors: &[f64]) -> Outcome<Vec<Point>> {
        let algorithm = algorithm(self.algorithm, &self.arguments.parameters()?)?;
        let last = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let job = Job {
            problem: self.problem,
            algorithm: algorithm.as_ref(),
            workers: self.workers,
            seed: self.arguments.number("seed")?.unwrap_or(1),
            stop: StopRules {
                error: Some(last),
                rounds: Some(self.arguments.number("most")?.unwrap_or(1000)),
                ..StopRules::default()
            },
            scoring: Scoring::Every(1),
            start: Start::Zero,
            checkpoint_every: None,
            interrupt: None,
            hand_over: None,
        };
        let mut points = Vec::new();
        Simulated::new(cluster).run(self.data, &job, &mut |event| {
            if let Event::Point(point) = event {
                points.push(*point);
            }
            Ok(())
        })?;
        Ok(points)
    }
}

fn reached(points: &[Point], errors: &[f64]) -> Vec<Option<Point>> {
    errors.iter().map(|error| points.iter().find(|point| point.certified_error <= *error).copied()).collect()
}

/// Sums take a second for each message that waits for another; nothing else takes time.
fn counting() -> Cluster {
    let network = Network { latency: 1.0, bandwidth: 1e300, ..Network::default() };
    Cluster { network, ..Cluster::of(Machine { flops: 1e300, bytes: 1e300 }) }
}

/// What was asked for.
struct Arguments {
    data: String,
    options: Vec<(String, String)>,
}

impl Arguments {
    fn parse() -> Outcome<Arguments> {
        let mut words = std::env::args().skip(1);
        let data = words.next().ok_or("usage: rounds DATA [--option value] …")?;
        let mut options = Vec::new();
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            let name = name.strip_prefix("--").ok_or(format!("{name} is no option"))?.to_owned();
            options.push((name, value));
        }
        Ok(Arguments { data, options })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    fn list<T: std::str::FromStr<Err: Error + 'static>>(&self, name: &str, usual: &str) -> Outcome<Vec<T>> {
        let words = self.text(name).unwrap_or(usual).split(',').filter(|word| !word.is_empty());
        Ok(words.map(str::parse).collect::<Result<_, _>>()?)
    }

    fn number<T: std::str::FromStr<Err: Error + 'static>>(&self, name: &str) -> Outcome<Option<T>> {
        Ok(self.text(name).map(str::parse).transpose()?)
    }

    fn parameters(&self) -> Outcome<Parameters> {
        Ok(Parameters {
            batch: self.number("batch")?,
            local_steps: self.number("local-steps")?,
            memory: self.number("memory")?,
            step_size: self.number("step-size")?,
            ..Parameters::default()
        })
    }
}
