//! The score over λ, as a chart.

use std::path::Path;

use super::{LambdaReport, Select};
use crate::Error;
use crate::plot::{Axis, Chart, Mark, Scale, Series};
use crate::target::Target;

/// Refuses a name that says no format, and a place that cannot be written to.
pub fn check_lambda_plot(file: &Path) -> Result<(), Error> {
    if is_svg(file) || is_png(file) {
        return crate::check_writable(file);
    }
    Err(super::LambdaError::Plot { file: file.to_path_buf() }.into())
}

/// Writes the score over λ as PNG or SVG, as the name ends.
pub fn plot_lambda(report: &LambdaReport, file: &Path) -> Result<(), Error> {
    let chart = chart(report);
    let bytes = if is_svg(file) { chart.svg().into_bytes() } else { chart.png() };
    let written = Target::of(file).and_then(|target| target.write(|out| out.write_all(&bytes)));
    written.map_err(|source| Error::WriteFile { file: file.to_path_buf(), source })
}

fn is_svg(file: &Path) -> bool {
    file.extension().is_some_and(|end| end.eq_ignore_ascii_case("svg"))
}

fn is_png(file: &Path) -> bool {
    file.extension().is_some_and(|end| end.eq_ignore_ascii_case("png"))
}

fn chart(report: &LambdaReport) -> Chart {
    let choice = &report.choice;
    let (label, select) = match choice.score.as_str() {
        "accuracy" => ("accuracy on rows held out", Select::Accuracy),
        "rmse" => ("rms error on rows held out", Select::Loss),
        "log_loss" => ("log-loss on rows held out", Select::Loss),
        _ => ("loss on rows held out", Select::Loss),
    };
    let scores = || report.points.iter().map(|point| (point.lambda, point.score(select)));
    let low = scores().map(|(lambda, score)| (lambda, score.mean - score.standard_error));
    let high = scores().rev().map(|(lambda, score)| (lambda, score.mean + score.standard_error));
    let means: Vec<(f64, f64)> = scores().map(|(lambda, score)| (lambda, score.mean)).collect();
    let values = || means.iter().map(|(_, mean)| *mean).filter(|mean| mean.is_finite());
    let [bottom, top] = [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)];
    let of = |label: &str, colour: usize, mark: Mark, points: Vec<(f64, f64)>| Series {
        label: label.to_owned(),
        colour,
        mark,
        points,
    };
    Chart {
        title: format!("lambda = {:e}", choice.lambda),
        notes: vec!["band: one standard error"],
        x: Axis::new("lambda", Scale::Decades),
        y: Axis::new(label, Scale::Linear),
        series: vec![
            of("mean", 0, Mark::Band, low.chain(high).collect()),
            of("mean", 0, Mark::Line, means.clone()),
            of("tried", 0, Mark::Dots, means),
            of("chosen", 3, Mark::Line, vec![(choice.lambda, bottom), (choice.lambda, top)]),
        ],
    }
}
