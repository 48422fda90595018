//! How fast the inner loops and whole passes are, in stored values of the data: `cargo bench -p hemingway-train`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use hemingway_data::{Dataset, LoadOptions, Matrix, load};
use hemingway_train::kernels::{DenseRows, Rows, SparseRows, Task, fastest, stored};
use hemingway_train::{Cocoa, Engine, Job, Loss, Problem, Scoring, Start, StopRules, Threads};

const SPARSE: &str = "synthetic:text,rows=20000,features=30000,density=0.003";
const DENSE: &str = "synthetic:separable,rows=4000,features=500";

fn main() {
    divan::main();
}

fn generated(spec: &str) -> Dataset {
    load(spec, &LoadOptions::default()).expect("the spec is right")
}

/// Every row's product with the weights, added up.
struct Dots<'a, R> {
    rows: R,
    count: usize,
    weights: &'a [f64],
}

impl<R: Rows> Task for Dots<'_, R> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        // A loop: closures handed to iterators are not compiled for the instructions that the task is.
        let mut sum = 0.0;
        for row in 0..self.count {
            sum += self.rows.dot::<FMA>(row, self.weights);
        }
        sum
    }
}

/// Every row added to the weights.
struct Adds<'a, R> {
    rows: R,
    count: usize,
    weights: &'a mut [f64],
}

impl<R: Rows> Task for Adds<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for row in 0..self.count {
            self.rows.add::<FMA>(row, 1e-6, self.weights);
        }
    }
}

fn dots(bencher: Bencher, rows: impl Rows, matrix: &Matrix) {
    let (count, weights) = (matrix.rows(), vec![0.5; matrix.columns()]);
    let dots = || fastest(Dots { rows, count, weights: black_box(&weights) });
    bencher.counter(ItemsCount::new(stored(matrix))).bench_local(dots);
}

fn adds(bencher: Bencher, rows: impl Rows, matrix: &Matrix) {
    let (count, mut weights) = (matrix.rows(), vec![0.5; matrix.columns()]);
    let adds = || fastest(Adds { rows, count, weights: black_box(&mut weights) });
    bencher.counter(ItemsCount::new(stored(matrix))).bench_local(adds);
}

#[divan::bench]
fn sparse_dot(bencher: Bencher) {
    let matrix = generated(SPARSE).matrix;
    let Matrix::Sparse(sparse) = &matrix else { unreachable!("text is sparse") };
    dots(bencher, SparseRows(sparse), &matrix);
}

#[divan::bench]
fn sparse_add(bencher: Bencher) {
    let matrix = generated(SPARSE).matrix;
    let Matrix::Sparse(sparse) = &matrix else { unreachable!("text is sparse") };
    adds(bencher, SparseRows(sparse), &matrix);
}

#[divan::bench]
fn dense_dot(bencher: Bencher) {
    let matrix = generated(DENSE).matrix;
    let Matrix::Dense(dense) = &matrix else { unreachable!("separable is dense") };
    dots(bencher, DenseRows(dense), &matrix);
}

#[divan::bench]
fn dense_add(bencher: Bencher) {
    let matrix = generated(DENSE).matrix;
    let Matrix::Dense(dense) = &matrix else { unreachable!("separable is dense") };
    adds(bencher, DenseRows(dense), &matrix);
}

/// One round of CoCoA on one worker: a pass of coordinate ascent over all rows, and one score.
#[divan::bench(args = [(SPARSE, Loss::Hinge), (SPARSE, Loss::Logistic), (DENSE, Loss::Hinge), (DENSE, Loss::Logistic)])]
fn coordinate_pass(bencher: Bencher, (spec, loss): (&str, Loss)) {
    let data = generated(spec);
    let job = Job {
        problem: Problem::new(loss, 1e-4).expect("λ is positive"),
        algorithm: &Cocoa { local_steps: None },
        workers: 1,
        seed: 0,
        stop: StopRules { rounds: Some(1), ..StopRules::default() },
        scoring: Scoring::default(),
        start: Start::Zero,
        checkpoint_every: None,
        interrupt: None,
        hand_over: None,
    };
    let pass = || Threads.run(&data, &job, &mut |_| Ok(())).expect("the job is right");
    bencher.counter(ItemsCount::new(stored(&data.matrix))).bench_local(pass);
}
