//! Characters beside what a plain, slow reference finds; parts beside the whole; and data at the edges.

use std::sync::{Arc, Barrier, Mutex};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::{Dense, Labels, LoadOptions, Matrix, Sparse, load, load_part, shard};

fn classes() -> Labels {
    Labels::Classes { negative: "no".into(), positive: "yes".into() }
}

fn dense(rows: &[Vec<f32>], targets: Vec<f32>, labels: Labels) -> Dataset {
    let columns = rows.first().map_or(0, Vec::len);
    Dataset::new("", Matrix::Dense(Dense::new(rows.len(), columns, rows.concat())), targets, labels)
}

fn sparse(rows: &[Vec<f32>], targets: Vec<f32>, labels: Labels) -> Dataset {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        for (index, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            indices.push(index as u32);
            values.push(*value);
        }
        offsets.push(indices.len());
    }
    let columns = rows.first().map_or(0, Vec::len);
    Dataset::new("", Matrix::Sparse(Sparse::new(columns, offsets, indices, values)), targets, labels)
}

fn alternating(rows: usize) -> Vec<f32> {
    (0..rows).map(|row| if (row * 7 + row / 3) % 3 == 0 { 1.0 } else { -1.0 }).collect()
}

/// ‖x − y‖₀.
fn differences(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).filter(|(a, b)| a != b).count() as f64
}

/// Equation 3, word for word.
fn c_sim(rows: &[Vec<f32>], range: usize) -> f64 {
    let n = rows.len();
    let of =
        |i: usize| (1..=range).map(|j| differences(&rows[i], &rows[(i + j) % n])).sum::<f64>() / range as f64;
    (0..n).map(of).sum::<f64>() / n as f64
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

#[test]
fn the_example_of_the_paper_by_its_own_equation() {
    let row = |bits: [u8; 3]| bits.map(f32::from).to_vec();
    let first = [[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0], [1, 1, 0], [1, 0, 0]].map(row);
    let second = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 1]].map(row);
    for (rows, expected) in [(first, 1.5), (second, 11.0 / 6.0)] {
        assert!(near(c_sim(&rows, 2), expected));
        let all = order::Comparisons::over(6, &[2]);
        let data = dense(&rows, vec![1.0; 6], classes());
        let sampled = Rows::at(all.places(), &View::whole(&data), &mut Alone).unwrap();
        let found = all.order(&sampled, 3).given[0];
        assert_eq!(found.range, 2);
        assert!(found.distance.is_exact() && near(found.distance.mean, expected), "{found:?} for {expected}");
    }
}

