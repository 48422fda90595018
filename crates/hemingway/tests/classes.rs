//! More than two classes: each as if it had been picked, one model, one report, and what an interruption leaves.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use hemingway::data::Labels;
use hemingway::{
    Changes, DataRequest, Error, ModelFile, Place, Progress, Scoring, Seconds, Status, Stop, StopRules,
    Store, TrainReport, TrainRequest, Watch, predict, resume, train,
};

/// Three classes that overlap, one of them with a single row.
const OVERLAPPING: &str = "\
b 1:1 2:0.5
a 1:-1 2:0.3 3:0.7
b 1:0.8 3:-0.4
a 2:-0.9 3:0.1
once 1:0.2 2:0.2 3:2
b 1:0.3 2:0.8
a 1:0.6 2:-0.3 3:0.2
b 2:0.4 3:0.1
a 1:-0.1 2:0.2 3:-0.3
";

struct Fixture {
    folder: tempfile::TempDir,
    place: Place,
}

impl Fixture {
    fn new(content: &str) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("data.libsvm"), content).unwrap();
        let place = Place::at(folder.path().join("store.sqlite"));
        Fixture { folder, place }
    }

    fn data(&self) -> DataRequest {
        let spec = self.folder.path().join("data.libsvm").to_string_lossy().into_owned();
        DataRequest { spec, ..Default::default() }
    }

    fn request(&self, error: f64) -> TrainRequest {
        TrainRequest {
            data: self.data(),
            lambda: 1e-2,
            stop: StopRules { error: Some(error), ..Default::default() },
            scoring: Some(Scoring::Every(1)),
            checkpoint_every: Seconds(1e-9),
            ..Default::default()
        }
    }

    fn train(&self, request: TrainRequest) -> Result<TrainReport, Error> {
        self.watched(request, |_, _| {})
    }

    fn watched(
        &self,
        request: TrainRequest,
        mut observe: impl FnMut(Progress, &AtomicBool),
    ) -> Result<TrainReport, Error> {
        let interrupt = AtomicBool::new(false);
        let mut observe = |progress: Progress| observe(progress, &interrupt);
        train(request, &self.place, &mut Watch { interrupt: &interrupt, observe: &mut observe })
    }

    fn resume(&self, run: &str, changes: &Changes) -> Result<TrainReport, Error> {
        let interrupt = AtomicBool::new(false);
        resume(run, changes, &self.place, &mut Watch { interrupt: &interrupt, observe: &mut |_| {} })
    }

    fn store(&self) -> Store {
        Store::open_existing(&self.place).unwrap()
    }
}

fn model(file: &Path) -> ModelFile {
    ModelFile::read(file).unwrap()
}

fn simulated(request: TrainRequest) -> TrainRequest {
    TrainRequest {
        algorithm: Some("cocoa-plus".into()),
        workers: Some(2),
        engine: Some("simulated".into()),
        seed: 3,
        ..request
    }
}

/// Where each class has a feature of its own, a weight is where its share of the rows times the slope of the loss meets λw.
#[test]
fn three_classes_with_a_known_answer() {
    let rows = [("x", 1, 5), ("y", 2, 3), ("z", 3, 2)];
    let lines = rows.map(|(class, feature, count)| format!("{class} {feature}:1\n").repeat(count));
    let fixture = Fixture::new(&lines.concat());
    let report = fixture.train(fixture.request(1e-12)).unwrap();
    let model = model(&report.model);
    assert_eq!(model.labels, Labels::Several(["x", "y", "z"].map(str::to_owned).into()));
    for (class, block) in model.classes.iter().enumerate() {
        for (feature, (_, _, count)) in rows.iter().enumerate() {
            let share = *count as f64 / 10.0;
            let (mut low, mut high) = (0.0, 100.0);
            for _ in 0..200 {
                let w: f64 = (low + high) / 2.0;
                if share / (1.0 + w.exp()) > 1e-2 * w { low = w } else { high = w }
            }
            let expected = if feature == class { low } else { -low };
            assert!(
                (block.weights[feature] - expected).abs() < 1e-4,
                "{class} {feature}: {block:?}, {expected}"
            );
        }
    }
    assert_eq!((report.train_accuracy, report.goal_reached), (Some(1.0), true));
}

