//! One file per command: arguments in, one library call, text out.

pub mod algorithms;
pub mod calibrate;
pub mod completions;
pub mod evaluate;
pub mod explain;
pub mod export;
pub mod fit;
pub mod man;
pub mod measure;
pub mod platt;
pub mod plot;
pub mod predict;
pub mod profile;
pub mod reproduce;
pub mod runs;
pub mod show;
pub mod train;
pub mod tune;
