//! What `hemingway profile` says of the datasets of a corpus, so that its fit can ask which of it tells rounds.

use std::collections::BTreeSet;

use hemingway_data::{Characters, Dataset, LoadOptions, load};
use hemingway_train::{Loss, Problem, SampledProfile};
use serde::Deserialize;
use serde_json::json;

use crate::generated;

/// What a line of the corpus says of its data.
#[derive(Deserialize)]
struct Line {
    data: String,
    rows: usize,
    nonzeros: usize,
}

/// Writes a line for each dataset of a corpus that can be made again: generated ones by their name, real ones from files.
pub fn write(corpus: &str, files: &[String]) {
    let text = std::fs::read_to_string(corpus).expect("the corpus, unpacked");
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    let wanted: BTreeSet<_> = lines.map(|line| (line.data, line.rows, line.nonzeros)).collect();
    let names: BTreeSet<&String> = wanted.iter().map(|(name, ..)| name).collect();
    for name in names {
        if let Some(data) = made_again(name) {
            line(name, &data);
        }
    }
    for file in files {
        line(&crate::source(file), &load(file, &LoadOptions::default()).expect("a dataset"));
    }
}

/// A generated dataset is called `kind-seed-number`.
fn made_again(name: &str) -> Option<Dataset> {
    let mut parts = name.rsplitn(3, '-');
    let (at, seed, kind) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
    let made = generated::draw(&mut generated::random_of(seed, at));
    (made.kind == kind).then_some(made.data)
}

fn line(name: &str, data: &Dataset) {
    let of = Characters::of(data);
    let problem = Problem::new(Loss::Logistic, 1e-3).expect("positive");
    let sample = hemingway_data::sample_rows(data, SampledProfile::rows_to_sample(&of), 0);
    let sample = SampledProfile::of(&sample, of.rows, &problem);
    let noise = sample.gradients.first().and_then(|at| at.noise_scale);
    let far = of.order.given.last().map_or(0.0, |at| at.distance.mean);
    let row = json!({
        "data": name, "rows": of.rows, "nonzeros": of.nonzeros, "density": of.density, "delta": of.delta, "rho": of.rho.mean,
        "omega": of.row_nonzeros.max, "variance": of.total_variance,
        "squares": of.feature_variances.mean, "c_sim": far, "shuffled": of.order.shuffled.mean,
        "distinct": of.diversity.distinct_share.mean, "longest": of.row_norms.max, "usual": of.row_norms.median,
        "crowding": sample.crowding.get(3).map(|at| at.least), "noise": noise,
        "directions": sample.effective_dimension,
    });
    println!("{row}");
}
