//! One file per command: arguments in, one library call, text out.

pub mod algorithms;
pub mod calibrate;
pub mod completions;
pub mod explain;
pub mod fit;
pub mod man;
pub mod measure;
pub mod plot;
pub mod predict;
pub mod profile;
pub mod reproduce;
pub mod runs;
pub mod show;
pub mod train;
pub mod tune;
