//! The page: a table of claims and verdicts, what was run and corrected, then every experiment with its figures.

use std::collections::BTreeSet;

use super::charts::file;
use super::curves::LEFT;
use super::data::{Data, DatasetFacts};
use super::experiments::{Effort, LAMBDA, Panel, WORKERS};
use super::panels::{MORE_SEEDS, STEP, STEP_OF_LONG_ROWS, STEP_OF_ONES};
use super::sections::Section;
use super::verdict::{SAVING, UpperBound, VISIBLE};
use super::{DatasetMattersRequest, Outcome};
use crate::plot::Chart;
use crate::reproduce::folder::picture;
use crate::reproduce::words::{count, percent, significant};

/// What the page is about.
pub(super) struct Facts<'a> {
    pub request: &'a DatasetMattersRequest,
    pub effort: Effort,
    pub data: &'a Data,
    pub sections: &'a [(&'static Section, Outcome)],
    pub bounds: &'a [UpperBound],
    pub charts: &'a [(&'static Panel, Chart)],
}

/// The whole page, in Markdown.
pub(super) fn page(facts: &Facts) -> String {
    let mut shown = BTreeSet::new();
    let sections: Vec<String> = facts
        .sections
        .iter()
        .map(|(section, outcome)| self::section(facts, section, outcome, &mut shown))
        .collect();
    [
        title(facts.request),
        table(facts.sections),
        setup(facts),
        CORRECTED.to_owned(),
        criteria(),
        format!("## Experiments\n\n{}", sections.join("\n")),
    ]
    .join("\n")
}

fn title(request: &DatasetMattersRequest) -> String {
    format!(
        "# The experiments of Dataset Matters, made again\n\n\
         Cheng, Zhang, Xia, Li and Zhang, *The Scalability for Parallel Machine Learning Training Algorithm: Dataset Matters*, 2019,\n\
         says that characters of the data decide how many workers pay: variance, sparsity, diversity and the similarity of\n\
         consecutive rows. This page makes its experiments again with corrected algorithms. It is written by\n\n    \
         {}\n\n\
         which also writes each figure as SVG and its data as CSV. Every result and verdict on it is computed from the runs.\n",
        command(request)
    )
}

/// What made the page, without the folders of whoever ran it.
fn command(request: &DatasetMattersRequest) -> String {
    let mut command = "HEMINGWAY_DATA=FOLDER hemingway reproduce dataset-matters".to_owned();
    if request.full {
        command += " --full";
    }
    if let Some(seeds) = request.seeds {
        command += &format!(" --seeds {seeds}");
    }
    if !request.experiments.is_empty() {
        command += &format!(" --experiments {}", request.experiments.join(","));
    }
    command
}

