//! PASSCoDe: dual coordinate ascent by all cores at once, without rounds and without locks.
//!
//! Every worker visits its own rows like plain SDCA and sees what the others change before each visit. None of the changes
//! is lost, so the weights stay those of the duals up to rounding, and the certificate is that of SDCA. The authors let
//! all cores write to the same weights; but then every line of them travels from core to core at each update. Here each
//! worker has weights of its own in its own cache and makes the changes of the others, which it reads from a journal of
//! rows and step lengths ([`Journal`](crate::Journal)): the method is the same, a visit that changes nothing disturbs nobody.
//!
//! While a worker is at a visit, each of the others is at one too. Where rows are alike, all of them would make the same
//! step at once, so a row is taken for about 1 + (m − 1)ρ times as curved as it is, with ρ = L/R²: the largest eigenvalue of
//! XᵀX/n over the mean squared norm of a row is 1 if all rows point in one direction, and near 0 if they share nothing.
//!
//! Hsieh, Yu, Dhillon, PASSCoDe: parallel asynchronous stochastic dual co-ordinate descent, 2015.

use super::local_dual;
use super::{About, Entry, Family, Floor, TakeOver, suits_all};
use crate::aggregation::Aggregation;
use crate::engines::JOURNAL;
use crate::footprint::{Leaves, Vectors};
use crate::kernels::{Rows, with_rows};
use crate::local::dot;
use crate::sdca::{Sdca, Told};
use crate::{Algorithm, Error, Estimate, Model, Needs, Phase, Share, Solver, Work, Worker};

/// PASSCoDe has no hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Passcode;

pub(super) static ENTRY: Entry = Entry {
    name: "passcode",
    summary: "asynchronous dual coordinate ascent by the cores of one machine",
    reference: "Hsieh et al. 2015",
    about: About {
        idea: "Every worker visits its own rows as SDCA does and has the changes of all others on its weights before each \
            visit, without rounds and without waiting. Rows that are alike are visited more cautiously, because all \
            workers step at the same moment. No change is lost, and the proof is that of SDCA.",
        suits: "Any loss, on the cores of one machine. Best on the hinge late in a run, when most visits change nothing, and \
            on sparse rows that share few features.",
        round: "As many visits of all workers together as there are rows. Nothing is sent; a fast worker makes more of \
            the visits.",
        counts: "rounds",
        defaults: &[],
        floor: Floor::None,
    },
    parameters: &[],
    vectors: Vectors {
        weights: 4.0,
        rows: 6.0,
        saved_weights: 1.0,
        saved_rows: 2.0,
        changes: JOURNAL,
        leaves: Leaves::Duals,
        ..Vectors::NONE
    },
    family: Family::Dual,
    depends_on_workers: true,
    alone: Some("cocoa"),
    settles_alone: true,
    late: false,
    on_cores: 1.46,
    takes_over: |_| TakeOver::After { rounds: 0.5 },
    unsuited: suits_all,
    set_up,
    round,
    build: |_| Box::new(Passcode),
};

impl Algorithm for Passcode {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn needs(&self) -> Needs {
        Needs::SharedMemory
    }

    fn starts_from_duals(&self) -> bool {
        true
    }

    fn start(
        &self,
        worker: &mut Worker,
        from: &Model,
        saved: Option<&[f64]>,
    ) -> Result<Box<dyn Solver>, Error> {
        let (duals, weights) = local_dual::begin(worker, from, saved)?;
        let mut sdca = Sdca::new(worker, duals, weights, Aggregation::Adding)?.at_once(worker);
        if let Some(saved) = saved.filter(|saved| !saved.is_empty()) {
            sdca.restore(saved)?;
        }
        let [scale, bias_scale] = sdca.scales(worker);
        let alike = alikeness(worker, bias_scale / scale)?;
        let sigma = (BOLDNESS * (1.0 + (worker.size() - 1) as f64 * alike)).max(1.0);
        let mine = sdca.sum_of_duals();
        let moved = worker.sum_of(mine)? * scale;
        let told = Told::new(worker.journal()?, worker.rank(), sigma, moved);
        let weights = sdca.weights().to_vec();
        Ok(Box::new(AtOnce { sdca, told, weights, rounds: 0 }))
    }
}

