//! `reproduce dataset-matters`: the experiments of Cheng et al., Dataset Matters, from runs on a perfect computer to a page.
//!
//! `panels` lists what is run and `sections` what the paper claims of it; `data` has the rows, `perfect` the computer. From the
//! `curves` on everything is a pure function of what the runs did: `verdict` has the criteria, `findings` applies them, `charts`
//! draws, `page` writes it all down.

mod charts;
mod curves;
mod data;
mod experiments;
mod findings;
mod page;
mod panels;
mod perfect;
mod sections;
mod verdict;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

pub use curves::Gap;
pub use data::DatasetFacts;
pub use verdict::{Gaps, UpperBound, Verdict};

use data::Data;
use experiments::{Effort, Panel};
use panels::PANELS;
use sections::{Results, SECTIONS, Section};

use super::folder::Folder;
use crate::Error;

/// Seeds of every run, and with `full`.
const SEEDS: [u64; 2] = [3, 9];
/// Times the iterations, and with `full`.
const STRETCH: [u64; 2] = [1, 4];

/// The experiments of the paper on datasets, to be made again.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetMattersRequest {
    /// Names of experiments or their beginnings, like `figure-3` or `figure`; none for all of them.
    pub experiments: Vec<String>,
    /// Runs of each curve, with the seeds 1, 2, …; as many as are usual if not given.
    pub seeds: Option<u64>,
    /// Longer runs with more seeds.
    pub full: bool,
    /// The folder that everything is written into.
    pub out: PathBuf,
}

/// Who watches.
pub struct DatasetMattersWatch<'a> {
    /// Set to end it.
    pub interrupt: &'a AtomicBool,
    /// Is told once what is trained on, before anything is run.
    pub begin: &'a mut dyn FnMut(&[&DatasetFacts]),
    /// Is told the title of each panel that is done, how many are and how many there are.
    pub observe: &'a mut dyn FnMut(&str, usize, usize),
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DatasetMattersReproduction {
    /// The page.
    pub page: PathBuf,
    /// The figures on it, as PNG; each has an SVG beside it.
    pub figures: Vec<PathBuf>,
    /// Their data, as CSV.
    pub data: Vec<PathBuf>,
    /// What was trained on: dense rows, then sparse ones.
    pub datasets: [DatasetFacts; 2],
    /// What came of the paper's claims, in its order.
    pub claims: Vec<Outcome>,
    /// How far the most workers are ahead of one, by panel.
    pub gaps: Vec<PanelGaps>,
    /// Table II, if it was asked for.
    pub bounds: Vec<UpperBound>,
}

/// What came of a claim.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The experiment: `figure-3`.
    pub experiment: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// What was found, in a sentence or two.
    pub found: String,
}

/// The gaps of a panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PanelGaps {
    /// The panel: `3a`.
    pub panel: String,
    /// How far the most workers are ahead of one.
    pub gaps: Gaps,
}

/// Runs every experiment, then writes the figures and the page. Nothing if interrupted.
pub fn reproduce_dataset_matters(
    request: &DatasetMattersRequest,
    watch: &mut DatasetMattersWatch,
) -> Result<Option<DatasetMattersReproduction>, Error> {
    let chosen = request.check()?;
    let data = Data::load()?;
    (watch.begin)(&[&data.dense, &data.sparse]);
    let panels: Vec<&'static Panel> = PANELS.iter().filter(|panel| is_needed(panel, &chosen)).collect();
    let effort = request.effort();
    let Some(results) = carry_out(&panels, &data, effort, watch)? else { return Ok(None) };

    let sections: Vec<(&'static Section, Outcome)> =
        chosen.into_iter().map(|section| (section, outcome(section, &results))).collect();
    let has_table = sections.iter().any(|(section, _)| section.name == "table-2");
    let bounds = if has_table { findings::bounds(&results) } else { Vec::new() };
    let charts: Vec<_> =
        panels.iter().map(|panel| (*panel, charts::chart(panel, &results[panel.name]))).collect();
    let gaps: Vec<PanelGaps> = panels.iter().map(|panel| PanelGaps::of(panel, &results)).collect();

    let folder = Folder(&request.out);
    let facts =
        page::Facts { request, effort, data: &data, sections: &sections, bounds: &bounds, charts: &charts };
    let page = page::page(&facts);
    let (figures, mut files) =
        folder.write_charts(charts.iter().map(|(panel, chart)| (charts::file(panel.name), chart)))?;
    files.push(folder.write("data/dataset-matters-gaps.csv", gaps_csv(&gaps))?);
    if has_table {
        files.push(folder.write("data/dataset-matters-table-2.csv", bounds_csv(&bounds))?);
    }
    Ok(Some(DatasetMattersReproduction {
        page: folder.write("dataset-matters.md", page)?,
        figures,
        data: files,
        datasets: [data.dense, data.sparse],
        claims: sections.into_iter().map(|(_, outcome)| outcome).collect(),
        gaps,
        bounds,
    }))
}

impl DatasetMattersRequest {
    /// The experiments that are asked for, in the paper's order.
    fn check(&self) -> Result<Vec<&'static Section>, Error> {
        if let Some(seeds) = self.seeds.filter(|seeds| !(1..=1000).contains(seeds)) {
            let (value, expected) = (seeds as f64, "from 1 to 1000");
            return Err(Error::OutOfRange { name: "--seeds", value, expected });
        }
        let begins =
            |section: &Section, name: &str| format!("{}-", section.name).starts_with(&format!("{name}-"));
        let unknown = |name: &&String| !SECTIONS.iter().any(|section| begins(section, name));
        if let Some(name) = self.experiments.iter().find(unknown) {
            let known: Vec<&str> = SECTIONS.iter().map(|section| section.name).collect();
            return Err(Error::NotInPaper { name: name.clone(), known: known.join(", ") });
        }
        Folder(&self.out).check()?;
        let wanted = |section: &&Section| {
            self.experiments.is_empty() || self.experiments.iter().any(|name| begins(section, name))
        };
        Ok(SECTIONS.iter().filter(wanted).collect())
    }

    fn effort(&self) -> Effort {
        let at = usize::from(self.full);
        Effort { seeds: self.seeds.unwrap_or(SEEDS[at]), stretch: STRETCH[at] }
    }
}

