//! The cells of the benchmark, as `cells.py` writes them, and the lines of the tables.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use hemingway_train::Loss;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Arguments, Outcome};

#[derive(Deserialize)]
pub struct Cells {
    pub errors: Vec<f64>,
    pub problems: Vec<Problem>,
}

/// A problem on one cluster; the same problem may be there with another cluster too.
#[derive(Deserialize, Clone)]
pub struct Problem {
    pub name: String,
    pub dataset: String,
    pub loss: Loss,
    pub lambda: f64,
    pub cluster: String,
}

impl Cells {
    /// Those whose problem and cluster contain the text asked for.
    pub fn read(arguments: &Arguments) -> Outcome<Cells> {
        let path = arguments.bench().join("cells.json");
        let file = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut cells: Cells = serde_json::from_reader(BufReader::new(file))?;
        if let Some(only) = arguments.options.get("only") {
            cells.problems.retain(|problem| format!("{}-{}", problem.name, problem.cluster).contains(only));
        }
        Ok(cells)
    }
}

/// Certified errors whose first times are in the tables, the smallest last.
pub const GOALS: [f64; 4] = [1e-1, 1e-2, 1e-3, 1e-4];

/// One line of a table: a fixed configuration and what it took.
#[derive(Serialize, Deserialize)]
pub struct Line {
    #[serde(flatten)]
    pub configuration: Configuration,
    /// Why it ended: `goal`, `lost`, `patience`, or a stop of training itself.
    pub stop: String,
    pub rounds: u64,
    pub host_seconds: f64,
    /// The best lower bound of the objective.
    pub dual: f64,
    /// For each cluster that has enough machines the seconds at each of [`GOALS`]; null where it was not reached.
    pub reached: BTreeMap<String, Vec<Option<f64>>>,
    /// Scored rounds, thinned: round, certified error, objective, then seconds on each cluster of `reached`.
    pub points: Vec<Vec<f64>>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Configuration {
    pub algorithm: String,
    pub workers: usize,
    /// None: one pass over a worker's rows.
    pub local_steps: Option<usize>,
}

/// The lines of a file that are whole; none if there is no file.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> Outcome<Vec<T>> {
    let Ok(file) = File::open(path) else { return Ok(Vec::new()) };
    let lines = BufReader::new(file).lines().collect::<Result<Vec<_>, _>>()?;
    // A call that was killed may have left the start of a line.
    Ok(lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Opens a file of lines to add more. The start of a line that a killed call left becomes a line of its own.
pub fn append(path: &Path) -> Outcome<File> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let text = std::fs::read(path)?;
    if !text.is_empty() && !text.ends_with(b"\n") {
        file.write_all(b"\n")?;
    }
    Ok(file)
}
