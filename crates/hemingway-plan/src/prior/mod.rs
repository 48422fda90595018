//! What a planner knows before anything has run.

mod glance;

pub use glance::Glance;