#[test]
fn each_class_is_as_if_it_had_been_picked() {
    let fixture = Fixture::new(OVERLAPPING);
    for shuffle in [false, true] {
        let data = DataRequest { shuffle, ..fixture.data() };
        let request = simulated(TrainRequest { data, ..fixture.request(1e-3) });
        let all = fixture.train(request.clone()).unwrap();
        let names: Vec<&str> = all.classes.iter().map(|class| class.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "once"]);
        assert_eq!(all.classes[2].rows, Some(1));
        for (class, block) in all.classes.iter().zip(&model(&all.model).classes) {
            let data = DataRequest { positive: Some(class.name.clone()), ..request.data.clone() };
            let alone = fixture.train(TrainRequest { data, ..request.clone() }).unwrap();
            let picked = model(&alone.model);
            assert_eq!(
                (&block.weights, block.primal, block.dual),
                (&picked.weights, picked.primal, picked.dual)
            );
            assert_eq!((class.rounds, class.seconds, class.stop), (alone.rounds, alone.seconds, alone.stop));
            let of_class = fixture.store().run(&class.run).unwrap();
            assert_eq!(of_class.dataset, fixture.store().run(&alone.run).unwrap().dataset);
        }
    }
}

#[test]
fn the_report_has_sums_and_the_worst_error() {
    let fixture = Fixture::new(OVERLAPPING);
    let report = fixture.train(fixture.request(1e-3)).unwrap();
    let sum = |of: fn(&hemingway::ClassReport) -> f64| report.classes.iter().map(of).sum::<f64>();
    assert_eq!(report.primal, sum(|class| class.primal));
    assert_eq!(report.dual, Some(sum(|class| class.dual.unwrap())));
    assert_eq!(report.rounds as f64, sum(|class| class.rounds as f64));
    assert_eq!(report.seconds, sum(|class| class.seconds));
    let errors = report.classes.iter().map(|class| class.certified_error.unwrap());
    assert_eq!(report.certified_error, errors.reduce(f64::max));
    let predicted = predict(&model(&report.model), &fixture.data()).unwrap();
    assert_eq!(predicted.quality.unwrap().accuracy(), report.train_accuracy);
    assert_eq!((predicted.rows(), predicted.margins_of(8).len()), (9, 3));
    let run = fixture.store().run("last").unwrap();
    assert_eq!((&run.id, run.report.as_ref()), (&report.run, Some(&report)));
}

#[test]
fn plans_of_later_classes_know_the_first() {
    let fixture = Fixture::new(OVERLAPPING);
    let report = fixture.train(fixture.request(1e-3)).unwrap();
    let reused =
        |class: usize| fixture.store().run(&report.classes[class].run).unwrap().report.unwrap().reused;
    assert_eq!(reused(0), []);
    assert!(
        reused(1).iter().all(|run| run.other_labels && run.what == "rounds and seconds"),
        "{:?}",
        reused(1)
    );
    assert_eq!((reused(1).len(), reused(2).len()), (1, 2));
}

#[test]
fn an_interruption_leaves_finished_classes_and_goes_on_with_the_others() {
    let fixture = Fixture::new(OVERLAPPING);
    let mut begun = 0;
    let error = fixture
        .watched(simulated(fixture.request(1e-6)), |progress, interrupt| match progress {
            Progress::Class { number, .. } => begun = number,
            Progress::Point(point) => interrupt.store(begun == 2 && point.round >= 2, Ordering::Relaxed),
            _ => {}
        })
        .unwrap_err();
    assert!(matches!(error, Error::ClassesMissing { done: 1, of: 3, .. }), "{error}");
    assert!(error.is_out_of_reach() && error.hint().unwrap().contains("--resume last"));
    let run = fixture.store().run("last").unwrap();
    assert_eq!(run.status, Status::Failed);
    assert!(!fixture.place.model(&run.id).exists(), "there is no model that lacks a class");
    let before = fixture.store().classes_of(&run.id).unwrap();
    assert_eq!(before.len(), 2);

    let report = fixture.resume("last", &Changes::default()).unwrap();
    assert_eq!((&report.run, report.classes.len(), report.goal_reached), (&run.id, 3, true));
    assert_eq!(report.classes[0].run, before[1].id);
    assert_eq!(report.classes[0].rounds, before[1].report.as_ref().unwrap().rounds, "it was finished");
    assert_eq!(report.classes[1].run, before[0].id);

    let whole = Fixture::new(OVERLAPPING);
    let uninterrupted = whole.train(simulated(whole.request(1e-6))).unwrap();
    let weights = |report: &TrainReport| model(&report.model).classes.into_iter().map(|class| class.weights);
    assert!(weights(&report).eq(weights(&uninterrupted)), "the weights differ");
}

