//! Loads for given workers, so that the last of them is done as early as possible. Whole numbers, exactly.

use super::cluster::Job;
use super::costs::Costs;

/// The loads of these machines' devices; nothing if the batch does not fit into their memory.
pub(super) fn balance(
    job: &Job,
    costs: &Costs,
    workers: &[usize],
    within: (f64, f64),
) -> Option<Vec<Vec<u64>>> {
    let whole = |seconds: f64| -> Vec<Vec<u64>> {
        workers.iter().map(|machine| costs.whole_loads(job, *machine, seconds)).collect()
    };
    let total = |loads: &[Vec<u64>]| loads.iter().flatten().sum::<u64>();
    let (mut low, mut high) = within;
    while total(&whole(high)) < job.batch {
        if high > 1e6 * within.1 {
            return None;
        }
        (low, high) = (high, 2.0 * high);
    }
    while high / low > 1.0 + 1e-7 {
        let middle = (low * high).sqrt();
        if total(&whole(middle)) < job.batch { low = middle } else { high = middle }
    }
    let mut loads = whole(high);
    trim(job, costs, workers, &mut loads);
    Some(loads)
}

/// Takes away what is too much, from those who take longest.
fn trim(job: &Job, costs: &Costs, workers: &[usize], loads: &mut [Vec<u64>]) {
    let mut excess = loads.iter().flatten().sum::<u64>() - job.batch;
    while excess > 0 {
        let seconds = |(place, device): (usize, usize)| {
            let (machine, load) = (workers[place], loads[place][device]);
            costs.curves[job.cluster.machines[machine].kind][device].seconds(load as f64)
                * costs.factors[machine][device]
        };
        let busy =
            (0..loads.len()).flat_map(|place| (0..loads[place].len()).map(move |device| (place, device)));
        let busy = busy.filter(|(place, device)| loads[*place][*device] > 0);
        let Some((place, device)) = busy.max_by(|a, b| seconds(*a).total_cmp(&seconds(*b))) else { return };
        let less = (excess / 64).max(1).min(loads[place][device]);
        loads[place][device] -= less;
        excess -= less;
    }
}
