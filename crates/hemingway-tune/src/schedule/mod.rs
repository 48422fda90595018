//! Schedules of distributed SGD with parameter servers: who computes, who serves parameters, how much each device gets.
//!
//! `cluster` says what there is, `configuration` what is chosen, `answer` what was measured of it. `sgd` is the probabilistic
//! model, `search` finds the best schedule where costs are known, `acquisition` which one to try next, `limits` what does not
//! fit into memory, and `tuner` puts it all together: ask for a schedule, tell how it went.

mod acquisition;
mod answer;
mod balance;
mod cluster;
mod configuration;
mod costs;
mod efficiency;
mod limits;
mod registry;
mod report;
mod search;
mod sgd;
mod thought;
mod tuner;

pub use answer::{Answer, AnswerError, DeviceAnswer, MachineAnswer};
pub use cluster::{Cluster, Device, Job, Kind, Machine};
pub use configuration::{Role, Schedule, ScheduleError};
pub use costs::{Costs, Curve};
pub use efficiency::Efficiency;
pub use limits::Limits;
pub use registry::{Layout, Registry};
pub use report::{Bottleneck, Finding, OneMore, Rates, Straggler};
pub use search::{best, transfers};
pub use sgd::{Placed, Sgd};
pub use thought::Thought;
pub use tuner::{Evaluated, Options, Outcome, Proposal, Tuner};