fn is_needed(panel: &Panel, sections: &[&Section]) -> bool {
    sections.iter().any(|section| section.panels.contains(&panel.name))
}

/// One panel after the other, its runs at once as far as there are cores; nothing if interrupted.
fn carry_out(
    panels: &[&'static Panel],
    data: &Data,
    effort: Effort,
    watch: &mut DatasetMattersWatch,
) -> Result<Option<Results>, Error> {
    let mut results = Results::new();
    for panel in panels {
        let Some(curves) = panel.run(data, effort, watch.interrupt)? else { return Ok(None) };
        results.insert(panel.name, curves);
        (watch.observe)(&sections::full_title(panel), results.len(), panels.len());
    }
    Ok(Some(results))
}

fn outcome(section: &Section, results: &Results) -> Outcome {
    let (verdict, found) = section.judge(results);
    Outcome { experiment: section.name.to_owned(), verdict, found }
}

impl PanelGaps {
    fn of(panel: &Panel, results: &Results) -> PanelGaps {
        PanelGaps { panel: panel.name.to_owned(), gaps: Gaps::ahead(&results[panel.name]) }
    }
}

fn gaps_csv(gaps: &[PanelGaps]) -> String {
    let mut text = "panel,when,median,low,high\n".to_owned();
    for PanelGaps { panel, gaps: Gaps { early, late } } in gaps {
        for (when, Gap { median, low, high }) in [("early", early), ("late", late)] {
            text += &format!("{panel},{when},{median},{low},{high}\n");
        }
    }
    text
}

fn bounds_csv(bounds: &[UpperBound]) -> String {
    let mut text = "algorithm,workers,iterations of each\n".to_owned();
    for UpperBound { algorithm, workers, iterations, .. } in bounds {
        for (workers, iterations) in workers.iter().zip(iterations) {
            let iterations = iterations.map_or(String::new(), |iterations| iterations.to_string());
            text += &format!("{algorithm},{workers},{iterations}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(experiments: &[&str]) -> DatasetMattersRequest {
        let experiments = experiments.iter().map(|name| (*name).to_owned()).collect();
        DatasetMattersRequest { experiments, seeds: None, full: false, out: "reproduce".into() }
    }

    fn chosen(experiments: &[&str]) -> Vec<&'static str> {
        request(experiments).check().unwrap().into_iter().map(|section| section.name).collect()
    }

    #[test]
    fn experiments_are_chosen_by_the_beginnings_of_their_names() {
        assert_eq!(chosen(&[]).len(), SECTIONS.len());
        assert_eq!(chosen(&["figure-6", "table"]), ["figure-6", "figure-6-dadm", "table-2"]);
        assert!(
            matches!(request(&["figure-1"]).check(), Err(Error::NotInPaper { .. })),
            "10 does not begin with 1"
        );
    }

    #[test]
    fn every_panel_belongs_to_an_experiment_and_every_experiment_has_its_panels() {
        for panel in &PANELS {
            assert!(is_needed(panel, &SECTIONS.iter().collect::<Vec<_>>()), "{}", panel.name);
        }
        for name in SECTIONS.iter().flat_map(|section| section.panels) {
            assert!(PANELS.iter().any(|panel| panel.name == *name), "{name}");
        }
    }
}
