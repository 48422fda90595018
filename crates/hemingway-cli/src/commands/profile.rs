//! `hemingway profile`: what data is like, which algorithms suit it and how many workers pay.

use std::process::ExitCode;

use hemingway::data::{Characters, Distribution, Finding, Interval, LabelCharacters};
use hemingway::{DataRequest, ProfileReport, ProfileRequest, ProfiledFamily, TrainRequest};

use super::train;
use crate::arguments::Profile;
use crate::summary::table;
use crate::{environment, interrupt, output, words};

pub fn run(arguments: Profile) -> anyhow::Result<ExitCode> {
    let (json, html) = (arguments.json, arguments.html.clone());
    train::check_one_lambda(&arguments.problem, "profile")?;
    let report = hemingway::profile(&request(arguments), interrupt::listen()?)?;
    if json {
        output::json(&serde_json::to_value(&report)?)?;
    } else {
        output::text(&text(&report))?;
        if let Some(file) = html {
            output::note(&format!("The page is {}", file.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn request(arguments: Profile) -> ProfileRequest {
    let base = train::problem(arguments.problem);
    let base = environment::with_machines(TrainRequest {
        data: DataRequest { fraction: arguments.fraction, ..base.data },
        seed: arguments.seed,
        engine: arguments.engine,
        workers: arguments.workers,
        ranks: train::ranks(arguments.ranks),
        ..base
    });
    ProfileRequest { base, html: arguments.html }
}

/// The most important things first.
fn text(report: &ProfileReport) -> String {
    let bold = |text: &str| console::style(text.to_owned()).bold().to_string();
    [
        format!("{}\n\n", bold(&output::wrapped(&headline(report), 0))),
        format!("{}\n{}\n", bold("Which algorithms suit it, and how many workers pay"), families(report)),
        format!("{}\n{}\n", bold("What to look into"), findings(&report.characters.findings)),
        format!("{}\n{}\n", bold("What the data is like"), table(&characters(report))),
        format!("{}\n{}\n", bold("What the problem is like"), table(&problem(report))),
        format!(
            "Exact but where an interval is given, 95 %, from {} sampled rows.\n",
            words::count(report.characters.sampled_rows)
        ),
    ]
    .concat()
}

fn headline(report: &ProfileReport) -> String {
    let data = &report.dataset;
    let best = report.families.iter().find(|family| family.bound.suits);
    let verdict = best.map_or_else(
        || "No family of algorithms gains much from several workers.".to_owned(),
        |best| {
            let [low, _, high] = best.bound.workers.map(workers);
            format!("Best on many workers: {}, {low} to {high}.", best.bound.family)
        },
    );
    format!("{}: {}, {}. {verdict}", data.name, words::counted(data.rows, "row"), words::features(data))
}

fn families(report: &ProfileReport) -> String {
    let one = |family: &ProfiledFamily| {
        let bound = &family.bound;
        let [low, median, high] = bound.workers.map(workers);
        let verdict = if bound.suits { "suits" } else { "does not" };
        let why = output::wrapped(&format!("{}: {}.", bound.algorithms.join(", "), bound.reason), 4);
        let around = if low == high { String::new() } else { format!(" ({low} to {high})") };
        let workers = if median == "1" { "worker" } else { "workers" };
        format!("  {:<17}{verdict:<10}{median:>6} {workers}{around}\n    {why}\n", bound.family)
    };
    report.families.iter().map(one).collect::<String>() + &paper(report)
}

fn paper(report: &ProfileReport) -> String {
    report.paper_bound.map_or_else(String::new, |bound| {
        let number = words::error(bound);
        let says = match bound < 1.0 {
            true => format!("{number} workers, which is below 1: vacuous."),
            false => format!("{} workers.", words::rounded_count(bound)),
        };
        format!(
            "  {}\n",
            output::wrapped(
                &format!("Theorem 2 of the paper, 1/(6 Ω √δ), bounds asynchronous SGD by {says}"),
                2
            )
        )
    })
}

fn findings(findings: &[Finding]) -> String {
    let one = |(at, finding): (usize, &Finding)| {
        let text = format!("{} {}", finding.text, finding.advice);
        format!("  {:>2}  {}\n", at + 1, output::wrapped(&text, 6))
    };
    match findings.is_empty() {
        true => "  nothing\n".to_owned(),
        false => findings.iter().enumerate().map(one).collect(),
    }
}

fn characters(report: &ProfileReport) -> Vec<(&'static str, String)> {
    let of = &report.characters;
    let order = &of.order;
    let scaled = "columns standardised, as train does; --no-standardise shows them as they are";
    let rows = vec![
        (
            "not zero",
            format!(
                "{} values, {}; sparsity {}",
                words::count(of.nonzeros),
                words::percent(of.density),
                words::percent(of.sparsity)
            ),
        ),
        (
            "in a row",
            format!(
                "{} values that are not zero; Omega = {}",
                spread(&of.row_nonzeros),
                words::count(of.row_nonzeros.max as usize)
            ),
        ),
        ("row norms", spread(&of.row_norms)),
        ("means", format!("{} (of features)", spread(&of.feature_means))),
        ("variances", format!("{} (of features)", spread(&of.feature_variances))),
        (
            "delta",
            format!(
                "{}: the share of rows that have feature {}",
                words::rounded_count(of.delta),
                of.most_frequent_feature + 1
            ),
        ),
        ("rho", format!("{}: two random rows share a feature", interval(&of.rho))),
        ("diversity", diversity(of)),
        (
            "order",
            format!(
                "C_sim {} over {} following rows, {} shuffled (features in which rows differ)",
                interval(&order.asynchronous.distance),
                order.asynchronous.range,
                interval(&order.shuffled)
            ),
        ),
        (
            "batches",
            format!(
                "C_sim up to {} inside batches of {}",
                figure(order.batches.distance.mean),
                order.batches.range
            ),
        ),
        ("labels", labels(&of.labels)),
    ];
    let scaled = report.standardised.then(|| ("scaling", scaled.to_owned()));
    scaled.into_iter().chain(rows).collect()
}

fn diversity(of: &Characters) -> String {
    let diversity = &of.diversity;
    format!(
        "{} different rows ({}); {} near-duplicates of a row",
        interval(&diversity.distinct_rows),
        words::percent(diversity.distinct_share.mean),
        interval(&diversity.near_duplicates)
    )
}

fn labels(of: &LabelCharacters) -> String {
    match of {
        LabelCharacters::Classes { positives, positive_share, neighbours_alike, alike_by_chance, .. } => {
            format!(
                "{} positive ({}); {} of neighbours alike, {} by chance",
                words::count(*positives),
                words::percent(*positive_share),
                words::percent(*neighbours_alike),
                words::percent(*alike_by_chance)
            )
        }
        LabelCharacters::Numbers { min, mean, max, deviation, neighbour_correlation, .. } => format!(
            "{} to {}, mean {}, standard deviation {}; neighbours correlate by {neighbour_correlation:.2}",
            figure(*min),
            figure(*max),
            figure(*mean),
            figure(*deviation)
        ),
    }
}

fn problem(report: &ProfileReport) -> Vec<(&'static str, String)> {
    let sample = &report.sample;
    let mut rows = vec![
        (
            "spectrum",
            format!(
                "{} (largest eigenvalues of XᵀX/n)",
                sample.eigenvalues.iter().take(5).map(|value| figure(*value)).collect::<Vec<_>>().join(", ")
            ),
        ),
        (
            "dimension",
            format!(
                "{} effective dimensions at lambda {}",
                figure(sample.effective_dimension),
                words::error(report.lambda)
            ),
        ),
    ];
    let noise: Vec<String> = (sample.gradients.iter())
        .map(|at| {
            let scale = at.noise_scale.map_or_else(|| format!("> {}", words::count(sample.rows / 2)), figure);
            match at.passes {
                0 => format!("{scale} rows at zero weights"),
                1 => format!("{scale} after a pass"),
                passes => format!("{scale} after {passes}"),
            }
        })
        .collect();
    if !noise.is_empty() {
        rows.push(("noise scale", noise.join(", ")));
    }
    let crowding: Vec<String> = (sample.crowding.iter())
        .map(|of| format!("{} to {} on {}", figure(of.least), figure(of.safe), of.workers))
        .collect();
    if !crowding.is_empty() {
        rows.push(("sigma'", format!("{} workers (the least that is safe for CoCoA+)", crowding.join(", "))));
    }
    let seconds =
        [report.load_seconds, report.characters_seconds, report.sample_seconds].map(words::duration);
    rows.push(("time", format!("load {}, characters {}, sample {}", seconds[0], seconds[1], seconds[2])));
    rows
}

/// From the smallest to the largest, with the median.
fn spread(of: &Distribution) -> String {
    if of.min == of.max {
        return format!("all {}", figure(of.min));
    }
    format!(
        "{} to {}, median {}, mean {}",
        figure(of.min),
        figure(of.max),
        figure(of.median),
        figure(of.mean)
    )
}

fn interval(of: &Interval) -> String {
    match of.is_exact() {
        true => figure(of.mean),
        false => format!("{} ({} to {})", figure(of.mean), figure(of.low), figure(of.high)),
    }
}

fn workers(count: f64) -> String {
    if count < 10.0 { format!("{count:.1}").replace(".0", "") } else { words::count(count.round() as usize) }
}

/// Three digits or so.
fn figure(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e3).contains(&size) => {
            let digits = (2.0 - size.log10().floor()).max(0.0) as usize;
            let text = format!("{value:.digits$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
        size if (1e3..1e9).contains(&size) && value > 0.0 => words::count(value.round() as usize),
        _ => format!("{value:.1e}"),
    }
}
