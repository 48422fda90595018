//! `hemingway profile`, and `--shuffle`, which it advises.

mod sandbox;

use sandbox::Sandbox;
use serde_json::Value;

fn kinds(report: &Value) -> Vec<&str> {
    let findings = report["characters"]["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["kind"].as_str().unwrap()).collect()
}

#[test]
fn text_fits_a_terminal_and_says_the_most_important_things_first() {
    let sandbox = Sandbox::new();
    for data in [
        "data.libsvm",
        "embedded:mnist",
        "synthetic:text,rows=2000,features=3000",
        "synthetic:dense-small-similarity,rows=3000",
    ] {
        let outcome = sandbox.run(&["profile", data]);
        assert_eq!(outcome.code, Some(0), "{data}: {}", outcome.stderr);
        for line in outcome.stdout.lines() {
            assert!(line.chars().count() <= 80, "{data}: {line}");
        }
        let place =
            |text: &str| outcome.stdout.find(text).unwrap_or_else(|| panic!("{text}: {}", outcome.stdout));
        let order = [
            "Which algorithms suit it",
            "Theorem 2 of the paper",
            "What to look into",
            "What the data is like",
            "What the problem is like",
        ];
        assert!(order.map(place).is_sorted(), "{}", outcome.stdout);
        assert!(
            outcome.stdout.contains("vacuous"),
            "the bound of the paper says nothing here: {}",
            outcome.stdout
        );
    }
    assert!(sandbox.home_is_empty(), "nothing is kept");
}

#[test]
fn the_object_is_complete_and_agrees_with_the_data() {
    let sandbox = Sandbox::new();
    let report = sandbox.json(&["profile", "data.libsvm", "--json"]);
    for field in [
        "dataset",
        "loss",
        "lambda",
        "characters",
        "planner",
        "sample",
        "families",
        "paper_bound",
        "load_seconds",
    ] {
        assert!(!report[field].is_null(), "{field}: {report}");
    }
    let characters = &report["characters"];
    assert_eq!((&characters["rows"], &characters["features"]), (&10.into(), &4.into()));
    assert_eq!(characters["row_nonzeros"]["max"], 3.0, "Ω");
    assert_eq!(characters["delta"], 0.8, "8 of 10 rows have feature 1 or 2");
    assert_eq!(characters["labels"]["positives"], 5);
    for family in report["families"].as_array().unwrap() {
        let workers: Vec<f64> =
            family["workers"].as_array().unwrap().iter().map(|of| of.as_f64().unwrap()).collect();
        assert!(workers.is_sorted() && workers[0] >= 1.0, "{family}");
        assert!(!family["reason"].as_str().unwrap().is_empty());
        assert_eq!(family["speed_up"][0]["workers"], 1);
    }
}

#[test]
fn a_colleague_would_point_this_out() {
    let sandbox = Sandbox::new();
    let mut table = "age,income,outcome,copy,always,label\n".to_owned();
    for row in 0..200 {
        let label = u8::from((row * row * 31 + row * 17) % 101 < 40);
        let (age, income) = (20 + (row * 31) % 50, 20_000 + (row * 7_907) % 60_000);
        table += &format!(
            "{age},{income},{},{age},1,{label}\n",
            f64::from(label) * 3.0 + f64::from(row % 7) / 10.0
        );
    }
    sandbox.write("table.csv", &table);
    let report = sandbox.json(&["profile", "table.csv", "--no-standardise", "--json"]);
    assert_eq!(kinds(&report), ["leak", "scales", "constant_columns", "duplicate_columns"]);
    let text = sandbox.run(&["profile", "table.csv", "--no-standardise"]).stdout;
    for advice in ["Feature 3 alone predicts the label", "--standardise", "feature 4 of feature 1"] {
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(advice), "{advice}: {text}");
    }
    let scaled = sandbox.json(&["profile", "table.csv", "--json"]);
    assert!(!kinds(&scaled).contains(&"scales"), "{:?}", kinds(&scaled));
    assert_eq!((&scaled["standardised"], &report["standardised"]), (&true.into(), &false.into()));
    assert!(sandbox.run(&["profile", "table.csv"]).stdout.contains("columns standardised"));
}