/// Everything that is exact, beside the plain reference.
fn check(rows: &[Vec<f32>], targets: &[f32], data: &Dataset) {
    let found = Characters::of(data);
    let (n, d) = (rows.len(), rows[0].len());
    let counts: Vec<f64> =
        rows.iter().map(|row| row.iter().filter(|value| **value != 0.0).count() as f64).collect();
    assert_eq!((found.rows, found.columns, found.nonzeros), (n, d, counts.iter().sum::<f64>() as usize));
    assert_eq!(found.row_nonzeros.max, counts.iter().copied().fold(0.0, f64::max), "Ω");
    let norms = Distribution::of(
        rows.iter()
            .map(|row| row.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt())
            .collect(),
    );
    let same = |a: &Distribution, b: &Distribution, digits: f64| {
        [a.min, a.lower_quartile, a.median, a.upper_quartile, a.max, a.mean]
            .iter()
            .zip([b.min, b.lower_quartile, b.median, b.upper_quartile, b.max, b.mean])
            .all(|(a, b)| (a - b).abs() <= digits * a.abs().max(b.abs()).max(1.0))
    };
    // Norms are kept in single precision.
    assert!(same(&found.row_norms, &norms, 1e-7), "{:?} for {norms:?}", found.row_norms);
    let column = |at: usize| rows.iter().map(move |row| f64::from(row[at]));
    let mean = |at: usize| column(at).sum::<f64>() / n as f64;
    let variance = |at: usize| column(at).map(|value| (value - mean(at)).powi(2)).sum::<f64>() / n as f64;
    assert!(same(&found.feature_means, &Distribution::of((0..d).map(mean).collect()), 1e-9));
    assert!(same(&found.feature_variances, &Distribution::of((0..d).map(variance).collect()), 1e-9));
    let occurrences = (0..d).map(|at| column(at).filter(|value| *value != 0.0).count()).max().unwrap();
    assert_eq!(found.delta, occurrences as f64 / n as f64);

    let mut different: Vec<Vec<u32>> =
        rows.iter().map(|row| row.iter().map(|value| (value + 0.0).to_bits()).collect()).collect();
    different.sort();
    different.dedup();
    assert_eq!(found.diversity.distinct_rows, Interval::exact(different.len() as f64));

    // So few rows are all compared.
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect();
    let share = |a: usize, b: usize| rows[a].iter().zip(&rows[b]).any(|(a, b)| *a != 0.0 && *b != 0.0);
    let shared = pairs.iter().filter(|(a, b)| share(*a, *b)).count() as f64 / pairs.len().max(1) as f64;
    assert!(found.rho.is_exact() && near(found.rho.mean, shared), "{:?} for {shared}", found.rho);
    for of in &found.order.given {
        assert!(of.distance.is_exact() && near(of.distance.mean, c_sim(rows, of.range)), "{of:?}");
    }
    let batch = &rows[..found.order.batches.range];
    if batch.len() == n {
        assert!(
            near(found.order.batches.distance.mean, c_sim(batch, n)),
            "the order inside a batch does not count"
        );
    }
    let alike = targets.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
    if let (LabelCharacters::Classes { neighbours_alike, positives, .. }, true) = (&found.labels, n > 1) {
        assert!(near(*neighbours_alike, alike / (n - 1) as f64));
        assert_eq!(*positives, targets.iter().filter(|target| **target > 0.0).count());
    }
    all_numbers(&found);
}

/// JSON has no infinities and writes what is no number as null.
fn all_numbers(found: &Characters) {
    let text = serde_json::to_string(found).unwrap();
    assert!(!text.contains("null"), "{text}");
    assert_eq!(serde_json::from_str::<Characters>(&text).unwrap(), *found);
}

fn small() -> impl Strategy<Value = Vec<Vec<f32>>> {
    let value = prop_oneof![4 => Just(0.0f32), 1 => Just(-0.0f32), 3 => (-3i8..4).prop_map(f32::from), 2 => -1e3f32..1e3];
    (1usize..20).prop_flat_map(move |columns| vec(vec(value.clone(), columns), 1..40))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn as_a_plain_reference_finds_them(rows in small()) {
        let targets = alternating(rows.len());
        check(&rows, &targets, &dense(&rows, targets.clone(), classes()));
        check(&rows, &targets, &sparse(&rows, targets.clone(), classes()));
    }

    #[test]
    fn storage_does_not_count(rows in small()) {
        let targets: Vec<f32> = (0..rows.len()).map(|row| row as f32 * 0.5).collect();
        let [one, other] = [dense, sparse].map(|stored| Characters::of(&stored(&rows, targets.clone(), Labels::Numbers)));
        prop_assert_eq!(one.diversity.distinct_rows, other.diversity.distinct_rows);
        prop_assert_eq!(&one.order, &other.order);
        prop_assert_eq!(one.rho, other.rho);
        let kinds = |of: &Characters| of.findings.iter().map(|finding| finding.kind).collect::<Vec<_>>();
        prop_assert_eq!(kinds(&one), kinds(&other));
        all_numbers(&one);
    }
}

/// Workers that are threads of this process.
struct Threads {
    rank: usize,
    size: usize,
    table: Arc<(Barrier, Mutex<Vec<Vec<u8>>>)>,
}

