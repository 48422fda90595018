//! What a run shows of itself: points while it goes, a summary at the end.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{Model, Seconds, Stop};

/// One scored round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Rounds finished.
    pub round: u64,
    /// What training has taken until then.
    #[serde(flatten)]
    pub effort: Effort,
    /// Training clock: scoring does not count, virtual on the simulated engine.
    pub seconds: Seconds,
    /// Time the user has waited since the run began, scoring included.
    pub wall_seconds: Seconds,
    /// P at the weights of this very round.
    #[serde(deserialize_with = "or_infinity")]
    pub current: f64,
    /// The lowest P seen so far: the model the run would return now.
    #[serde(deserialize_with = "or_infinity")]
    pub primal: f64,
    /// The highest lower bound on P* proved so far.
    pub dual: f64,
    /// Proved bound on (P − P*)/P*; see [`Certificate`](crate::Certificate).
    #[serde(deserialize_with = "or_infinity")]
    pub certified_error: f64,
}

/// What training has taken, on the axes on which methods are compared.
///
/// In JSON what is not known is null or left out.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default = "Effort::unknown")]
pub struct Effort {
    /// Iterations as the method's authors count them: rounds, or the steps that changed what workers share. 0 after some
    /// rounds: not known.
    pub iterations: u64,
    /// Visits to rows by all workers, over the rows there are. Predictions alone count half. NaN: not known.
    #[serde(deserialize_with = "or_unknown")]
    pub epochs: f64,
    /// Bytes that a worker has sent, on average. NaN: not known.
    #[serde(deserialize_with = "or_unknown")]
    pub bytes_per_worker: f64,
}

impl Effort {
    /// Of what was recorded without it.
    pub fn unknown() -> Effort {
        Effort { iterations: 0, epochs: f64::NAN, bytes_per_worker: f64::NAN }
    }
}

/// What is not known of both is the same.
impl PartialEq for Effort {
    fn eq(&self, other: &Effort) -> bool {
        let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        self.iterations == other.iterations
            && same(self.epochs, other.epochs)
            && same(self.bytes_per_worker, other.bytes_per_worker)
    }
}

/// A finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Why it ended.
    pub stop: Stop,
    /// Rounds finished.
    pub rounds: u64,
    /// What training has taken.
    #[serde(flatten)]
    pub effort: Effort,
    /// Training clock.
    pub seconds: Seconds,
    /// What the user waited, from loaded data to finished model.
    pub wall_seconds: Seconds,
    /// The part of `wall_seconds` that went into scoring.
    pub scoring_seconds: Seconds,
    /// P of the returned model.
    #[serde(deserialize_with = "or_infinity")]
    pub primal: f64,
    /// Lower bound on P*.
    pub dual: f64,
    /// Proved bound on the relative error of the returned model.
    #[serde(deserialize_with = "or_infinity")]
    pub certified_error: f64,
    /// Whether the error is relative to P(0), because no positive lower bound is known.
    pub relative_to_start: bool,
    /// The training clock when the first round began.
    #[serde(default)]
    pub set_up: Seconds,
    /// The first step size, given or found while setting up, for methods that take one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_size: Option<f64>,
    /// The best weights seen, with the duals of the best lower bound where there are any.
    pub model: Model,
}

/// JSON has no infinities: they are written as null.
fn or_infinity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

/// What is not known is written as null.
fn or_unknown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_without_effort_can_be_read() {
        let old = r#"{"round":3,"seconds":1.0,"wall_seconds":1.0,"current":0.5,"primal":0.5,"dual":0.25,"certified_error":1.0}"#;
        let point: Point = serde_json::from_str(old).unwrap();
        assert_eq!(point.effort, Effort::unknown());
        let json = serde_json::to_string(&point).unwrap();
        assert!(json.contains(r#""iterations":0,"epochs":null,"bytes_per_worker":null"#), "{json}");
        assert_eq!(serde_json::from_str::<Point>(&json).unwrap(), point);
        let effort = Effort { iterations: 7, epochs: 1.5, bytes_per_worker: 800.0 };
        let json = serde_json::to_string(&Point { effort, ..point }).unwrap();
        assert_eq!(serde_json::from_str::<Point>(&json).unwrap().effort, effort);
    }
}
