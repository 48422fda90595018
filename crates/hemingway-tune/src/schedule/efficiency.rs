//! How much a batch is worth: what counts is the time to a loss, not inputs per second.
//!
//! With batch B the number of iterations to a loss is in proportion to 1 + N/B, where N, the gradient noise scale, is the batch
//! at which the noise of a gradient is as large as the gradient (McCandlish and others, 2018). So the seconds of an iteration times
//! that are what is minimised. Where the batch is given the factor is the same for all schedules.

use super::answer::Answer;
use crate::random::{normal, stream};

/// What is known of the gradient noise scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Efficiency {
    /// ln N and its standard deviation; nothing if it was neither given nor measured.
    log: Option<(f64, f64)>,
    seed: u64,
}

/// How far apart measurements of ln N are, where there are too few to tell.
const SPREAD: f64 = 0.3;

impl Efficiency {
    /// From what the job file says, or else from what was measured.
    pub(super) fn new<'a>(
        given: Option<f64>,
        answers: impl Iterator<Item = &'a Answer>,
        seed: u64,
    ) -> Efficiency {
        let measured: Vec<f64> = answers
            .filter_map(|answer| answer.gradient_noise_scale)
            .filter(|scale| scale.is_finite() && *scale > 0.0)
            .map(f64::ln)
            .collect();
        let count = measured.len() as f64;
        let mean = measured.iter().sum::<f64>() / count;
        let variance = measured.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        // One measurement of the usual spread counts beside those that were made.
        let deviation = ((variance + SPREAD.powi(2)) / count).sqrt() / count.sqrt();
        let log = match given {
            Some(scale) => Some((scale.ln(), 0.0)),
            None => (count > 0.0).then_some((mean, deviation)),
        };
        Efficiency { log, seed }
    }

    /// The noise scale, if it is known.
    pub fn noise_scale(&self) -> Option<f64> {
        self.log.map(|(mean, _)| mean.exp())
    }

    /// Iterations to a loss with this batch, relative to those with an endless one.
    pub fn iterations(&self, batch: u64) -> f64 {
        1.0 + self.noise_scale().unwrap_or(0.0) / batch as f64
    }

    /// The same as it may be; the same number gives the same draw.
    pub(super) fn draw(&self, batch: u64, number: usize) -> f64 {
        let Some((mean, deviation)) = self.log else { return 1.0 };
        let off = deviation * normal(&mut stream(self.seed, "noise scale", number as u64));
        1.0 + (mean + off).exp() / batch as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_follow_the_noise_scale() {
        let answers = [900.0, 1000.0, 1111.0]
            .map(|scale| Answer { gradient_noise_scale: Some(scale), ..Answer::default() });
        let learnt = Efficiency::new(None, answers.iter(), 1);
        assert!((learnt.noise_scale().unwrap() - 1000.0).abs() < 1.0);
        assert!((learnt.iterations(1000) - 2.0).abs() < 0.01);
        let draws: Vec<f64> = (0..200).map(|number| learnt.draw(1000, number)).collect();
        assert!(draws.iter().all(|draw| (1.3..3.0).contains(draw)), "{draws:?}");
        assert_eq!(Efficiency::new(None, [].iter(), 1).draw(10, 3), 1.0, "nothing is known");
    }
}
