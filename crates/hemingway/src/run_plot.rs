//! The error of runs as it fell, drawn: against seconds, rounds or epochs, several runs in one picture.
//!
//! Of each run a line says what it had proved by then. What was proved later, by this run or by others in the store on the
//! same problem, tells more about the optimum: an area shows between which bounds the error was, with that known.

use std::path::Path;

use hemingway_train::Point;
use serde::Serialize;

use crate::experience::optimum;
use crate::plot::{self, Axis, COLOURS, Chart, Mark, Scale, Series};
use crate::target::Target;
use crate::{Error, Store, StoredRun, check_writable};

/// What an error is drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlotAxis {
    /// The training clock; virtual where the engine is simulated.
    Seconds,
    /// Rounds.
    Rounds,
    /// Visits to rows, over the rows there are.
    Epochs,
}

/// Runs with what is known of their errors.
#[derive(Debug, Clone, Serialize)]
pub struct RunPlot {
    /// The runs, as they were named.
    pub runs: Vec<PlottedRun>,
}

/// A run with what is known of its error.
#[derive(Debug, Clone, Serialize)]
pub struct PlottedRun {
    /// Its name.
    pub run: String,
    /// The class that it tells from the others, in a run of several classes.
    pub class: Option<String>,
    /// The algorithm.
    pub algorithm: String,
    /// Number of workers.
    pub workers: usize,
    /// The engine.
    pub engine: String,
    /// The problem in words.
    pub problem: String,
    /// Its points.
    pub points: Vec<PlottedPoint>,
}

/// What is known of the error after a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlottedPoint {
    /// The training clock.
    pub seconds: f64,
    /// Rounds finished.
    pub rounds: u64,
    /// Visits to rows, over the rows there are; absent if not known.
    pub epochs: Option<f64>,
    /// The relative error that was proved by then; absent if none was.
    pub certified_error: Option<f64>,
    /// Between which bounds the error was, by what is known of the optimum now.
    pub error: Option<(f64, f64)>,
}

/// From so many points on a line shows where they are.
const FEW_POINTS: usize = 40;

/// So many runs have room in the legend for more than their names.
const DESCRIBED: usize = 6;

/// Letters of a line of the legend.
const LEGEND: usize = 19;

/// Gathers what is known of the errors of these runs. A run of several classes is one for each class.
pub fn plot_runs(store: &Store, names: &[String]) -> Result<RunPlot, Error> {
    let mut runs = Vec::new();
    for name in names {
        let run = store.run(name)?;
        let classes = store.classes_of(&run.id)?;
        let of_all = if classes.is_empty() { vec![run] } else { classes };
        for run in of_all.into_iter().rev() {
            let points = store.points(&run)?;
            runs.push(PlottedRun::of(&run, &points, optimum(store, &run)?)?);
        }
    }
    Ok(RunPlot { runs })
}

/// Refuses a picture in a format that is not known, or in a place that cannot be written to.
pub fn check_picture(file: &Path) -> Result<(), Error> {
    Format::of(file)?;
    check_writable(file)
}

impl RunPlot {
    /// Draws a panel for each axis, as PNG or SVG by the ending of the file's name.
    pub fn write(&self, axes: &[PlotAxis], file: &Path) -> Result<(), Error> {
        let charts: Vec<Chart> = axes.iter().map(|axis| self.chart(*axis)).collect();
        let bytes = match Format::of(file)? {
            Format::Png => plot::png(&charts),
            Format::Svg => plot::svg(&charts).into_bytes(),
        };
        let failed = |source| Error::Unwritable { file: file.to_path_buf(), source };
        Target::of(file).and_then(|target| target.write(|out| out.write_all(&bytes))).map_err(failed)
    }

    fn chart(&self, axis: PlotAxis) -> Chart {
        let floor = self.floor();
        let series = self.runs.iter().enumerate();
        let series = series.flat_map(|(at, run)| run.series(axis, at % COLOURS, self.label(run), floor));
        Chart {
            title: self.title(),
            notes: self.notes(),
            x: Axis::new(self.axis_label(axis), Scale::Linear),
            y: Axis::new("relative error", Scale::Decades),
            series: series.collect(),
        }
    }

    /// A lower bound of nothing has no place on a logarithmic axis: it is drawn here, a tenth below all that has.
    fn floor(&self) -> f64 {
        let points = || self.runs.iter().flat_map(|run| &run.points);
        let above = points().flat_map(|point| [point.certified_error, point.error.map(|(_, high)| high)]);
        above.flatten().filter(|error| *error > 0.0).fold(f64::INFINITY, f64::min) / 10.0
    }

