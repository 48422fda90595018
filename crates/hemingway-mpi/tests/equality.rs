//! The same algorithms over MPI as anywhere else.

mod cluster;

use hemingway_data::{ClassWeight, Dataset, LoadOptions, load};
use hemingway_train::protocol::{ExternalJob, Message, PROTOCOL, Source, Stage};
use hemingway_train::{
    Cluster, Engine, Job, Loss, Machine, Model, Needs, Parameters, Problem, Run, Scoring, Simulated, Start,
    StopRules, algorithm, catalogue,
};

const DATA: &str = "synthetic:separable,rows=403,features=12,seed=3";

fn job(loss: Loss, stages: Vec<Stage>) -> ExternalJob {
    ExternalJob {
        protocol: PROTOCOL,
        data: Source {
            spec: DATA.to_owned(),
            options: LoadOptions::default(),
            class_weight: None,
            normalise_rows: false,
            standardise: true,
        },
        problem: Problem::new(loss, 1e-2).unwrap(),
        seed: 5,
        scoring: Scoring::Every(20),
        checkpoint_every: None,
        stages,
        workers: None,
        closer_look: false,
        checkpoint: None,
        heartbeat: None,
    }
}

fn stage(name: &str, workers: usize, rounds: u64) -> Stage {
    let stop = StopRules { rounds: Some(rounds), ..StopRules::default() };
    Stage { algorithm: name.to_owned(), parameters: Parameters::default(), workers, stop }
}

fn data() -> Dataset {
    let mut data = load(DATA, &LoadOptions::default()).unwrap();
    hemingway_data::Transform::fit(&data, false, true).apply(&mut data);
    data
}

/// The same stages on the simulated engine.
fn simulate(data: &Dataset, job: &ExternalJob) -> Run {
    let mut last: Option<Run> = None;
    for stage in &job.stages {
        let algorithm = algorithm(&stage.algorithm, &stage.parameters).unwrap();
        let model: Option<Model> = last.map(|run| run.model);
        let job = Job {
            problem: job.problem,
            algorithm: algorithm.as_ref(),
            workers: stage.workers,
            seed: job.seed,
            stop: stage.stop,
            scoring: job.scoring,
            start: model.as_ref().map_or(Start::Zero, Start::Model),
            checkpoint_every: None,
            interrupt: None,
            hand_over: None,
        };
        let engine = Simulated::new(Cluster::of(Machine::default()));
        last = Some(engine.run(data, &job, &mut |_| Ok(())).unwrap());
    }
    last.expect("a stage")
}

fn finished(messages: &[Message]) -> &Run {
    match messages.last() {
        Some(Message::Finished { run, .. }) => run,
        other => panic!("{other:?}"),
    }
}

fn assert_same(what: &str, ranks: &Run, simulated: &Run) {
    assert_eq!((ranks.rounds, ranks.stop), (simulated.rounds, simulated.stop), "{what}");
    let largest = simulated.model.weights.iter().fold(0.0, |most: f64, weight| most.max(weight.abs()));
    for (ours, theirs) in ranks.model.weights.iter().zip(&simulated.model.weights) {
        assert!((ours - theirs).abs() <= 1e-9 * largest, "{what}: {ours} for {theirs}");
    }
}

/// Whether an algorithm does the same whoever comes first.
fn repeats(name: &str) -> bool {
    let needs = algorithm(name, &Parameters::default()).unwrap().needs();
    matches!(needs, Needs::Collectives | Needs::Neighbours)
}

#[test]
fn every_algorithm_gives_the_weights_of_the_simulation() {
    let data = data();
    for entry in catalogue().iter().filter(|entry| repeats(entry.name)) {
        for loss in [Loss::Logistic, Loss::Hinge] {
            for workers in [1, 2, 4] {
                let job = job(loss, vec![stage(entry.name, workers, 20)]);
                let messages = cluster::run(workers, &job);
                let what = format!("{} on {workers} ranks, {loss}", entry.name);
                assert_same(&what, finished(&messages), &simulate(&data, &job));
            }
        }
    }
}

