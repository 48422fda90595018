//! Tables over MPI: ranks learn together what becomes of the columns, and it is what one process learns.

mod cluster;

use cluster::{command, text};
use serde_json::Value;

/// A column that only the last rows fill, labels that are missing, levels of which some are rare.
fn table() -> String {
    let row = |row: usize| {
        let age = if row % 7 == 0 { "NA".to_owned() } else { (20 + row * 13 % 40).to_string() };
        let late = if row < 250 { String::new() } else { format!("2024-{:02}-01", 1 + row % 12) };
        let kind = ["u", "v", "w", ""][row * row % 11 % 4];
        let kind = if row == 123 { "rare" } else { kind };
        let label =
            if row % 50 == 3 { "" } else { ["no", "yes"][usize::from(row * 31 % 101 < 40 + row % 4 * 10)] };
        format!("{row},{age},{kind},{late},{}.5,{label}\n", row % 17)
    };
    let rows: String = (0..300).map(row).collect();
    format!("id,age,kind,day,size,label\n{rows}")
}

fn train(folder: &std::path::Path, engine: &[&str]) -> Value {
    let mut command = command(folder);
    let arguments =
        ["train", "table.csv", "--drop-unlabelled", "--test", "table.csv", "--algorithm", "cocoa"];
    command.args(arguments).args(["--lambda", "1e-2", "--json"]).args(engine);
    let output = command.current_dir(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn ranks_learn_what_one_process_learns() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("table.csv"), table()).unwrap();
    let alone = train(folder.path(), &["--engine", "threads", "--workers", "1"]);
    assert_eq!(alone["dataset"]["table"]["unlabelled_rows"], 6);
    for ranks in ["2", "3"] {
        let together = train(folder.path(), &["--engine", "mpi", "--workers", ranks]);
        assert_eq!(together["dataset"]["table"], alone["dataset"]["table"]);
        assert_eq!(together["dataset"]["source"], alone["dataset"]["source"]);
        assert_eq!((&together["bias"], &together["standardise"]), (&true.into(), &true.into()));
        let difference = |name: &str| together[name].as_f64().unwrap() - alone[name].as_f64().unwrap();
        assert!(difference("test_accuracy").abs() < 0.02, "{together}");
    }
}