impl Together for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn gather(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let (barrier, table) = &*self.table;
        table.lock().unwrap()[self.rank] = mine.to_vec();
        barrier.wait();
        let all = table.lock().unwrap().clone();
        barrier.wait();
        Ok(all)
    }
}

/// What each of several workers finds.
fn in_parts(spec: &str, options: &LoadOptions, workers: usize) -> Vec<Characters> {
    let table = Arc::new((Barrier::new(workers), Mutex::new(vec![Vec::new(); workers])));
    std::thread::scope(|scope| {
        let one = |rank| {
            let mut together = Threads { rank, size: workers, table: Arc::clone(&table) };
            scope.spawn(move || {
                let part = load_part(spec, options, &mut together).unwrap();
                Characters::of_part(&part, &mut together).unwrap()
            })
        };
        let threads: Vec<_> = (0..workers).map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn parts_find_what_one_finds() {
    let numbers = LoadOptions { regression: true, ..LoadOptions::default() };
    for (spec, options) in [
        ("synthetic:separable,rows=1003,features=21", LoadOptions::default()),
        ("synthetic:text,rows=907,features=400", LoadOptions::default()),
        ("synthetic:dense-small-similarity,rows=611", LoadOptions::default()),
        ("synthetic:diversity-low,rows=800", LoadOptions::default()),
        ("synthetic:separable,rows=500,features=5", numbers),
    ] {
        let whole = Characters::of(&load(spec, &options).unwrap());
        for found in in_parts(spec, &options, 3) {
            // What is counted and sampled is the same to the bit; sums are, up to rounding.
            assert_eq!(
                (found.rows, found.nonzeros, found.delta),
                (whole.rows, whole.nonzeros, whole.delta),
                "{spec}"
            );
            assert_eq!(
                (found.diversity.distinct_rows, found.rho),
                (whole.diversity.distinct_rows, whole.rho)
            );
            assert_eq!((&found.order, &found.row_nonzeros), (&whole.order, &whole.row_nonzeros), "{spec}");
            assert_eq!(found.row_norms.median, whole.row_norms.median, "{spec}");
            assert!(near(found.total_variance, whole.total_variance), "{spec}");
            assert!(near(found.feature_variances.median, whole.feature_variances.median), "{spec}");
            assert_eq!(found.findings, whole.findings, "{spec}");
            match (&found.labels, &whole.labels) {
                (LabelCharacters::Classes { .. }, _) => assert_eq!(found.labels, whole.labels, "{spec}"),
                (
                    LabelCharacters::Numbers { neighbour_correlation: a, deviation: b, .. },
                    LabelCharacters::Numbers { neighbour_correlation: c, deviation: d, .. },
                ) => assert!(near(*a, *c) && near(*b, *d), "{spec}"),
                _ => panic!("{spec}"),
            }
        }
    }
}

#[test]
fn more_cores_find_the_same() {
    let data = load("synthetic:separable,rows=999,features=13", &LoadOptions::default()).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Characters::of(&data))
    };
    let (one, seven) = (on(1), on(7));
    assert_eq!(
        (&one.order, &one.diversity, &one.findings),
        (&seven.order, &seven.diversity, &seven.findings)
    );
    assert!(near(one.total_variance, seven.total_variance));
    assert!((0..7).map(|rank| shard(999, 7, rank).len()).sum::<usize>() == 999);
}

#[test]
fn intervals_hold_what_they_estimate() {
    // Too many rows to compare all; the truth is what all pairs at a distance say.
    let data = load("synthetic:dense-small-similarity,rows=12000", &LoadOptions::default()).unwrap();
    let found = Characters::of(&data);
    let Matrix::Dense(matrix) = &data.matrix else { unreachable!("dense") };
    let rows: Vec<Vec<f32>> = matrix.values().chunks(matrix.columns()).map(<[f32]>::to_vec).collect();
    for of in found.order.given.iter().filter(|of| !of.distance.is_exact()) {
        let truth = c_sim(&rows, of.range);
        let Interval { low, mean, high } = of.distance;
        let width = high - low;
        assert!(low - width <= truth && truth <= high + width && width < 0.2 * mean, "{of:?}: {truth}");
    }
    assert!(
        found.findings.iter().any(|finding| finding.kind == Kind::SimilarNeighbours),
        "{:?}",
        found.findings
    );
    let shuffled = Characters::of(&data.shuffled(1));
    assert!(
        shuffled.findings.iter().all(|finding| finding.kind != Kind::SimilarNeighbours),
        "shuffling is the cure"
    );
}

#[test]
fn near_duplicates_are_estimated_as_they_are() {
    // Each row of so many is followed by one to three others that differ from it a little.
    let data = load("synthetic:separable,rows=4000,features=30", &LoadOptions::default()).unwrap();
    let Matrix::Dense(matrix) = &data.matrix else { unreachable!("dense") };
    let mut rows = Vec::new();
    for (at, row) in matrix.values().chunks(30).enumerate() {
        for copy in 0..1 + at % 4 {
            rows.push(row.iter().map(|value| value + 0.02 * copy as f32).collect::<Vec<f32>>());
        }
    }
    // Groups of 1, 2, 3 and 4 rows: a row has 0·1 + 1·2 + 2·3 + 3·4 near-duplicates in 10 rows.
    let expected = 2.0;
    let found = Characters::of(&dense(&rows, alternating(rows.len()), classes())).diversity;
    assert_eq!(found.distinct_rows, Interval::exact(rows.len() as f64));
    let Interval { low, mean, high } = found.near_duplicates;
    assert!(
        low <= expected && expected <= high && (mean / expected - 1.0).abs() < 0.2,
        "{low} to {high}, {mean}"
    );
}

#[test]
fn data_at_the_edges() {
    let one = |value: f32, columns: usize| vec![vec![value; columns]];
    let many = |rows: usize, row: Vec<f32>| vec![row; rows];
    for rows in [
        one(1.0, 1),
        one(0.0, 3),
        vec![vec![1.0, 0.0], vec![0.0, 2.0]],
        many(2, vec![0.0; 2]),
        many(50, vec![1.0, 2.0, 0.0]),
        many(300, vec![0.0; 4]),
        (0..100).map(|row| vec![row as f32, 0.0, 7.0]).collect(),
        (0..40).map(|row| vec![1e37 * (row as f32 - 20.0), 1e-38]).collect(),
    ] {
        let n = rows.len();
        let few = |row: usize| if row * 100 < 3 * n { 1.0 } else { -1.0 };
        for (targets, labels) in [
            (alternating(n), classes()),
            (vec![1.0; n], classes()),
            (vec![-1.0; n], classes()),
            ((0..n).map(few).collect(), classes()),
            ((0..n).map(|row| row as f32).collect(), Labels::Numbers),
            (vec![3.0; n], Labels::Numbers),
        ] {
            for stored in [dense, sparse] {
                let data = stored(&rows, targets.clone(), labels.clone());
                all_numbers(&Characters::of(&data));
            }
        }
    }
    let wide = Sparse::new(1_000_000, vec![0, 2, 3], vec![5, 999_999, 5], vec![1.0, 2.0, 3.0]);
    let found = Characters::of(&Dataset::new("", Matrix::Sparse(wide), vec![1.0, -1.0], classes()));
    assert_eq!((found.row_nonzeros.max, found.rho, found.delta), (2.0, Interval::exact(1.0), 1.0));
    all_numbers(&found);
}

fn kinds(rows: &[Vec<f32>], targets: Vec<f32>, labels: Labels) -> Vec<Kind> {
    let [one, other] =
        [dense, sparse].map(|stored| Characters::of(&stored(rows, targets.clone(), labels.clone())).findings);
    assert_eq!(one, other);
    one.into_iter().map(|finding| finding.kind).collect()
}

#[test]
fn each_finding_is_found_and_only_where_it_is() {
    // Numbers without a pattern.
    let noise = |row: usize, column: usize| {
        let key = pass::keys(row * 31 + column, 5);
        ((key >> 40) as f32 / (1 << 24) as f32) - 0.5
    };
    let rows: Vec<Vec<f32>> = (0..400).map(|row| (0..5).map(|column| noise(row, column)).collect()).collect();
    let targets: Vec<f32> = (0..400).map(|row| noise(row, 9).signum()).collect();
    let with = |change: &dyn Fn(usize, &mut Vec<f32>)| -> Vec<Kind> {
        let mut rows = rows.clone();
        rows.iter_mut().enumerate().for_each(|(at, row)| change(at, row));
        kinds(&rows, targets.clone(), classes())
    };
    assert_eq!(with(&|_, _| ()), [], "nothing is wrong with noise");
    assert_eq!(with(&|_, row| row[2] = 7.0), [Kind::ConstantColumns]);
    assert_eq!(with(&|_, row| row[2] = 0.0), [Kind::EmptyColumns]);
    assert_eq!(with(&|_, row| row[4] = row[1]), [Kind::DuplicateColumns]);
    assert_eq!(with(&|_, row| row[0] *= 1e4), [Kind::Scales]);
    assert_eq!(with(&|at, row| row[3] = if targets[at] > 0.0 { 2.0 + row[3] } else { row[3] }), [Kind::Leak]);
    assert_eq!(
        with(&|at, row| if at == 7 {
            row.iter_mut().for_each(|value| *value *= 500.0)
        }),
        [Kind::LongRows]
    );
    assert_eq!(
        with(&|at, row| if at >= 200 {
            row.clone_from(&rows[at - 200])
        }),
        [Kind::DuplicateRows]
    );
    assert_eq!(
        with(&|at, row| if at >= 200 {
            row.iter_mut().zip(&rows[at - 200]).for_each(|(value, other)| *value = other + 1e-4);
        }),
        [Kind::NearDuplicates]
    );
    let mut sorted = targets.clone();
    sorted.sort_by(f32::total_cmp);
    assert_eq!(kinds(&rows, sorted, classes()), [Kind::OrderedByLabel]);
    let few: Vec<f32> = (0..400).map(|row| if row % 133 == 5 { 1.0 } else { -1.0 }).collect();
    assert_eq!(
        kinds(&rows, few, classes()),
        [Kind::RareClass],
        "a few positives are apart by chance in some column"
    );
    assert_eq!(kinds(&rows, vec![1.0; 400], classes()), [Kind::SingleClass]);
    let double: Vec<f32> = rows.iter().map(|row| 2.0 * row[1] + 1.0).collect();
    assert_eq!(kinds(&rows, double, Labels::Numbers), [Kind::Leak]);
    let rising: Vec<f32> = (0..400).map(|row| row as f32).collect();
    assert_eq!(kinds(&rows, rising, Labels::Numbers), [Kind::OrderedByLabel]);
    let once: Vec<Vec<f32>> =
        (0..20).map(|row| (0..20).map(|at| f32::from(u8::from(at == row))).collect()).collect();
    assert_eq!(kinds(&once, alternating(20), classes()), [Kind::RareFeatures]);
}

#[test]
fn a_finding_says_values_and_the_next_step() {
    let data = load("synthetic:dense-small-similarity,rows=2000", &LoadOptions::default()).unwrap();
    let findings = Characters::of(&data).findings;
    let found = findings.iter().find(|finding| finding.kind == Kind::SimilarNeighbours).unwrap();
    assert!(found.text.contains("differs from the next") && found.advice.contains("--shuffle"), "{found:?}");
    for finding in &findings {
        assert!(finding.text.ends_with('.') && finding.advice.ends_with('.'), "{finding:?}");
    }
}
