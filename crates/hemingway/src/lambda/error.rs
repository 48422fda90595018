//! What can be wrong with choosing λ.

use std::path::PathBuf;

/// Why λ cannot be chosen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LambdaError {
    /// A grid that makes no sense.
    #[error("--lambda {text}: {problem}")]
    Grid {
        /// As written.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Fewer folds than it takes to hold one out.
    #[error("--folds {0} leaves nothing to train on: there have to be at least 2")]
    Folds(usize),
    /// A class that not every fold can have a row of.
    #[error("class `{class}` has {rows} rows, fewer than the {folds} folds")]
    FewRows {
        /// The class, as the data names it.
        class: String,
        /// Its rows.
        rows: usize,
        /// The folds.
        folds: usize,
    },
    /// Fewer rows than folds.
    #[error("the data has {rows} rows, fewer than the {folds} folds")]
    FewRowsAtAll {
        /// The rows.
        rows: usize,
        /// The folds.
        folds: usize,
    },
    /// A file of folds that does not fit.
    #[error("{}: {problem}", .file.display())]
    FoldFile {
        /// Where it is.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Data that is not in this process.
    #[error("λ is chosen on the cores of this machine, not on the {engine} engine")]
    Engine {
        /// The engine that was asked for.
        engine: String,
    },
    /// Classes where there are none.
    #[error("--select accuracy needs classes, and the targets are numbers")]
    NoClasses,
    /// Validation data without labels.
    #[error("the validation data {spec} has no labels")]
    Unlabelled {
        /// What was given.
        spec: String,
    },
    /// A chart in no known format.
    #[error("--path-plot {}: a chart is a PNG or an SVG", .file.display())]
    Plot {
        /// Where it was to go.
        file: PathBuf,
    },
    /// No model has a score.
    #[error("no λ from {from:e} to {to:e} gives a model with a finite score")]
    NoScore {
        /// The largest.
        from: f64,
        /// The smallest.
        to: f64,
    },
    /// The user interrupted.
    #[error("interrupted while λ was being chosen; nothing was saved")]
    Interrupted,
}

impl LambdaError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            LambdaError::Grid { .. } => Some(
                "write it like --lambda auto, --lambda auto,points=20,from=1,to=1e-6 or --lambda 1e-2,1e-3,1e-4",
            ),
            LambdaError::Folds(_) => Some("--validation DATA tries each λ on data of its own instead"),
            LambdaError::FewRows { .. } | LambdaError::FewRowsAtAll { .. } => {
                Some("use fewer --folds, or --validation DATA")
            }
            LambdaError::FoldFile { .. } => {
                Some("it has a line for each row of the data, with the number or the name of its fold")
            }
            LambdaError::Engine { .. } => Some(
                "choose it with the threads engine, of large data on a share of the rows with --fraction, then give --lambda NUMBER",
            ),
            LambdaError::NoClasses => {
                Some("leave out --select: it is then the root of the mean squared error")
            }
            LambdaError::Plot { .. } => Some("give it a name that ends in .png or .svg"),
            LambdaError::NoScore { .. } => Some("--standardise brings columns to one scale"),
            LambdaError::Unlabelled { .. } | LambdaError::Interrupted => None,
        }
    }
}
