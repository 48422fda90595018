//! A panel as a chart.

use super::curves::Curves;
use super::experiments::{Method, Panel};
use super::sections::full_title;
use crate::plot::{Axis, COLOURS, Chart, Mark, Scale};
use crate::reproduce::charts::series;

/// Losses that rise to this multiple of the first one are shown on a logarithmic axis.
const WIDE: f64 = 2.0;

/// The name of its files.
pub(super) fn file(panel: &str) -> String {
    format!("dataset-matters-{panel}")
}

/// Trends of median losses by iterations, for each number of workers.
pub(super) fn chart(panel: &Panel, curves: &Curves) -> Chart {
    let trends: Vec<Vec<f64>> = (0..curves.workers.len()).map(|at| curves.trend(at)).collect();
    let highest = trends.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let scale = if highest > WIDE * trends[0][0] { Scale::Doublings } else { Scale::Linear };
    let line = |(at, (workers, losses)): (usize, (&usize, &Vec<f64>))| {
        let points = curves.iterations.iter().map(|i| *i as f64).zip(losses.iter().copied());
        let colour = at * COLOURS / curves.workers.len();
        series(&format!("m = {workers}"), colour, Mark::Line, points.collect())
    };
    Chart {
        title: full_title(panel),
        notes: vec!["medians of seeds,", "means of five points"],
        x: Axis::new(unit(panel.method), Scale::Linear),
        y: Axis::new("held-out log loss", scale),
        series: curves.workers.iter().zip(&trends).enumerate().map(line).collect(),
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
