//! Plots of a study: the best so far, and the posterior of each type of device.

use std::path::Path;

use super::TuneReport;
use crate::Error;
use crate::plot::{Axis, Chart, Mark, Scale, Series};

/// Refuses a folder that plots could not be written into.
pub fn check_plots(folder: &Path) -> Result<(), Error> {
    let unwritable = |source| Error::Unwritable { file: folder.to_path_buf(), source };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    crate::check_writable(&folder.join("best-so-far.png"))
}

/// Writes the plots of a study into a folder, as PNG and SVG.
pub fn plot_study(report: &TuneReport, folder: &Path) -> Result<(), Error> {
    let failed = |file: &Path| {
        let file = file.to_path_buf();
        move |source| Error::WriteFile { file, source }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    let mut charts = vec![("best-so-far".to_owned(), best_so_far(report))];
    for rates in report.finding.iter().flat_map(|finding| &finding.rates) {
        let name: String = rates
            .device
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
            .collect();
        charts.push((format!("rate-{name}"), rate(rates)));
    }
    for (name, chart) in charts {
        let (png, svg) = (folder.join(format!("{name}.png")), folder.join(format!("{name}.svg")));
        std::fs::write(&png, chart.png()).map_err(failed(&png))?;
        std::fs::write(&svg, chart.svg()).map_err(failed(&svg))?;
    }
    Ok(())
}

fn best_so_far(report: &TuneReport) -> Chart {
    let measured = report.evaluations.iter().filter_map(|step| Some((step.number as f64, step.time?)));
    let best = report.evaluations.iter().filter_map(|step| Some((step.number as f64, step.best_time?)));
    let mut series = vec![
        Series { label: "measured".into(), colour: 0, mark: Mark::Dots, points: measured.collect() },
        Series { label: "best so far".into(), colour: 1, mark: Mark::Line, points: best.collect() },
    ];
    if let Some(optimum) = report.optimum {
        let last = report.evaluations.len() as f64;
        let points = vec![(1.0, optimum), (last.max(2.0), optimum)];
        series.push(Series { label: "optimum".into(), colour: 2, mark: Mark::Line, points });
    }
    Chart {
        title: report.job.clone(),
        notes: Vec::new(),
        x: Axis::new("evaluation", Scale::Linear),
        y: Axis::new("seconds per iteration", Scale::Linear),
        series,
    }
}

fn rate(rates: &hemingway_tune::schedule::Rates) -> Chart {
    let line = rates.predicted.iter().map(|(load, [_, mean, _])| (*load, *mean)).collect();
    let low = rates.predicted.iter().map(|(load, [low, _, _])| (*load, *low));
    let high = rates.predicted.iter().rev().map(|(load, [_, _, high])| (*load, *high));
    Chart {
        title: rates.device.clone(),
        notes: vec!["band: 90 % of what", "the model holds possible"],
        x: Axis::new("inputs per iteration", Scale::Decades),
        y: Axis::new("inputs per second", Scale::Linear),
        series: vec![
            Series {
                label: "predicted".into(),
                colour: 0,
                mark: Mark::Band,
                points: low.chain(high).collect(),
            },
            Series { label: "predicted".into(), colour: 0, mark: Mark::Line, points: line },
            Series { label: "measured".into(), colour: 1, mark: Mark::Dots, points: rates.observed.clone() },
        ],
    }
}
