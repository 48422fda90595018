//! `hemingway reproduce` on little data, from runs to the page.

mod sandbox;

use sandbox::Sandbox;

const SHORT: [&str; 5] = ["reproduce", "hemingway", "--rounds", "6", "--json"];

#[test]
fn every_figure_and_the_page_are_made_and_runs_are_made_once() {
    let sandbox = Sandbox::new();
    let made = sandbox.run(&SHORT);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stderr.contains("HEMINGWAY_DATA"), "{}", made.stderr);
    let out = sandbox.work.path().join("reproduce/hemingway");
    let names = ["1a", "1b", "1c", "3a", "3b", "4a", "4b", "5a", "5b", "6a", "6b", "7a", "7b", "8a", "8b"];
    let page = std::fs::read_to_string(out.join("hemingway.md")).unwrap();
    for name in names.into_iter().chain(["9a", "9b", "10a", "10b"]) {
        let png = std::fs::read(out.join(format!("figures/figure-{name}.png"))).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 5000, "{name}: {} bytes", png.len());
        let svg = std::fs::read_to_string(out.join(format!("figures/figure-{name}.svg"))).unwrap();
        assert!(svg.contains("Figure"), "{name}");
        let csv = std::fs::read_to_string(out.join(format!("data/figure-{name}.csv"))).unwrap();
        assert!(csv.starts_with("series,mark,x,y\n"), "{name}");
        assert!(page.contains(&format!("(figures/figure-{name}.png)")), "{name}");
    }
    assert!(page.contains("embedded:mnist") && page.contains("10,000 rows"), "{page}");
    let report = made.json();
    assert_eq!(report["figures"].as_array().unwrap().len(), 19);
    assert!(report["errors"]["suboptimality"]["median_error"].as_f64().unwrap() < 1.0, "{report}");

    let runs = |sandbox: &Sandbox| sandbox.json(&["runs", "--json"])["runs"].as_array().unwrap().len();
    let before = runs(&sandbox);
    let elsewhere = sandbox.json(&[&SHORT[..], &["--quiet", "--out", "elsewhere"]].concat());
    assert_eq!(elsewhere["errors"], report["errors"]);
    assert_eq!(runs(&sandbox), before);
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_written() {
    let sandbox = Sandbox::new();
    for (arguments, part) in [
        (["--out", "data.libsvm/figures"], "data.libsvm: it is not a directory"),
        (["--lambda", "-1"], "-1"),
        (["--rounds", "0"], "--rounds"),
        (["--data", "missing.libsvm"], "missing.libsvm"),
        (["--positive", "11"], "11"),
    ] {
        let outcome = sandbox.run(&[&["reproduce", "hemingway"][..], &arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(part), "{arguments:?}: {}", outcome.stderr);
        assert!(!sandbox.work.path().join("reproduce").exists(), "{arguments:?}");
    }
    assert!(sandbox.home_is_empty());
}
