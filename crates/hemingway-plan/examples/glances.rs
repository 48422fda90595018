//! The glances of the datasets of `bench/regret`: `HEMINGWAY_DATA=FOLDER glances > GLANCES.jsonl`, for `replay`.

use hemingway_data::{LabelColumn, LoadOptions, load};
use hemingway_plan::Glance;
use hemingway_train::{Loss, Problem};

/// Name, file or generator, the positive class, whether the label is the last column.
const DATASETS: [(&str, &str, Option<&str>, bool); 9] = [
    ("mushrooms", "mushrooms.libsvm.gz", None, false),
    ("higgs", "higgs-11k.csv.gz", None, true),
    ("a9a", "a9a.libsvm.gz", None, false),
    ("separable", "synthetic:separable,rows=10000,features=100", None, false),
    ("text", "synthetic:text,rows=20000,features=10000", None, false),
    ("w8a", "w8a.libsvm.gz", None, false),
    ("newsgroups20", "newsgroups20-binary.libsvm.gz", None, false),
    ("mnist", "mnist-train-images-idx3-ubyte.gz", Some("5"), false),
    ("fashion-mnist", "fashion-mnist-train-images-idx3-ubyte.gz", Some("5"), false),
];
const LAMBDA: f64 = 1e-4;

fn main() {
    let folder = std::env::var("HEMINGWAY_DATA").expect("HEMINGWAY_DATA is the folder of the datasets");
    for (name, file, positive, last) in DATASETS {
        let source = if file.contains(':') { file.to_owned() } else { format!("{folder}/{file}") };
        let options = LoadOptions {
            label: if last { LabelColumn::Last } else { LabelColumn::Auto },
            positive: positive.map(str::to_owned),
            ..LoadOptions::default()
        };
        let data = load(&source, &options).unwrap_or_else(|error| panic!("{source}: {error}"));
        for loss in [Loss::Hinge, Loss::Logistic] {
            let problem = Problem::new(loss, LAMBDA).expect("a penalty that is positive");
            let glance = Glance::of(&data, &problem);
            let line = serde_json::json!({ "name": format!("{name}-{loss}"), "glance": glance });
            println!("{line}");
        }
    }
}