#[test]
fn ranks_weigh_their_rows_as_one_process_weighs_all() {
    let asked = ClassWeight::Balanced;
    let mut data = load(DATA, &LoadOptions::default()).unwrap();
    let counted = data.weigh_classes(&asked).unwrap();
    hemingway_data::Transform::fit(&data, false, true).apply(&mut data);
    for name in ["cocoa-plus", "l-bfgs", "newton", "local-sgd"] {
        for workers in [1, 3] {
            let mut job = job(Loss::Hinge, vec![stage(name, workers, 20)]);
            job.data.class_weight = Some(asked.clone());
            let messages = cluster::run(workers, &job);
            let loaded = messages.iter().find_map(|message| match message {
                Message::Loaded(loaded) => Some((loaded.fingerprint, &loaded.class_weights)),
                _ => None,
            });
            assert_eq!(loaded, Some((data.fingerprint, &counted)), "{workers} ranks");
            assert_same(&format!("{name} on {workers} ranks"), finished(&messages), &simulate(&data, &job));
        }
    }
}

#[test]
fn the_number_of_workers_changes_between_stages() {
    let stages = vec![stage("cocoa", 4, 5), stage("cocoa-plus", 2, 5), stage("l-bfgs", 3, 5)];
    let job = job(Loss::Logistic, stages);
    let messages = cluster::run(4, &job);
    let loads = messages.iter().filter(|message| matches!(message, Message::Loaded(_))).count();
    assert_eq!(loads, 3, "each stage divides the rows anew");
    assert_same("three stages", finished(&messages), &simulate(&data(), &job));
}

#[test]
fn the_fingerprint_does_not_depend_on_the_number_of_ranks() {
    let expected = data().fingerprint;
    for ranks in [1, 2, 3, 5] {
        let messages = cluster::run(ranks, &job(Loss::Hinge, vec![stage("cocoa", ranks, 1)]));
        let loaded = messages.iter().find_map(|message| match message {
            Message::Loaded(loaded) => Some(loaded.fingerprint),
            _ => None,
        });
        assert_eq!(loaded, Some(expected), "{ranks} ranks");
    }
}

#[test]
fn features_that_occur_nowhere_have_no_weights_on_ranks_either() {
    // No rank sees all features, and each sees some that no other does.
    let pair = |row: usize, at: usize| 1 + 100_000_019 * ((row / 9 + 5 * at) % 41); // of which 28 occur
    let line = |row: usize| {
        let label = if row.is_multiple_of(3) { "+1" } else { "-1" };
        let (low, high) = (pair(row, 0).min(pair(row, 1)), pair(row, 0).max(pair(row, 1)));
        format!("{label} {low}:{} {high}:{}\n", 1 + row % 7, 2 + row % 3)
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), (0..200).map(line).collect::<String>()).unwrap();
    let spec = file.path().display().to_string();

    let mut data = load(&spec, &LoadOptions::default()).unwrap();
    hemingway_data::Transform::fit(&data, false, true).apply(&mut data);
    assert_eq!((data.features.count, data.matrix.columns()), (2_700_000_514, 28));
    for name in ["cocoa-plus", "l-bfgs"] {
        let mut job = job(Loss::Logistic, vec![stage(name, 4, 20), stage(name, 3, 5)]);
        job.data.spec = spec.clone();
        let messages = cluster::run(4, &job);
        let loaded: Vec<_> = messages
            .iter()
            .filter_map(|message| if let Message::Loaded(loaded) = message { Some(loaded) } else { None })
            .collect();
        assert_eq!(loaded.len(), 2);
        for loaded in loaded {
            assert_eq!((loaded.features, &loaded.used), (data.features.count, &data.features.used));
        }
        assert_same(name, finished(&messages), &simulate(&data, &job));
    }
}

#[test]
fn ranks_of_one_machine_divide_the_memory_limit() {
    let mut job = job(Loss::Logistic, vec![stage("newton", 4, 3)]);
    job.data.spec = "synthetic:separable,rows=400,features=1000,seed=3".to_owned();
    let mut needs = |limit: u64| {
        job.data.options.memory_limit = Some(limit);
        cluster::tell(4, &serde_json::to_string(&job).unwrap())
    };
    assert!(needs(400 << 20).status.success(), "100 MiB for each rank are enough");
    let refused = needs(40 << 20);
    let said = cluster::text(&refused.stderr);
    assert!(said.contains("this run needs about") && said.contains("the limit is 10 MiB"), "{said}");
    assert!(said.contains(r#""bad_input":true"#), "{said}");
}

#[test]
fn neighbours_talk_around_a_ring() {
    for ranks in [1, 2, 3, 4] {
        let output = cluster::mpirun(ranks).arg("--check").output().unwrap();
        let said = cluster::text(&output.stdout);
        assert!(output.status.success() && said.starts_with(&format!("{ranks} ranks on ")), "{said}");
    }
}