#[test]
fn all_classes_go_further_for_a_smaller_error() {
    let fixture = Fixture::new(OVERLAPPING);
    let first = fixture.train(fixture.request(1e-2)).unwrap();
    let changes =
        Changes { stop: StopRules { error: Some(1e-6), ..Default::default() }, ..Default::default() };
    let second = fixture.resume(&first.run, &changes).unwrap();
    assert!(second.certified_error.unwrap() <= 1e-6, "{second:?}");
    let runs = |report: &TrainReport| -> Vec<String> {
        report.classes.iter().map(|class| class.run.clone()).collect()
    };
    assert_eq!(runs(&first), runs(&second));
}

#[test]
fn a_deadline_is_for_all_classes() {
    let fixture = Fixture::new(OVERLAPPING);
    let stop = StopRules { error: Some(1e-15), within: Some(Seconds(0.3)), ..Default::default() };
    let report = fixture.train(simulated(TrainRequest { stop, ..fixture.request(1e-15) })).unwrap();
    assert!(report.seconds <= 0.3, "{}", report.seconds);
    let first = &report.classes[0];
    assert!(first.seconds <= 0.1 && first.stop != Stop::Error, "{first:?}");
}

#[test]
fn a_sample_of_several_classes_is_resumed_class_by_class() {
    let fixture = Fixture::new(&OVERLAPPING.repeat(4));
    let data = DataRequest { fraction: 0.5, ..fixture.data() };
    let report = fixture.train(TrainRequest { data, ..fixture.request(1e-2) }).unwrap();
    let rows: Vec<Option<usize>> = report.classes.iter().map(|class| class.rows).collect();
    assert_eq!((report.dataset.rows, rows), (18, vec![Some(8), Some(8), Some(2)]));
    let changes =
        Changes { stop: StopRules { error: Some(1e-4), ..Default::default() }, ..Default::default() };
    let alone = fixture.resume(&report.classes[1].run, &changes).unwrap();
    assert!(alone.certified_error.unwrap() <= 1e-4);
}

#[test]
fn test_data_is_compared_with_all_classes() {
    let fixture = Fixture::new(OVERLAPPING);
    let test = fixture.folder.path().join("test.libsvm");
    std::fs::write(&test, "b 1:1 2:0.5\nonce 3:2\n").unwrap();
    let test = Some(test.to_string_lossy().into_owned());
    let report = fixture.train(TrainRequest { test: test.clone(), ..fixture.request(1e-3) }).unwrap();
    assert_eq!(report.test_accuracy, Some(1.0));
    std::fs::write(test.as_ref().unwrap(), "new 1:1 2:0.5\n").unwrap();
    let error = fixture.train(TrainRequest { test, ..fixture.request(1e-3) }).unwrap_err();
    assert!(error.to_string().contains("“new” is not in the training data"), "{error}");
}

#[test]
fn weights_of_classes_count_in_every_problem() {
    let fixture = Fixture::new(OVERLAPPING);
    let counted = |text: &str| {
        let data = DataRequest { class_weight: Some(text.parse().unwrap()), ..fixture.data() };
        let report = fixture.train(simulated(TrainRequest { data, ..fixture.request(1e-10) })).unwrap();
        model(&report.model).classes
    };
    // Rows that count twice are as rows that are there twice, but for n: the loss of nine rows over that of ten.
    let twice = Fixture::new(&format!("{OVERLAPPING}once 1:0.2 2:0.2 3:2\n"));
    let lambda = 1e-2 * 9.0 / 10.0;
    let repeated = twice.train(TrainRequest { lambda, ..twice.request(1e-10) }).unwrap();
    for (weighted, repeated) in counted("once=2").iter().zip(&model(&repeated.model).classes) {
        for (one, other) in weighted.weights.iter().zip(&repeated.weights) {
            assert!((one - other).abs() < 1e-3, "{weighted:?}, {repeated:?}");
        }
    }
    let balanced = counted("balanced");
    // Three classes of 4, 4 and 1 rows.
    for (one, other) in balanced.iter().zip(counted("a=0.75,b=0.75,once=3")) {
        assert_eq!(one.weights, other.weights);
    }
}

#[test]
fn the_runs_of_classes_leave_with_that_of_all() {
    let fixture = Fixture::new(OVERLAPPING);
    let report = fixture.train(fixture.request(1e-2)).unwrap();
    let removed =
        fixture.store().remove_runs(std::slice::from_ref(&report.run), false, &fixture.place, true).unwrap();
    assert_eq!((removed.runs.len(), removed.removed_models.len()), (4, 4));
    assert_eq!(fixture.store().runs().unwrap(), []);
}
