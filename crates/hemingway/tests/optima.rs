//! Known optima of public datasets, computed by other solvers: ours have to agree. Needs the files; HEMINGWAY_DATA says
//! where they are.

use std::path::PathBuf;

use hemingway_data::{Dataset, LoadOptions, load};
use hemingway_train::{
    Engine, Job, Loss, Parameters, Problem, Scoring, Start, StopRules, Threads, algorithm,
};

const LAMBDA: f64 = 1e-4;

/// The file, its positive class, and brackets of P* without bias for hinge and logistic.
type Known = (&'static str, Option<&'static str>, [f64; 2], [f64; 2]);

const KNOWN: [Known; 4] = [
    ("a9a.libsvm.gz", None, [0.35176039, 0.35176235], [0.324506925, 0.324506925]),
    ("w8a.libsvm.gz", None, [0.14432589, 0.14432590], [0.142398591, 0.142398591]),
    ("newsgroups20-binary.libsvm.gz", None, [0.107155230, 0.107155231], [0.272323609, 0.272323610]),
    ("mnist-train-images-idx3-ubyte.gz", Some("5"), [0.06987885, 0.06988085], [0.087812050, 0.087812051]),
];

#[test]
fn optima_agree_with_other_solvers() {
    let Some(folder) = std::env::var_os("HEMINGWAY_DATA").map(PathBuf::from) else {
        eprintln!("HEMINGWAY_DATA is not set: the optima of real datasets are NOT checked");
        return;
    };
    for (file, positive, hinge, logistic) in KNOWN {
        let options = LoadOptions { positive: positive.map(str::to_owned), ..LoadOptions::default() };
        let data = load(folder.join(file).to_str().expect("a readable path"), &options).expect(file);
        check(&data, Loss::Hinge, hinge);
        check(&data, Loss::Logistic, logistic);
    }
}

/// Our bracket and the known one overlap, to 1e-6.
fn check(data: &Dataset, loss: Loss, [low, high]: [f64; 2]) {
    let problem = Problem::new(loss, LAMBDA).expect("a positive penalty");
    let stop = StopRules { error: Some(1e-6), ..StopRules::default() };
    let cocoa = algorithm("cocoa", &Parameters::default()).expect("in the catalogue");
    let job = Job {
        problem,
        algorithm: cocoa.as_ref(),
        workers: 1,
        seed: 0,
        stop,
        scoring: Scoring::default(),
        start: Start::Zero,
        checkpoint_every: None,
        interrupt: None,
        hand_over: None,
    };
    let run = Threads.run(data, &job, &mut |_| Ok(())).expect("a run");
    let (primal, dual) = (run.primal, run.dual);
    println!("{} {loss}: {dual:.9} ≤ P* ≤ {primal:.9}, known [{low}, {high}]", data.name);
    assert!(run.certified_error <= 1e-6, "{} {loss}: certified {}", data.name, run.certified_error);
    assert!(dual <= high * (1.0 + 1e-8), "{} {loss}: {dual} is above the known optimum {high}", data.name);
    assert!(primal >= low * (1.0 - 1e-8), "{} {loss}: {primal} is below the known optimum {low}", data.name);
    assert!(primal <= high * (1.0 + 1e-6), "{} {loss}: {primal} is far above {high}", data.name);
}