#[test]
fn shuffling_is_the_cure_for_rows_in_order() {
    let sandbox = Sandbox::new();
    let rows = |label: &str| -> String {
        (0..150)
            .map(|row| format!("{label} 1:0.{} 2:0.{}\n", row * 37 % 89 + 10, row * 53 % 83 + 10))
            .collect()
    };
    sandbox.write("sorted.libsvm", &(rows("1") + &rows("-1")));
    let ordered = sandbox.json(&["profile", "sorted.libsvm", "--json"]);
    assert!(kinds(&ordered).contains(&"ordered_by_label"), "{:?}", kinds(&ordered));
    let shuffled = sandbox.json(&["profile", "sorted.libsvm", "--shuffle", "--json"]);
    assert!(!kinds(&shuffled).contains(&"ordered_by_label"), "{:?}", kinds(&shuffled));
    let of = |report: &Value| report["characters"]["row_norms"].clone();
    assert_eq!(of(&ordered), of(&shuffled), "the rows are the same");

    let train = ["train", "sorted.libsvm", "--lambda", "1e-2", "--error", "1e-6", "--json"];
    let [given, random] = [&[][..], &["--shuffle"]].map(|more| sandbox.json(&[&train[..], more].concat()));
    assert!(given["shuffle_seconds"].is_null() && random["shuffle_seconds"].as_f64().unwrap() > 0.0);
    let objective = |report: &Value| report["primal"].as_f64().unwrap();
    assert!((objective(&given) / objective(&random) - 1.0).abs() < 3e-6, "the same problem");
    assert_ne!(given["dataset"]["fingerprint"], random["dataset"]["fingerprint"], "but another order");
    assert_eq!(given["dataset"]["source"], random["dataset"]["source"]);
    let again = sandbox.json(&["train", "--resume", "last", "--error", "1e-8", "--json"]);
    assert_eq!(again["dataset"], random["dataset"], "a run that goes on has the rows in its order");
    let text = sandbox.run(&["train", "sorted.libsvm", "--shuffle"]).stdout;
    assert!(text.contains("(shuffle "), "what it cost is said: {text}");
}

#[test]
fn a_page_is_written_whole_or_refused_before_anything_is_read() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(&["profile", "data.libsvm", "--html", "page.html"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("page.html"), "{}", outcome.stderr);
    let page = std::fs::read_to_string(sandbox.work.path().join("page.html")).unwrap();
    assert!(page.contains("data.libsvm: profile") && page.contains("prefers-color-scheme: dark"));
    let outcome = sandbox.run(&["profile", "no.libsvm", "--html", "no/page.html"]);
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("no/page.html") && !outcome.stderr.contains("no.libsvm"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn what_cannot_be_profiled_is_refused_with_the_next_step() {
    let sandbox = Sandbox::new();
    for (arguments, words) in [
        (&["profile", "no.libsvm"][..], "no.libsvm"),
        (&["profile", "data.libsvm", "--lambda", "-1"], "lambda"),
        (&["profile", "data.libsvm", "--fraction", "2"], "--fraction"),
        (&["profile", "data.libsvm", "--engine", "mpi", "--shuffle"], "--shuffle"),
        (&["train", "data.libsvm", "--engine", "mpi", "--shuffle"], "--shuffle"),
        (&["profile", "data.libsvm", "--hosts", "hosts"], "--engine mpi"),
        (&["profile", "synthetic:text", "--memory-limit", "1M"], "memory"),
    ] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{arguments:?}: {}", outcome.stderr);
    }
    let wide = sandbox.run(&["profile", "data.libsvm", "--regression", "--loss", "hinge"]);
    assert_eq!(wide.code, Some(2), "{}", wide.stderr);
}

#[test]
fn any_data_has_a_profile() {
    let sandbox = Sandbox::new();
    sandbox.write("one.libsvm", "1 1:1\n");
    sandbox.write("two.libsvm", "1 1:1\n-1 2:1\n");
    sandbox.write("far.libsvm", "1 4000000000:1\n-1 7:2\n1 7:1\n");
    sandbox.write("line.csv", "x,y\n0,1\n1,3\n2,5\n3,7\n4,9\n");
    for arguments in [
        &["two.libsvm"][..],
        &["far.libsvm"],
        &["line.csv", "--label", "y", "--regression"],
        &["data.libsvm", "--loss", "hinge", "--bias", "--normalise", "rows"],
        &["synthetic:separable,rows=50,features=3", "--fraction", "0.5", "--seed", "3"],
    ] {
        let outcome = sandbox.run(&[&["profile"], arguments].concat());
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.stderr);
        for broken in ["NaN", "inf ", "nan"] {
            assert!(!outcome.stdout.contains(broken), "{arguments:?}: {}", outcome.stdout);
        }
        sandbox.json(&[&["profile"], arguments, &["--json"]].concat());
    }
    // One class, or one row: whatever is said, nothing panics.
    let one = sandbox.run(&["profile", "one.libsvm"]);
    assert!(matches!(one.code, Some(0 | 2)), "{}", one.stderr);
}
