//! What `bench/tune/run` found out about other tuners: a line of JSON for each run.

use std::path::Path;

use serde::Deserialize;

use super::CONVERGENCE;
use super::runs::{OURS, Runs};
use crate::Error;

/// Tuners in such a file that are run here anyway.
const HERE: [&str; 2] = [OURS, "random"];
/// How much the optimum of a file may differ from ours: it is written in full.
const SAME: f64 = 1e-9;

#[derive(Deserialize)]
struct Line {
    tuner: String,
    experiment: String,
    /// Seconds per iteration of the best possible schedule.
    optimum: f64,
    /// After each evaluation, seconds of the schedule that would be chosen / optimum; nothing as long as all failed.
    ratios: Vec<Option<f64>>,
}

/// The tuners on the experiment of Figure 2, in the order of the file. Results of another simulator, which has another optimum, are
/// not used.
pub(super) fn read(file: &Path, optimum: f64) -> Result<Vec<Runs>, Error> {
    let text =
        std::fs::read_to_string(file).map_err(|source| Error::Read { file: file.to_path_buf(), source })?;
    parse(&text, optimum).map_err(|problem| Error::Rivals { file: file.to_path_buf(), problem })
}

fn parse(text: &str, optimum: f64) -> Result<Vec<Runs>, String> {
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line: Line = serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?;
        if line.experiment == CONVERGENCE.to_string() && !HERE.contains(&line.tuner.as_str()) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        return Err(format!("it has no other tuner on {CONVERGENCE}"));
    }
    let other = lines[0].optimum;
    lines.retain(|line| (line.optimum / optimum - 1.0).abs() < SAME);
    let mut tuners: Vec<Runs> = Vec::new();
    for line in lines {
        let seconds = line.ratios.iter().map(|ratio| ratio.map_or(f64::INFINITY, |ratio| ratio * optimum));
        match tuners.iter_mut().find(|runs| runs.name == line.tuner) {
            Some(runs) => runs.seconds.push(seconds.collect()),
            None => tuners.push(Runs { name: line.tuner, seconds: vec![seconds.collect()] }),
        }
    }
    if tuners.is_empty() {
        return Err(format!("it is of another simulator: its optimum is {other} s, here it is {optimum} s"));
    }
    Ok(tuners)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tuner: &str, experiment: &str, optimum: f64, ratios: &str) -> String {
        format!(
            r#"{{"tuner": "{tuner}", "experiment": "{experiment}", "run": 1, "optimum": {optimum}, "ratios": {ratios}}}"#
        )
    }

    #[test]
    fn only_what_belongs_to_the_figure_is_taken() {
        let name = "c-speechnet-65536";
        let lines = [
            line("optuna", name, 2.0, "[null, 3.0]"),
            line("optuna", "c-speechnet-8192", 2.0, "[1.0]"),
            line("hemingway", name, 2.0, "[1.0]"),
            line("opentuner", name, 2.0, "[4.0]"),
            line("optuna", name, 2.5, "[1.0]"),
            line("optuna", name, 2.0, "[2.0, 1.5]"),
        ];
        let optuna = Runs { name: "optuna".into(), seconds: vec![vec![f64::INFINITY, 6.0], vec![4.0, 3.0]] };
        let opentuner = Runs { name: "opentuner".into(), seconds: vec![vec![8.0]] };
        assert_eq!(parse(&lines.join("\n"), 2.0), Ok(vec![optuna, opentuner]));
    }

    #[test]
    fn a_file_that_says_nothing_about_it_is_refused() {
        let name = "c-speechnet-65536";
        for (text, part) in [
            (String::new(), "no other tuner"),
            (line("random", name, 2.0, "[1.0]"), "no other tuner"),
            (line("optuna", name, 3.0, "[1.0]"), "its optimum is 3 s, here it is 2 s"),
            ("{}".into(), "line 1: missing field"),
        ] {
            let problem = parse(&text, 2.0).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        }
    }
}
