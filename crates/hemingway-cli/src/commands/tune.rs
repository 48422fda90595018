//! `hemingway tune`: a schedule for unequal machines.

use std::io::{self, BufReader, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use hemingway::tuning::schedule::{Finding, Proposal};
use hemingway::tuning::simulator::experiments;
use hemingway::{
    EvaluatedStep, Place, Store, TEMPLATE, TuneEvent, TuneJob, TuneReport, TuneRequest, TuneSource, TuneStop,
    TuneWatch, check_writable,
};
use serde_json::{Value, json};

use super::train::BEFORE_THE_GOAL;
use crate::arguments::Tune;
use crate::failure::Usage;
use crate::{interrupt, output, words};

/// What is tuned where nothing is named: the experiment of the paper's second figure.
const DEMONSTRATION: &str = "c-speechnet-65536";

pub fn run(arguments: Tune) -> anyhow::Result<ExitCode> {
    if let Some(file) = &arguments.init {
        return init(file);
    }
    if !arguments.remove.is_empty() {
        return remove(&arguments);
    }
    if arguments.studies {
        return studies(&arguments.store.place()?, arguments.json);
    }
    if arguments.simulate.as_deref() == Some("list") {
        output::lines(experiments().iter().map(ToString::to_string))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(name), true) = (&arguments.simulate, arguments.describe || arguments.serve) {
        return serve(name, arguments.seed, arguments.serve);
    }
    tune(arguments)
}

fn tune(arguments: Tune) -> anyhow::Result<ExitCode> {
    let (place, json, quiet) = (arguments.store.place()?, arguments.json, arguments.quiet);
    let plots = arguments.plots.clone();
    let request = request(arguments)?;
    if let Some(folder) = &plots {
        hemingway::check_plots(folder)?;
    }
    let mut shown = Shown { quiet, of: 0 };
    let mut watch = TuneWatch { interrupt: interrupt::listen()?, observe: &mut |event| shown.follow(&event) };
    interrupt::work_begins("ending the evaluation; `hemingway tune --resume last` makes it again");
    let report = hemingway::tune(&request, &place, &mut watch)?;
    let plotted = plots.as_ref().map_or(Ok(()), |folder| hemingway::plot_study(&report, folder));
    if json {
        output::json(&serde_json::to_value(&report)?)?;
    } else {
        output::text(&summary(&report, plots.as_deref()))?;
    }
    plotted?;
    if let Some(what) = &report.unrecorded {
        anyhow::bail!("{what}\nhint: what is printed here is complete; `--resume` does not know of it");
    }
    Ok(match report.stop {
        TuneStop::Interrupted => ExitCode::from(BEFORE_THE_GOAL),
        TuneStop::Converged | TuneStop::Evaluations => ExitCode::SUCCESS,
    })
}

fn init(file: &Path) -> anyhow::Result<ExitCode> {
    if file.exists() {
        return Err(Usage(format!("{} is there already; name another file", file.display())).into());
    }
    check_writable(file)?;
    let write = || std::fs::File::create_new(file)?.write_all(TEMPLATE.as_bytes());
    write().with_context(|| format!("cannot write {}", file.display()))?;
    output::text(&format!("Wrote {0}.\n\nNext:\n  hemingway tune {0}\n", file.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn serve(name: &str, seed: u64, evaluate: bool) -> anyhow::Result<ExitCode> {
    let mut input = BufReader::new(io::stdin().lock());
    let input = evaluate.then_some(&mut input as &mut dyn io::BufRead);
    hemingway::serve(name, seed, input, &mut io::stdout().lock())?;
    Ok(ExitCode::SUCCESS)
}

fn remove(arguments: &Tune) -> anyhow::Result<ExitCode> {
    let store = Store::open_existing(&arguments.store.place()?)?;
    let removed = store.remove_studies(&arguments.remove, arguments.take_over)?;
    if arguments.json {
        output::json(&serde_json::to_value(&removed)?)?;
    } else {
        let (names, freed) = (removed.studies.join(", "), words::bytes(removed.freed_bytes));
        output::text(&format!("removed {names}\nfreed {freed}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn studies(place: &Place, json: bool) -> anyhow::Result<ExitCode> {
    let store = Store::open_to_read(place)?.ok_or_else(|| Store::missing(place))?;
    let mut rows = Vec::new();
    for study in store.studies()? {
        rows.push((store.evaluations(&study)?.iter().filter(|made| made.seconds.is_some()).count(), study));
    }
    store.warnings().iter().for_each(|warning| output::warn(warning));
    if json {
        let each = |(made, study): &(usize, hemingway::StoredStudy)| {
            json!({ "study": study.id, "job": study.study.job.name, "created": study.created,
                "status": study.status, "evaluations": made, "of": study.study.evaluations })
        };
        output::json(&json!({ "studies": rows.iter().map(each).collect::<Vec<Value>>() }))?;
    } else if rows.is_empty() {
        output::text(&format!("no studies yet in {}\n", place.store().display()))?;
        output::note("hint: `hemingway tune` makes the first");
    } else {
        let row = |(made, study): &(usize, hemingway::StoredStudy)| {
            let of = format!("{made} of {}", study.study.evaluations);
            vec![
                study.id.clone(),
                study.study.job.name.clone(),
                of,
                study.status.to_string(),
                words::moment(study.created),
            ]
        };
        output::text(&output::table(
            &["study", "job", "evaluations", "status", "created"],
            rows.iter().map(row),
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn request(arguments: Tune) -> anyhow::Result<TuneRequest> {
    let source = match (&arguments.job, arguments.simulate, arguments.resume) {
        (Some(file), ..) => TuneSource::Job(Box::new(TuneJob::read(file)?)),
        (None, Some(name), _) => TuneSource::Simulated(name),
        (None, None, Some(study)) => TuneSource::Resumed(study),
        (None, None, None) if arguments.command.is_some() => {
            return Err(Usage(
                "--command needs a job file; `hemingway tune --init job.toml` writes one".into(),
            )
            .into());
        }
        (None, None, None) => {
            if !arguments.quiet {
                output::note(
                    "note: a demonstration on a simulated cluster; `hemingway tune --init job.toml` begins your own",
                );
            }
            TuneSource::Simulated(DEMONSTRATION.into())
        }
    };
    Ok(TuneRequest {
        source,
        command: arguments.command,
        evaluations: arguments.evaluations,
        parallel: arguments.parallel,
        stop_below: arguments.stop_below,
        timeout: arguments.timeout,
        earlier: arguments.earlier,
        take_over: arguments.take_over,
        seed: arguments.seed,
    })
}

/// Follows a study: a line for each evaluation.
struct Shown {
    quiet: bool,
    of: usize,
}

impl Shown {
    fn follow(&mut self, event: &TuneEvent) {
        match event {
            TuneEvent::Warning(text) => output::warn(text),
            _ if self.quiet => {}
            TuneEvent::Started { id, known, of } => {
                self.of = *of;
                let known =
                    if *known > 0 { format!("; {known} evaluations are known") } else { String::new() };
                output::note(&format!("study {id}: at most {of} evaluations{known}"));
            }
            TuneEvent::Begun { number, proposal } => self.begun(*number, proposal),
            TuneEvent::Ended(step) => self.ended(step),
        }
    }

    fn begun(&self, number: usize, proposal: &Proposal) {
        let schedule = &proposal.schedule;
        let roles = format!(
            "{}, {}",
            words::counted(schedule.workers(), "worker"),
            words::counted(schedule.servers(), "server")
        );
        let predicted = proposal.predicted.map_or_else(String::new, |[low, _, high]| {
            format!("; predicted {} to {}", words::duration(low), words::duration(high))
        });
        output::note(&format!("  {number:>2} of {}: {roles}{predicted}", self.of));
    }

    fn ended(&self, step: &EvaluatedStep) {
        let best = match (step.best, step.best_time) {
            (Some(best), Some(time)) => {
                format!("; best so far {} (evaluation {best})", words::duration(time))
            }
            _ => String::new(),
        };
        output::note(&match (&step.time, &step.failure) {
            (Some(time), _) => format!("       {} per iteration{best}", words::duration(*time)),
            (None, failure) => {
                format!("       failed: {}{best}", failure.as_deref().unwrap_or("no reason given"))
            }
        });
    }
}

fn summary(report: &TuneReport, plots: Option<&Path>) -> String {
    let mut text = format!("Tuned: {}.\n\n", report.stop.reason());
    let mut row = |name: &str, value: String| text.push_str(&format!("  {name:<11} {value}\n"));
    row("job", report.job.clone());
    let (Some(finding), Some(time)) = (&report.finding, report.time) else {
        row("study", report.study.clone());
        text.push_str("\nNothing was measured.\n\nNext:\n  hemingway tune --resume last\n");
        return text;
    };
    let best = &report.evaluations[finding.best];
    let interval =
        |[low, _, high]: [f64; 3]| format!("{} to {}", words::duration(low), words::duration(high));
    row(
        "best",
        format!(
            "{} per iteration of {} inputs (evaluation {}); expected {}",
            words::duration(time),
            words::count(best.batch as usize),
            best.number,
            interval(finding.seconds)
        ),
    );
    let [low, _, high] = finding.speedup;
    row("uniform", format!("{}; the best is {low:.1} to {high:.1} times as fast", interval(finding.uniform)));
    row("limit", limit(finding));
    for slow in &finding.stragglers {
        row(
            "slow",
            format!("{} computes {:.2} times slower than others of its type", slow.machine, slow.factor),
        );
    }
    if let Some(scale) = finding.noise_scale {
        row("batch", format!("{}; gradient noise scale {scale:.0}", words::count(best.batch as usize)));
    }
    for more in &finding.one_more {
        let [low, _, high] = more.seconds;
        row("one more", format!("{}: {low:.2} to {high:.2} of the time per iteration", more.kind));
    }
    if let (Some(optimum), Some(exact)) = (report.optimum, best.exact) {
        row(
            "optimum",
            format!("{} is possible; the best is {:.3} of it", words::duration(optimum), exact / optimum),
        );
    }
    if let Some(folder) = plots {
        row("plots", folder.display().to_string());
    }
    row("study", report.study.clone());
    text.push('\n');
    text.push_str(&schedule(report));
    text.push_str("\nNext:\n  hemingway tune --resume last --evaluations 20 --stop-below 0   go on\n");
    text.push_str(
        "  hemingway tune --resume last --json                            the configuration as JSON\n",
    );
    text
}

fn limit(finding: &Finding) -> String {
    let limit = &finding.bottleneck;
    let (computation, communication) = (limit.computation, 1.0 - limit.computation);
    if computation >= communication {
        format!(
            "computation, {} of an iteration; {} takes longest",
            words::share(computation),
            limit.slowest_machine
        )
    } else {
        format!(
            "communication, {} of an iteration; {} takes longest",
            words::share(communication),
            limit.slowest_network
        )
    }
}

/// Who does what.
fn schedule(report: &TuneReport) -> String {
    let empty = serde_json::Map::new();
    let machines =
        report.configuration.as_ref().and_then(|value| value["machines"].as_object()).unwrap_or(&empty);
    let row = |(name, machine): (&String, &Value)| {
        let role = match (machine["worker"] == true, machine["ps"] == true) {
            (true, true) => "worker, server",
            (true, false) => "worker",
            (false, true) => "server",
            (false, false) => "idle",
        };
        let loads = machine["loads"].as_object().unwrap_or(&empty).iter();
        let loads = loads.filter(|(_, load)| load.as_u64() != Some(0));
        let loads: Vec<String> = loads
            .map(|(device, load)| format!("{device} {}", words::count(load.as_u64().unwrap_or(0) as usize)))
            .collect();
        vec![name.clone(), role.to_owned(), loads.join(", ")]
    };
    output::table(&["machine", "role", "inputs per iteration"], machines.iter().map(row))
}
