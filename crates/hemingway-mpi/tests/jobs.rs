//! Jobs that cannot be used.

mod cluster;

use cluster::{tell, text};

fn check_refused(job: &str, parts: &[&str]) {
    let output = tell(2, job);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    parts.iter().for_each(|part| assert!(said.contains(part), "{part}\nnot in\n{said}"));
}

const GOOD: &str = r#"{"protocol":3,"data":{"spec":"embedded:mnist","options":{"positive":"5"}},"problem":{"loss":"logistic","lambda":1e-4,"bias":false},"seed":0,"scoring":{"every":5},"stages":[{"algorithm":"cocoa","workers":2,"stop":{"rounds":5}}]}"#;

#[test]
fn a_job_from_the_standard_input_runs() {
    let output = tell(2, GOOD);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let events: Vec<String> = said
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["event"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(events, ["hello", "loaded", "point", "finished"]);
}

#[test]
fn damage_is_named() {
    check_refused("{\"protocol\":3,", &["damaged"]);
    check_refused("", &["damaged"]);
    check_refused(&GOOD.replace("seed", "seeed"), &["damaged", "seeed"]);
    check_refused(&GOOD.replace("\"protocol\":3", "\"protocol\":99"), &["protocol 99", "same version"]);
    check_refused(&GOOD.replace("\"workers\":2", "\"workers\":3"), &["3 workers", "2 were started"]);
    let stages = &GOOD[GOOD.find("\"stages\"").unwrap()..];
    check_refused(&GOOD.replace(stages, "\"workers\":3}"), &["3 workers", "2 were started"]);
    check_refused(&GOOD.replace(stages, "\"stages\":[]}"), &["at least one stage"]);
    check_refused(&GOOD.replace("\"stages\"", "\"workers\":2,\"stages\""), &["either stages"]);
    check_refused(&GOOD.replace("cocoa", "cocao"), &["cocao", "cocoa"]);
    check_refused(&GOOD.replace("1e-4", "-1"), &["lambda", "-1"]);
    check_refused(&GOOD.replace("embedded:mnist", "/nowhere/data.libsvm"), &["/nowhere/data.libsvm"]);
    check_refused(&GOOD.replace("\"seed\"", "\"checkpoint\":\"AAAA\",\"seed\""), &["checkpoint", "damaged"]);
}

#[test]
fn a_missing_job_file_is_named() {
    let output = cluster::mpirun(2).arg("/nowhere/job.json").output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("/nowhere/job.json"), "{said}");
}