fn table(sections: &[(&'static Section, Outcome)]) -> String {
    let row = |(section, outcome): &(&Section, Outcome)| {
        format!(
            "| [{}](#{}) | {} | **{}** |\n",
            section.title,
            anchor(section.title),
            section.claim,
            outcome.verdict
        )
    };
    let rows: String = sections.iter().map(row).collect();
    format!("## The paper's claims\n\n| experiment | the paper | here |\n|---|---|---|\n{rows}")
}

/// Where a heading is on the page.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn setup(facts: &Facts) -> String {
    let Data { dense, sparse, .. } = facts.data;
    let Effort { seeds, .. } = facts.effort;
    let workers: Vec<String> = WORKERS.iter().map(usize::to_string).collect();
    format!(
        "## What was run\n\n\
         - Dense rows, for the paper's HIGGS: {}\n\
         - Sparse rows, for the paper's real-sim: {}\n\
         - Scaled sparse rows: the same times {}, so that their features vary as much as the dense ones'. The paper has none; they\n  \
         tell variance from sparsity.\n\
         - 70 % of the rows train, 20 % are held out, split at random. Repeated rows repeat training rows only, so none of them is\n  \
         held out.\n\
         - Generated rows follow the paper's recipes, and similar ones are generated anew for each seed. Sparse similar rows have 4,000 features instead of 20,958 and those of 70 % ones\n  \
         200: some thousand rows do not tell the weights of more.\n\
         - Problem: logistic loss, λ = {LAMBDA}, no bias, as in the paper.\n\
         - Algorithms are those of the catalogue on {} workers, {seeds} seeds each, {} on the dense data of\n  \
         Table II, where curves are noisy: `minibatch-sgd` and `ecd-psgd` with a batch of one row\n  \
         for each worker, on a ring whose workers weigh themselves like a neighbour, without compression; `async-sgd` with a batch of one\n  \
         row, or four on dense rows, which is the paper's Algorithm 1 (Hogwild! with a server); `dadm` with one dual step of each worker in\n  \
         a round. What is scored is the iterate, not an average.\n\
         - Steps: {STEP}, as in the paper, but they shrink like 1/(1 + {STEP} λ t), as all of ours do. Where losses only jump\n  \
         with the paper's step it is smaller: {} on rows of 1,000 features, as long relative to a row as {STEP} is on 28, and {} on rows of 70 % ones.\n\
         - Machines: the paper's perfect computer. All workers are equally fast and messages take no time, so steps of Hogwild! miss\n  \
         those of all other workers, τ = m − 1.\n",
        described(dense),
        described(sparse),
        significant(facts.data.scale()),
        workers.join(", "),
        seeds * MORE_SEEDS,
        significant(STEP_OF_LONG_ROWS),
        significant(STEP_OF_ONES),
    )
}

fn described(facts: &DatasetFacts) -> String {
    let DatasetFacts { name, file, generated, rows, features, density, variance } = facts;
    let generated = if *generated {
        format!(" **They are generated. Set `HEMINGWAY_DATA` to a folder with `{file}` to use real ones.**")
    } else {
        String::new()
    };
    format!(
        "`{name}`, {} rows, {} features, {} of the values not zero, variances of the features {} in sum.{generated}",
        count(*rows),
        count(*features),
        percent(*density),
        significant(*variance),
    )
}

const CORRECTED: &str = "\
## What was corrected

- Algorithms 1 and 2 add the gradient; here steps go along its negative.
- Equation 5 minimises what has to be maximised and lacks n/m; as printed DADM never converges. Ours is CoCoA+ on mini-batches.
- Algorithm 4 has (1 − 2/y) for (1 − 2/t) and ΔF for ∇F. On an even ring it explodes unless workers weigh their own estimates, too.
- Theorem 3 says that larger batches gain like b^(−t/2); they gain like 1/b. Theorem 2 has a best number of workers below 1 on
  every dense dataset.
- C_sim is a distance, so large LS means that consecutive rows differ. The values of Example 2 are 1.5 and 1.83 by Equation 3, not
  0.5 and 1.
- Replicated data was split after it was replicated, so the same rows trained and were held out; here rows are held out first.
";

fn criteria() -> String {
    format!(
        "## When a claim is confirmed\n\n\
         - A gap is the loss with 1 worker less that with {}, as a share of what training gains: of the way from ln 2 down to the lowest\n  \
         loss of the panel. For Hogwild!, whose iterations are shared by all workers, it is how far {} workers are behind.\n\
         - It is taken early, in the mean of the first tenth of the iterations, and late, in the second half, for each seed.\n\
         - One gap is wider than another if its median over seeds is by {} wider and every seed of one is above every seed of the other. A\n  \
         claim that is so early and late is confirmed, at one of the times confirmed with a restriction, else not confirmed. A gap below {}\n  \
         cannot be seen.\n\
         - A run has converged when the trend of its loss stays below a level near that where {} workers end: {} of the way from\n  \
         there up to ln 2 is left. A bound is the number of workers beyond which no more of them save {} of the iterations of each\n  \
         for every doubling.\n",
        WORKERS[WORKERS.len() - 1],
        WORKERS[WORKERS.len() - 1],
        percent(VISIBLE),
        percent(VISIBLE),
        WORKERS[1],
        percent(LEFT),
        percent(SAVING),
    )
}

/// A section with the figures that no section before has shown.
fn section(
    facts: &Facts,
    section: &Section,
    outcome: &Outcome,
    shown: &mut BTreeSet<&'static str>,
) -> String {
    let wanted = |(panel, _): &&(&'static Panel, Chart)| section.panels.contains(&panel.name);
    let mut pictures: Vec<String> = Vec::new();
    for (panel, chart) in facts.charts.iter().filter(wanted) {
        if shown.insert(panel.name) {
            pictures.push(picture(&file(panel.name), chart));
        }
    }
    let table = if section.name == "table-2" { bounds(facts.bounds) } else { String::new() };
    format!(
        "### {}\n\nThe paper: {}\n\nHere, **{}**: {}\n\n{table}{}\n",
        section.title,
        section.claim,
        outcome.verdict,
        outcome.found,
        pictures.join("\n\n")
    )
}

fn bounds(bounds: &[UpperBound]) -> String {
    let mut table = "Iterations of each worker to converge; –: not converged, or no bound up to the most workers.\n\n| algorithm |".to_owned();
    WORKERS[1..].iter().for_each(|workers| table += &format!(" {workers} workers |"));
    table += " bound |\n|---|";
    table += &"---:|".repeat(WORKERS.len());
    table += "\n";
    for UpperBound { algorithm, iterations, bound, .. } in bounds {
        table += &format!("| {algorithm} |");
        for iterations in iterations {
            table += &iterations.map_or(" – |".to_owned(), |iterations| format!(" {iterations:.0} |"));
        }
        table += &bound.map_or(" – |\n".to_owned(), |bound| format!(" {bound} |\n"));
    }
    table + "\n"
}
