//! `hemingway profile`: what data is like, which algorithms suit it and how many workers pay, before anything is trained.

mod charts;
mod page;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use hemingway_data::Characters;
use hemingway_plan::scaling::{Bound, bounds};
use hemingway_train::{DataProfile, Loss, SampledProfile};
use serde::{Deserialize, Serialize};

use crate::prepare::{LookedAt, look_closely};
use crate::target::Target;
use crate::{DatasetSummary, Error, TrainRequest, check_writable, choose};

/// What is to be looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileRequest {
    /// The data and the problem, as `train` would be asked.
    pub base: TrainRequest,
    /// Where a page with charts goes.
    pub html: Option<PathBuf>,
}

/// What data is like, and what that means for training on many workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileReport {
    /// What was looked at.
    pub dataset: DatasetSummary,
    /// Whether its columns were standardised first, as training does with tables.
    pub standardised: bool,
    /// What would be minimised.
    pub loss: Loss,
    /// Strength of the L2 penalty.
    pub lambda: f64,
    /// What the data is like.
    pub characters: Characters,
    /// The planner's view of it, from a few rows.
    pub planner: DataProfile,
    /// What a larger sample of rows says of the problem.
    pub sample: SampledProfile,
    /// How many workers pay, for each family of algorithms: of those that were measured the most first.
    pub families: Vec<Family>,
    /// Workers up to which asynchronous SGD scales by Theorem 2 of the paper, 1/(6 Ω √δ). Below 1 it says nothing.
    pub paper_bound: Option<f64>,
    /// Reading the data.
    pub load_seconds: f64,
    /// Finding the characters.
    pub characters_seconds: f64,
    /// Looking at the sample.
    pub sample_seconds: f64,
}

/// A family of algorithms, and how it would scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Family {
    /// Whether it suits the data, how many workers pay, and why.
    #[serde(flatten)]
    pub bound: Bound,
    /// How many times as fast some numbers of workers are as one.
    pub speed_up: Vec<SpeedUp>,
}

/// How many times as fast several workers are as one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpeedUp {
    /// Workers.
    pub workers: usize,
    /// It is hardly below this,
    pub low: f64,
    /// about this,
    pub median: f64,
    /// and hardly above this.
    pub high: f64,
}

/// Numbers of workers for which a speed-up is given: powers of two to this one.
const MOST_WORKERS: usize = 256;

/// Looks at the data of a request; trains nothing, and keeps nothing but the page.
pub fn profile(request: &ProfileRequest, interrupt: &AtomicBool) -> Result<ProfileReport, Error> {
    request.html.as_deref().map_or(Ok(()), check_writable)?;
    let base = request.base.clone().in_full();
    let choice = choose(&base)?;
    let LookedAt { data, profile, look, load_seconds, profile_seconds } =
        look_closely(&base, &choice, interrupt)?;
    let characters = look.characters;
    let families = bounds(&characters, &look.sample, base.lambda).into_iter().map(Family::new).collect();
    let report = ProfileReport {
        dataset: data,
        standardised: base.data.is_standardised(),
        loss: base.loss,
        lambda: base.lambda,
        paper_bound: paper_bound(&characters),
        characters,
        planner: profile,
        sample: look.sample,
        families,
        load_seconds,
        characters_seconds: look.characters_seconds,
        sample_seconds: look.sample_seconds + profile_seconds,
    };
    if let Some(file) = &request.html {
        let page = page::page(&report);
        let written = Target::of(file).and_then(|target| target.write(|out| out.write_all(page.as_bytes())));
        written.map_err(|source| Error::WriteFile { file: file.clone(), source })?;
    }
    Ok(report)
}

impl Family {
    fn new(bound: Bound) -> Family {
        let powers = std::iter::successors(Some(1), |m| Some(2 * m)).take_while(|m| *m <= MOST_WORKERS);
        let at = |workers: usize| {
            let [low, median, high] = bound.speed_up(workers as f64);
            SpeedUp { workers, low, median, high }
        };
        Family { speed_up: powers.map(at).collect(), bound }
    }
}

/// m_max = 1/(6 Ω √δ) of Theorem 2; nothing where all data is zero.
fn paper_bound(of: &Characters) -> Option<f64> {
    let bound = 1.0 / (6.0 * of.row_nonzeros.max * of.delta.sqrt());
    Some(bound).filter(|bound| bound.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataRequest;

    fn request(spec: &str, html: Option<PathBuf>) -> ProfileRequest {
        let data = DataRequest { spec: spec.to_owned(), ..DataRequest::default() };
        ProfileRequest { base: TrainRequest { data, ..TrainRequest::default() }, html }
    }

    fn look(spec: &str) -> ProfileReport {
        profile(&request(spec, None), &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn the_bound_of_the_paper_is_below_one_on_dense_data() {
        let dense = look("synthetic:separable,rows=300,features=20");
        assert_eq!(dense.paper_bound, Some(1.0 / 120.0), "Ω = 20 and δ = 1");
        assert!(look("synthetic:text,rows=300,features=300").paper_bound.unwrap() < 1.0);
    }

    #[test]
    fn a_report_is_plain_data() {
        let report = look("synthetic:text,rows=300,features=300");
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<ProfileReport>(&text).unwrap(), report);
        assert!(report.families.iter().all(|family| family.speed_up[0].median == 1.0));
    }

    #[test]
    fn a_page_stands_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        let interrupt = AtomicBool::new(false);
        let spec = "synthetic:dense-small-similarity,rows=500";
        profile(&request(spec, Some(file.clone())), &interrupt).unwrap();
        let page = std::fs::read_to_string(&file).unwrap();
        assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
        assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
        assert!(page.matches("<svg").count() >= 7, "a chart of each kind");
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            let foreign = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!foreign.contains(outside), "{outside}");
        }
        assert!(page.contains("Rows that follow one another are alike"), "what was found is on it");
        let nowhere = request(spec, Some(folder.path().join("no/page.html")));
        assert!(profile(&nowhere, &interrupt).is_err());
    }
}
