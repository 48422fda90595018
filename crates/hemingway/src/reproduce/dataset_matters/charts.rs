//! A panel as a chart.

use super::curves::Curves;
use super::experiments::{Method, Panel};
use super::sections::full_title;
use crate::plot::{Axis, COLOURS, Chart, Mark, Scale};
use crate::reproduce::charts::series;

/// Losses so many times as far above the first as the lowest is below it are drawn at the edge: there is nothing to be seen in
/// how far a run jumps.
const EDGE: f64 = 2.0;

/// The name of its files.
pub(super) fn file(panel: &str) -> String {
    format!("dataset-matters-{panel}")
}

/// Median losses by iterations, for each number of workers.
pub(super) fn chart(panel: &Panel, curves: &Curves) -> Chart {
    let medians: Vec<Vec<f64>> = (0..curves.workers.len()).map(|at| curves.median(at)).collect();
    let all = || medians.iter().flatten().copied();
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let start = medians[0][0];
    let edge = start + EDGE * (start - low).max(0.1 * start);
    let line = |(at, (workers, losses)): (usize, (&usize, &Vec<f64>))| {
        let points = curves.iterations.iter().zip(losses).map(|(i, loss)| (*i as f64, loss.min(edge)));
        let colour = at * COLOURS / curves.workers.len();
        series(&format!("m = {workers}"), colour, Mark::Line, points.collect())
    };
    let mut notes = vec!["medians of seeds"];
    if high > edge {
        notes.push("at the edge: above it");
    }
    Chart {
        title: full_title(panel),
        notes,
        x: Axis::new(unit(panel.method), Scale::Linear),
        y: Axis::new("held-out log loss", Scale::Linear),
        series: curves.workers.iter().zip(&medians).enumerate().map(line).collect(),
    }
}

/// What an iteration is.
fn unit(method: Method) -> &'static str {
    match method {
        Method::MiniBatch | Method::Ecd => "iterations, each with one row of every worker",
        Method::Dadm => "iterations, each with one dual step of every worker",
        Method::Hogwild { rows: 1 } | Method::OwnCopies => "iterations, each with one row of one worker",
        Method::Hogwild { .. } => "iterations, each with four rows of one worker",
    }
}