    fn title(&self) -> String {
        match self.runs.as_slice() {
            [first, rest @ ..] if rest.iter().all(|run| run.problem == first.problem) => {
                first.problem.clone()
            }
            runs => format!("{} runs on different problems", runs.len()),
        }
    }

    fn notes(&self) -> Vec<&'static str> {
        let any = |known: fn(&PlottedPoint) -> bool| self.runs.iter().any(|run| run.points.iter().any(known));
        let line = any(|point| point.certified_error.is_some());
        let area = any(|point| point.error.is_some());
        let notes = [(line, ["line: proved by then", ""]), (area, ["area: between bounds", "known by now"])];
        notes.into_iter().filter(|(shown, _)| *shown).flat_map(|(_, lines)| lines).collect()
    }

    fn axis_label(&self, axis: PlotAxis) -> &'static str {
        let simulated = self.runs.iter().filter(|run| run.is_simulated()).count();
        match axis {
            PlotAxis::Rounds => "rounds",
            PlotAxis::Epochs => "epochs",
            PlotAxis::Seconds if simulated == 0 => "seconds",
            PlotAxis::Seconds if simulated == self.runs.len() => "simulated seconds",
            PlotAxis::Seconds => "seconds, some of them simulated",
        }
    }

    fn label(&self, run: &PlottedRun) -> String {
        if self.runs.len() > DESCRIBED {
            return run.class.clone().map_or_else(|| run.run.clone(), |class| shortened(&class));
        }
        let workers = if run.workers == 1 { "worker" } else { "workers" };
        let simulated = if run.is_simulated() { "simulated" } else { "" };
        let class = run.class.as_ref().map(|class| shortened(&format!("class {class}")));
        let lines = [
            run.run.clone(),
            class.unwrap_or_default(),
            shortened(&run.algorithm),
            format!("{} {workers}", run.workers),
            simulated.to_owned(),
        ];
        lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

impl PlottedRun {
    fn of(run: &StoredRun, points: &[Point], optimum: Option<(f64, f64)>) -> Result<PlottedRun, Error> {
        let points: Vec<PlottedPoint> = points.iter().map(|point| PlottedPoint::of(point, optimum)).collect();
        if points.iter().all(|point| point.certified_error.is_none() && point.error.is_none()) {
            return Err(Error::NothingToPlot { run: run.id.clone() });
        }
        let data = run.dataset.name.rsplit('/').next().unwrap_or(&run.dataset.name);
        Ok(PlottedRun {
            run: run.id.clone(),
            class: run.request.class_of.as_ref().and(run.request.data.positive.clone()),
            algorithm: run.choice.algorithm.clone(),
            workers: run.choice.workers,
            engine: run.choice.engine.clone(),
            problem: format!("{data}, {} loss, lambda {:e}", run.request.loss, run.request.lambda),
            points,
        })
    }

    fn is_simulated(&self) -> bool {
        self.engine == "simulated"
    }

    fn series(&self, axis: PlotAxis, colour: usize, label: String, floor: f64) -> Vec<Series> {
        let place = |point: &PlottedPoint| point.on(axis);
        let proved: Vec<(f64, f64)> =
            self.points.iter().filter_map(|point| Some((place(point)?, point.certified_error?))).collect();
        let bounds = self.points.iter().filter_map(|point| Some((place(point)?, point.error?)));
        let bounds: Vec<(f64, (f64, f64))> = bounds.collect();
        let upper = bounds.iter().map(|(x, (_, high))| (*x, high.max(floor)));
        let lower = bounds.iter().rev().map(|(x, (low, _))| (*x, low.max(floor)));
        let marks = [
            (Mark::Band, upper.chain(lower).collect()),
            (Mark::Line, proved.clone()),
            (Mark::Dots, if proved.len() <= FEW_POINTS { proved } else { Vec::new() }),
        ];
        let shown = marks.into_iter().filter(|(_, points): &(Mark, Vec<(f64, f64)>)| !points.is_empty());
        shown.map(|(mark, points)| Series { label: label.clone(), colour, mark, points }).collect()
    }
}

impl PlottedPoint {
    /// With the bounds of the optimum, if there are any.
    fn of(point: &Point, optimum: Option<(f64, f64)>) -> PlottedPoint {
        let proved = point.dual > 0.0 && point.certified_error.is_finite();
        let between = |(lower, upper): (f64, f64)| {
            (((point.primal - upper) / upper).max(0.0), (point.primal - lower) / lower)
        };
        PlottedPoint {
            seconds: point.seconds.0,
            rounds: point.round,
            epochs: Some(point.effort.epochs).filter(|epochs| epochs.is_finite()),
            certified_error: proved.then_some(point.certified_error),
            error: optimum.map(between).filter(|(_, high)| high.is_finite()),
        }
    }

    fn on(&self, axis: PlotAxis) -> Option<f64> {
        match axis {
            PlotAxis::Seconds => Some(self.seconds),
            PlotAxis::Rounds => Some(self.rounds as f64),
            PlotAxis::Epochs => self.epochs,
        }
    }
}

enum Format {
    Png,
    Svg,
}

impl Format {
    fn of(file: &Path) -> Result<Format, Error> {
        let ending = file.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
        match ending.as_deref() {
            Some("png") => Ok(Format::Png),
            Some("svg") => Ok(Format::Svg),
            _ => Err(Error::PictureFormat { file: file.to_path_buf() }),
        }
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LEGEND {
        return text.to_owned();
    }
    text.chars().take(LEGEND - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hemingway_train::{Effort, Seconds};

    fn point(round: u64, primal: f64, dual: f64) -> Point {
        Point {
            round,
            effort: Effort::default(),
            seconds: Seconds(round as f64 / 10.0),
            wall_seconds: Seconds(0.0),
            current: primal,
            primal,
            dual,
            certified_error: (primal - dual) / dual,
        }
    }

    #[test]
    fn what_is_known_now_bounds_the_error_from_both_sides() {
        let plotted = PlottedPoint::of(&point(3, 1.2, 0.8), Some((1.0, 1.1)));
        assert!((plotted.certified_error.unwrap() - 0.5).abs() < 1e-12);
        let (low, high) = plotted.error.unwrap();
        assert!((low - 0.1 / 1.1).abs() < 1e-12 && (high - 0.2).abs() < 1e-12, "{low} {high}");
        let unproved = PlottedPoint::of(&point(3, 1.2, 0.0), None);
        assert_eq!((unproved.certified_error, unproved.error), (None, None));
    }

    fn run(name: &str, engine: &str) -> PlottedRun {
        let points = (1..=20).map(|round| {
            PlottedPoint::of(
                &point(round, 1.0 + 1.0 / round as f64, 1.0 - 0.5 / round as f64),
                Some((0.98, 1.05)),
            )
        });
        PlottedRun {
            run: name.to_owned(),
            class: None,
            algorithm: "compressed-gradient-descent-of-many-letters".to_owned(),
            workers: 4,
            engine: engine.to_owned(),
            problem: "a9a, logistic loss".to_owned(),
            points: points.collect(),
        }
    }

    #[test]
    fn simulated_seconds_are_called_so() {
        let label = |engines: &[&str]| {
            let runs = engines.iter().map(|engine| run("k3f9q", engine)).collect();
            RunPlot { runs }.axis_label(PlotAxis::Seconds)
        };
        assert_eq!(label(&["threads", "mpi"]), "seconds");
        assert_eq!(label(&["simulated", "simulated"]), "simulated seconds");
        assert_eq!(label(&["simulated", "threads"]), "seconds, some of them simulated");
    }

    #[test]
    fn a_panel_has_a_line_and_an_area_for_each_run() {
        let plot = RunPlot { runs: vec![run("k3f9q", "threads"), run("x7p2m", "simulated")] };
        let chart = plot.chart(PlotAxis::Rounds);
        assert_eq!(chart.title, "a9a, logistic loss");
        let of = |name: &str| chart.series.iter().filter(|series| series.label.starts_with(name)).count();
        assert_eq!((of("k3f9q"), of("x7p2m")), (3, 3), "area, line and dots");
        assert!(chart.series[5].label.ends_with("4 workers\nsimulated"), "{}", chart.series[5].label);
        let positive = |series: &Series| series.points.iter().all(|(_, error)| *error > 0.0);
        assert!(chart.series.iter().all(positive), "a bound of nothing has a place, too");
        let text = plot::svg(&[plot.chart(PlotAxis::Seconds), chart]);
        for word in ["k3f9q", "x7p2m", "seconds, some of them simulated", "rounds", "relative error"] {
            assert!(text.contains(word), "{word}");
        }
    }
}
