//! Training for Hemingway: losses, certificates, algorithms and engines.

mod aggregation;
mod algorithm;
mod algorithms;
mod certificate;
mod checkpoint;
mod closer_look;
mod cost;
mod drive;
mod elementary;
mod engines;
mod error;
mod footprint;
mod gap_estimate;
mod held_out;
mod hessian;
mod job;
#[doc(hidden)]
pub mod kernels;
mod local;
#[doc(hidden)]
pub mod loss;
mod meter;
mod model;
mod predict;
mod problem;
mod profile;
pub mod protocol;
mod quality;
mod recent;
mod round_lengths;
mod sampled_profile;
mod schedule;
mod score;
mod sdca;
mod stop;
mod stopwatch;
mod suggest;
mod topology;
mod trace;
mod transport;
mod units;
mod visit_order;
mod warm_start;
mod worker;

pub use algorithm::{Algorithm, Estimate, Needs, Parameters, Solver};
pub use algorithms::{
    About, AccDadm, AsyncSgd, Cocoa, CocoaPlus, DPsgd, Dadm, DcdPsgd, EcdPsgd, Entry, Family, Floor,
    GradientDescent, Hogwild, Lbfgs, LocalSgd, MinibatchSgd, Newton, NewtonCg, OneShotSgd, Passcode, Splash,
    Svrg, TakeOver, algorithm, aliases, canonical, catalogue, check_unnamed, entry, named, stands_for,
};
pub use certificate::Certificate;
pub use checkpoint::Checkpoint;
pub use closer_look::CloserLook;
pub use cost::{Exchange, Phase, Share};
pub use drive::drive;
pub use engines::{
    Change, Cluster, Collective, Jitter, Journal, Machine, MachineType, MeasuredSums, Network, SharedMemory,
    Simulated, Stragglers, Threads, ThreadsOn, calibrate, calibrate_among_others, check_offers, engines,
    engines_for, offers,
};
pub use error::Error;
pub use footprint::{Extent, Footprint, Leaves, Vectors, data_bytes};
pub use held_out::{HeldOut, Mean};
pub use job::{Engine, Event, HandOver, Job, Scoring, Start};
pub use local::Local;
pub use loss::{LOSSES, Loss};
pub use model::Model;
pub use predict::predict;
pub use problem::Problem;
pub use profile::DataProfile;
pub use quality::{Quality, Ranking};
pub use sampled_profile::{Crowded, GradientNoise, SampledProfile};
pub use score::TRY_OTHER;
pub use stop::{Stop, StopRules};
pub use stopwatch::Stopwatch;
pub use topology::{Mixing, Topology};
pub use trace::{Effort, Point, Run};
pub use transport::{Request, Transport};
pub use units::{Seconds, Work};
pub use warm_start::warm_start;
pub use worker::{Rng, Worker};
