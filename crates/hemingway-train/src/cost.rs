//! What a round costs before it is made: stretches of local work, each ended by a sum over all workers.
//!
//! Every algorithm says in its catalogue entry which phases a round has. The work of a phase comes from the meter that
//! charges the simulated clock, so both agree by construction; what a round decides while it runs (how often a line
//! search tries, how many duals change) is taken at its usual value.

use crate::meter::Meter;
use crate::{DataProfile, Loss, Problem, Work};

/// Local work, and what workers exchange at its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// Of the worker with the most rows.
    pub work: Work,
    /// What ends it.
    pub exchange: Exchange,
    /// How often this happens in a round, on average.
    pub times: f64,
}

/// What workers tell one another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Exchange {
    /// So many numbers are summed over all workers, who all wait for that.
    Sum(usize),
    /// Nothing that anybody waits for: a fast worker does the work of a slow one.
    Nothing,
    /// Messages to so many neighbours, of so many bytes each, and as many from them.
    Neighbours {
        /// How many.
        messages: f64,
        /// How long each.
        bytes: f64,
    },
    /// Each worker by itself asks the servers, and waits for the answer to its own question.
    Servers {
        /// Bytes of the question,
        asked: f64,
        /// and of the answer.
        answered: f64,
        /// How many servers there are.
        servers: f64,
    },
}

impl Phase {
    /// Work that ends with a sum of so many numbers.
    pub(crate) fn once(work: Work, numbers: usize) -> Phase {
        Phase { work, exchange: Exchange::Sum(numbers), times: 1.0 }
    }

    /// Work of everyone for himself.
    pub(crate) fn apart(work: Work) -> Phase {
        Phase { work, exchange: Exchange::Nothing, times: 1.0 }
    }
}

/// One worker's share of a problem, as far as the cost of its rounds depends on it.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// What is minimised.
    pub loss: Loss,
    /// Rows of all workers, n.
    pub total_rows: f64,
    /// How many workers, m.
    pub workers: f64,
    /// Rows of the worker that has most.
    pub rows: f64,
    /// Values stored in them.
    pub values: f64,
    /// Pairs of values of one row, over its rows: what a Hessian is made of.
    pub pairs: f64,
    /// Whether there is a constant term.
    pub bias: bool,
    /// Length of a weight vector.
    pub dimension: usize,
    /// Directions that the penalty leaves free: Σ e/(e + λ) over the eigenvalues of XᵀX/n.
    pub directions: f64,
    /// L/λ: the largest of these eigenvalues over the penalty.
    pub condition: f64,
    /// κ = R²/(λn): the mean squared norm of a row over the penalty of all of them.
    pub curvature: f64,
    /// Local work of a round in passes over the worker's rows.
    pub passes: f64,
    meter: Meter,
}

impl Share {
    /// Of one of so many workers.
    pub fn new(data: &DataProfile, problem: &Problem, workers: usize, passes: f64) -> Share {
        let (total_rows, workers) = (data.rows.max(1) as f64, workers.max(1) as f64);
        let rows = (total_rows / workers).ceil();
        Share {
            loss: problem.loss,
            total_rows,
            workers,
            rows,
            values: data.stored() * rows / total_rows,
            pairs: data.pairs() * rows / total_rows,
            bias: problem.bias,
            dimension: data.features + usize::from(problem.bias),
            directions: data.effective_dimension(problem.lambda),
            condition: data.largest_eigenvalue() / problem.lambda,
            curvature: data.mean_squared_norm / (problem.lambda * total_rows),
            passes,
            meter: Meter::new(!data.is_dense(), data.features, problem.loss),
        }
    }

    /// Predictions of all rows, or a sum over them.
    pub(crate) fn half_pass(&self) -> Work {
        self.meter.values(self.values) + self.meter.rows(self.rows)
    }

    /// How many features so many rows have between them, if values fall on features evenly.
    pub(crate) fn features_of(&self, rows: f64) -> f64 {
        let features = self.dimension as f64;
        let per_row = (self.values / self.rows).min(features);
        features * (1.0 - (1.0 - per_row / features.max(1.0)).powf(rows))
    }

    /// A product with the Hessian: predictions of all rows, and a sum over them.
    pub(crate) fn products(&self) -> Work {
        2.0 * self.half_pass()
    }

    /// Squares of all values.
    pub(crate) fn squares(&self) -> Work {
        self.meter.values(self.values)
    }

    /// Losses of all rows.
    pub(crate) fn losses(&self) -> Work {
        self.meter.losses(self.rows)
    }

    /// A step on each of so many rows, whose values are read so many times.
    pub(crate) fn steps(&self, rows: f64, reads: f64) -> Work {
        let per_row = self.values / self.rows;
        self.meter.values(reads * per_row * rows) + self.meter.visits(rows)
    }

    /// The values of so many rows, each read once.
    pub(crate) fn values_of(&self, rows: f64) -> Work {
        self.meter.values(self.values / self.rows * rows)
    }

    /// All weights, each read once.
    pub(crate) fn weights(&self) -> Work {
        self.meter.values(self.dimension as f64)
    }

    /// Σ x_i x_iᵀ.
    pub(crate) fn outer_products(&self) -> Work {
        self.meter.values(self.pairs)
    }
}