/// ρ = L/R² of a sample of rows, by power iteration; it is 0 on one worker, where it does not matter. All rows have the
/// bias in common: a further value, of this square.
fn alikeness(worker: &mut Worker, constant: f64) -> Result<f64, Error> {
    if worker.size() == 1 {
        return Ok(0.0);
    }
    let (matrix, range) = worker.local.matrix();
    let sample = range.len().min(SAMPLE.div_ceil(worker.size()));
    let rows = || (0..sample).map(|at| range.start + at * range.len() / sample);
    let stored: usize = with_rows!(matrix, matrix => rows().map(|row| matrix.length(row)).sum());
    let mut direction = vec![1.0; worker.local.features() + 1];
    let mut ratio = 0.0;
    for _ in 0..STEPS {
        let mut next = vec![0.0; direction.len() + 1];
        let (image, sums) = next.split_at_mut(direction.len() - 1);
        let (towards, bias) = direction.split_at(image.len());
        with_rows!(matrix, matrix => for row in rows() {
            let weight = worker.local.weight(row - range.start);
            let along = weight * (matrix.dot::<false>(row, towards) + constant.sqrt() * bias[0]);
            matrix.add::<false>(row, along, image);
            sums[0] += constant.sqrt() * along;
            sums[1] += weight * (matrix.squared_norm(row) + constant);
        });
        worker.local.meter(3.0 * stored as f64);
        worker.sum(&mut next)?;
        let squares = next.pop().unwrap_or(0.0);
        let norm = dot(&direction, &direction).sqrt();
        let image_norm = dot(&next, &next).sqrt();
        ratio = image_norm / (norm * squares).max(f64::MIN_POSITIVE);
        next.iter_mut().for_each(|value| *value /= image_norm.max(f64::MIN_POSITIVE));
        direction = next;
    }
    Ok(ratio.min(1.0))
}

/// What steps are kept to of those that would be too long if all workers always stepped at the same moment. At a half they
/// can be twice as long as is best, where an exact step gains nothing.
const BOLDNESS: f64 = 2.0 / 3.0;
/// Rows of all workers that are looked at,
const SAMPLE: usize = 1000;
/// so often.
const STEPS: usize = 4;

/// A few passes over a sample of the rows, where there are others.
fn set_up(share: &Share) -> Vec<Phase> {
    let mut phases = local_dual::set_up(share);
    if share.workers > 1.0 {
        let sample = share.rows.min((SAMPLE as f64 / share.workers).ceil());
        let look = Phase::once(3.0 * share.values_of(sample), share.dimension + 1);
        phases.extend([look; STEPS]);
        phases.push(Phase::once(Work::default(), 1));
    }
    phases
}

/// A pass over all rows, which all workers make together, and the changes of the others, which each makes on its weights.
fn round(share: &Share) -> Vec<Phase> {
    let others = share.rows * (share.workers - 1.0);
    let changes = local_dual::changed(share) * share.values_of(others);
    vec![Phase::apart(share.steps(share.rows, 1.0 + local_dual::changed(share)) + changes)]
}

/// Coordinate ascent at once with others.
struct AtOnce {
    sdca: Sdca,
    told: Told,
    /// The weights at the last score, the same on every worker: those of the first one, whose sums were rounded in the
    /// order in which it heard of changes.
    weights: Vec<f64>,
    rounds: u64,
}

impl Solver for AtOnce {
    /// As many visits of all workers together as there are rows.
    fn round(&mut self, worker: &mut Worker) -> Result<(), Error> {
        if worker.size() == 1 {
            return self.sdca.round(worker, worker.local.rows());
        }
        self.rounds += 1;
        let until = self.rounds * worker.local.total_rows as u64;
        while let Some(steps) = worker.turn(until)? {
            self.sdca.release(worker, &mut self.told);
            let made = self.sdca.visit_together(worker, &mut self.told, steps);
            worker.made(made);
        }
        self.sdca.catch_up_if_far_behind(worker, &mut self.told);
        if worker.rank() == 0 {
            self.sdca.move_centre_of_all(worker, &mut self.told);
        }
        self.sdca.count_round();
        Ok(())
    }

    /// Everyone has left the round, so that there is nothing more to hear of.
    fn bring_together(&mut self, worker: &mut Worker) -> Result<(), Error> {
        self.sdca.look(worker, &self.told, &mut self.weights);
        worker.broadcast(0, &mut self.weights)?;
        worker.broadcast(0, self.sdca.average())
    }

    fn estimate_together(&mut self, worker: &mut Worker) -> Result<(), Error> {
        if worker.size() > 1 { self.sdca.estimate_together(worker) } else { Ok(()) }
    }

    fn estimate(&self) -> Option<Estimate> {
        self.sdca.estimate()
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn proposal(&self) -> &[f64] {
        self.sdca.average_of_recent().unwrap_or(&self.weights)
    }

    fn duals(&self) -> Option<Vec<f64>> {
        Some(self.sdca.duals())
    }

    fn save(&self) -> Vec<f64> {
        self.sdca.save()
    }
}
