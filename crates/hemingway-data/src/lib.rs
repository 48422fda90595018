//! Data for Hemingway: matrices, readers for common formats, generated data and the embedded dataset.

mod dataset;
mod matrix;

pub use dataset::{Dataset, Labels};
pub use matrix::{Dense, Matrix, Sparse};
