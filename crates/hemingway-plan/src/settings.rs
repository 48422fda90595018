//! Every constant of the planner that was not derived. What happens at half and at twice its value is in
//! `docs/decisions/012-planner-constants.md`, with the command that repeats it.

use serde::{Deserialize, Serialize};

/// What the planner trades off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The share of the time left that a change of plan has to gain. Less changes plans on noise, more keeps to slow ones.
    pub switch_gain: f64,
    /// How much a stage's own recent pace counts beside the prior, at its end; in between in proportion to the way made.
    pub pace_weight: f64,
    /// However overdue a stage is, at least this share of what the prior says of the errors left is still to come.
    pub least_left: f64,
    /// A stage is overdue when it has not come this share of a decade further in the time that was predicted for it.
    pub level: f64,
    /// Plans of two stages hand over at one of these errors, in decades below 1.
    pub hand_overs: [f64; 3],
    /// The standard deviation of ln rounds between runs of one problem that differ by their random seed.
    pub repeat: f64,
    /// The same between datasets that only look alike.
    pub similar: f64,
    /// The standard deviation of ln seconds per round that all configurations share, that those of an algorithm share, and
    /// that each has for itself: on a virtual clock,
    pub virtual_pace: [f64; 3],
    /// and on real machines.
    pub real_pace: [f64; 3],
    /// What comes to the second of these, on real machines, where workers share memory: they stand still while another program
    /// has one of their cores.
    pub real_sharing: f64,
    /// The standard deviation of ln seconds of a single round beside what stragglers do; that of a mean over rounds is less.
    pub one_round: f64,
    /// The standard deviation of ln seconds per round between runs of one configuration on real machines.
    pub real_repeat: f64,
    /// What each factor of e outside of the fitted runs adds to the standard deviation of ln rounds.
    pub unseen: f64,
    /// A deadline or a budget has to be kept with this probability.
    pub sure: f64,
    /// On real machines nothing is changed before this many seconds.
    pub earliest: f64,
    /// The share of the predicted time that a pilot, or fitting models to earlier runs, may take.
    pub preparation: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            switch_gain: 0.3,
            pace_weight: 0.5,
            least_left: 0.5,
            level: 0.25,
            hand_overs: [1.0, 2.0, 3.0],
            repeat: 0.1,
            similar: 0.5,
            virtual_pace: [0.0, 0.09, 0.04],
            real_pace: [0.5, 0.25, 0.15],
            real_sharing: 1.0,
            one_round: 0.2,
            real_repeat: 0.1,
            unseen: 0.2,
            sure: 0.9,
            earliest: 0.05,
            preparation: 0.02,
        }
    }
}
