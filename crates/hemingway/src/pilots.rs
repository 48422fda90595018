//! Pilots before a run: on a sample of the rows, on the engine and the clock of the run.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hemingway_data::Dataset;
use hemingway_plan::{PastScore, PastStage, Pilot};
use hemingway_train::{Engine, Event, Job, Point, Seconds, Start, StopRules};
use serde::{Deserialize, Serialize};

use crate::adaptive::error_of;
use crate::default_choice::SIMULATED;
use crate::inputs::PlanInputs;
use crate::{Choice, Error};

/// What pilots are made with.
#[derive(Clone, Copy)]
pub(crate) struct PilotSetup<'a> {
    pub engine: &'a dyn Engine,
    pub data: &'a Dataset,
    /// Set it, and pilots end.
    pub interrupt: &'a AtomicBool,
}

/// A pilot that was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MadePilot {
    /// What was tried, on one worker.
    pub algorithm: String,
    /// On how many rows.
    pub rows: usize,
    /// Rounds that it made,
    pub rounds: u64,
    /// the certified error that it came to,
    pub error: f64,
    /// and what it took.
    pub seconds: f64,
}

impl PilotSetup<'_> {
    /// Makes a pilot: what it says of the run, and what it was.
    pub fn make(&self, pilot: &Pilot, inputs: &PlanInputs) -> Result<(PastStage, MadePilot), Error> {
        let begun = Instant::now();
        let sample = self.data.sample(pilot.fraction, inputs.request.seed);
        let mut choice: Choice = inputs.choice.clone();
        choice.use_configuration(
            &pilot.configuration,
            sample.matrix.rows(),
            inputs.request.parameters.clone(),
        );
        let algorithm = hemingway_train::algorithm(&choice.algorithm, &choice.parameters)?;
        let job = Job {
            problem: inputs.profile.problem(),
            algorithm: algorithm.as_ref(),
            workers: 1,
            seed: inputs.request.seed,
            stop: StopRules {
                error: Some(pilot.error),
                within: Some(Seconds(pilot.worth)),
                ..StopRules::default()
            },
            scoring: choice.scoring,
            start: Start::Zero,
            checkpoint_every: None,
            interrupt: Some(self.interrupt),
            hand_over: None,
        };
        let mut points: Vec<Point> = Vec::new();
        let run = self.engine.run(&sample, &job, &mut |event| {
            if let Event::Point(point) = event {
                points.push(*point);
            }
            Ok(())
        })?;
        // On a real clock sampling and scoring count too.
        let real_clock = inputs.choice.engine != SIMULATED;
        let seconds = if real_clock { begun.elapsed().as_secs_f64() } else { run.seconds.0 };
        let scores = points.iter().filter(|point| point.round > 0 && point.certified_error.is_finite());
        let score = |point: &Point| PastScore {
            rounds: point.round as f64,
            seconds: point.seconds.0,
            error: error_of(point),
        };
        let made = MadePilot {
            algorithm: choice.algorithm,
            rows: sample.matrix.rows(),
            rounds: run.rounds,
            error: run.certified_error,
            seconds,
        };
        Ok((pilot.stage(scores.map(score)), made))
    }
}
