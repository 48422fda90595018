//! A closer look at data than planning takes: its characters, and what a sample of its rows says of the problem.

use std::time::Instant;

use hemingway_data::{Characters, Dataset, Part, Together, sample_part, sample_rows};
use serde::{Deserialize, Serialize};

use crate::{Problem, SampledProfile};

/// What a closer look shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CloserLook {
    /// What the data is like.
    pub characters: Characters,
    /// What a sample of its rows says of the problem.
    pub sample: SampledProfile,
    /// What the characters took,
    pub characters_seconds: f64,
    /// and the sample.
    pub sample_seconds: f64,
}

impl CloserLook {
    /// At data that this process has as a whole.
    pub fn at(data: &Dataset, problem: &Problem) -> CloserLook {
        let begun = Instant::now();
        let characters = Characters::of(data);
        let characters_seconds = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let sample = sample_rows(data, SampledProfile::rows_to_sample(&characters), 0);
        let sample = SampledProfile::of(&sample, characters.rows, problem);
        CloserLook { characters, sample, characters_seconds, sample_seconds: begun.elapsed().as_secs_f64() }
    }

    /// At data that several workers have in parts. Everyone calls it; the first of them gets what all see.
    pub fn at_part(
        part: &Part,
        problem: &Problem,
        together: &mut dyn Together,
    ) -> Result<Option<CloserLook>, hemingway_data::Error> {
        let begun = Instant::now();
        let characters = Characters::of_part(part, together)?;
        let characters_seconds = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let sample = sample_part(part, SampledProfile::rows_to_sample(&characters), 0, together)?;
        let first = together.rank() == 0;
        let sample = first.then(|| SampledProfile::of(&sample, characters.rows, problem));
        let sample_seconds = begun.elapsed().as_secs_f64();
        Ok(sample.map(|sample| CloserLook { characters, sample, characters_seconds, sample_seconds }))
    }
}
