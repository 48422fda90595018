//! `reproduce`: the figures of the Hemingway paper, from runs to a page; those of the paper on tuning are in `bespoke`, those of the
//! paper on datasets in `dataset_matters`.
//!
//! `experiments` makes the runs or takes them from the store, and from there on everything is a pure function of what
//! they did: `analysis` fits and forecasts, `figures` lists what the paper shows, `charts` draws it, `page` writes it
//! down.

mod accuracy;
mod analysis;
mod bespoke;
mod charts;
mod comparison;
mod dataset_matters;
mod experiments;
mod figures;
mod folder;
mod forecast;
mod models;
mod page;
mod request;
mod trace;
mod words;

use std::path::PathBuf;

use serde::Serialize;

pub use accuracy::Accuracy;
pub use analysis::{Errors, Forward};
pub use bespoke::{
    BespokeReproduction, BespokeRequest, BespokeWatch, Runs, Study as TunedStudy, TunedExperiment,
    reproduce_bespoke,
};
pub use dataset_matters::{
    DatasetFacts, DatasetMattersReproduction, DatasetMattersRequest, DatasetMattersWatch, Gap, Gaps, Outcome,
    PanelGaps, UpperBound, Verdict, reproduce_dataset_matters,
};
pub use request::{ReproduceRequest, mnist};

use analysis::Analysis;
use folder::Folder;
use page::Facts;

use crate::measure::MeasureWatch;
use crate::{DatasetSummary, Error, Place};

/// The machines that are simulated.
const CLUSTER: &str = include_str!("cluster.toml");

/// What was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reproduction {
    /// The page.
    pub page: PathBuf,
    /// The figures on it, as PNG; each has an SVG beside it.
    pub figures: Vec<PathBuf>,
    /// Their data, as CSV.
    pub data: Vec<PathBuf>,
    /// What was trained on.
    pub dataset: DatasetSummary,
    /// Strength of the L2 penalty.
    pub lambda: f64,
    /// Proved bounds of the best objective.
    pub optimum: [f64; 2],
    /// The errors of all predictions.
    pub errors: Errors,
}

/// Makes the runs that the store does not have, then the figures and the page. Nothing if interrupted; a second call
/// goes on from there.
pub fn reproduce(
    request: &ReproduceRequest,
    place: &Place,
    watch: &mut MeasureWatch,
) -> Result<Option<Reproduction>, Error> {
    request.check()?;
    let folder = Folder(&request.out);
    let Some(reference) = experiments::bracket(request, place, watch)? else { return Ok(None) };
    let cluster = folder.write("cluster.toml", CLUSTER)?;
    let Some(evidence) = experiments::carry_out(request, reference, &cluster, place, watch)? else {
        return Ok(None);
    };

    let analysis = Analysis::of(&evidence)?;
    let figures = figures::figures(&analysis);
    let errors = analysis.errors();
    let of_averaging = Analysis::of_averaging(&evidence)?.errors();
    let facts = Facts {
        evidence: &evidence,
        errors: &errors,
        of_averaging: &of_averaging,
        rounds: request.rounds,
        cluster: CLUSTER,
    };
    let page = page::page(&facts, &analysis, &figures);
    let charts = figures.iter().map(|figure| (figure.file(), &figure.chart));
    let (pictures, data) = folder.write_charts(charts)?;
    let reference = &evidence.reference;
    Ok(Some(Reproduction {
        page: folder.write("hemingway.md", page)?,
        figures: pictures,
        data,
        dataset: reference.dataset.clone(),
        lambda: reference.lambda,
        optimum: [evidence.optimum, reference.primal],
        errors,
    }))
}
