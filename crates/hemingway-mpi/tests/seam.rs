//! What the seam between algorithms and MPI costs. A program of its own: other tests at the same time would take cores away.

mod cluster;

use std::collections::BTreeMap;

use hemingway_train::protocol::Message;

#[test]
fn a_sum_through_the_seam_costs_no_more_than_a_bare_one() {
    // The machine is noisy, and noise only ever adds: of each length and each way the quickest counts, as soon as it is
    // quick enough.
    let mut quickest: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
    for _ in 0..40 {
        let output = cluster::mpirun(2).arg("--measure").output().unwrap();
        let said = cluster::text(&output.stdout);
        let last = said.lines().last().map(serde_json::from_str);
        let Some(Ok(Message::Measured(measured))) = last else { panic!("{said}") };
        for sum in measured.sums.into_iter().filter(|sum| sum.numbers >= 65_536) {
            let least = quickest.entry(sum.numbers).or_insert([f64::INFINITY; 2]);
            least.iter_mut().zip(sum.quickest).for_each(|(least, seconds)| *least = least.min(seconds));
        }
        if quickest.values().all(|[seam, bare]| *seam <= 1.1 * bare) {
            return;
        }
    }
    panic!("more than 1.1 times the bare call: {quickest:?}");
}
