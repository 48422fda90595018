//! What holds for any input: parsers never panic, blocks do not matter, and what is written is read back.

use hemingway_data::{Dataset, Format, LabelColumn, LoadOptions, Matrix, parse_blocks, parse_bytes};
use proptest::prelude::*;

/// Rows of values, many of them zero, each with a label.
fn rows() -> impl Strategy<Value = Vec<(bool, Vec<f32>)>> {
    let value =
        prop_oneof![2 => Just(0.0f32), 1 => any::<f32>().prop_filter("finite", |value| value.is_finite())];
    (1usize..12).prop_flat_map(move |width| {
        prop::collection::vec((any::<bool>(), prop::collection::vec(value.clone(), width)), 1..30)
    })
}

fn write_libsvm(rows: &[(bool, Vec<f32>)]) -> String {
    let pair = |(index, value): (usize, &f32)| format!(" {}:{value}", index + 1);
    let line = |(label, row): &(bool, Vec<f32>)| {
        let last = row.len() - 1;
        let kept = row.iter().enumerate().filter(|(index, value)| **value != 0.0 || *index == last);
        format!("{}{}\n", if *label { "+1" } else { "-1" }, kept.map(pair).collect::<String>())
    };
    rows.iter().map(line).collect()
}

fn write_csv(rows: &[(bool, Vec<f32>)]) -> String {
    let line = |(label, row): &(bool, Vec<f32>)| {
        let values: Vec<String> = row.iter().map(f32::to_string).collect();
        format!("{},{}\n", values.join(","), if *label { "yes" } else { "no" })
    };
    rows.iter().map(line).collect()
}

/// All values, zeros included, with -0 as 0.
fn values(matrix: &Matrix) -> Vec<f32> {
    match matrix {
        Matrix::Dense(dense) => dense.values().iter().map(|value| value + 0.0).collect(),
        Matrix::Sparse(sparse) => {
            let mut values = vec![0.0; sparse.rows() * sparse.columns()];
            for (row, bounds) in sparse.offsets().windows(2).enumerate() {
                for position in bounds[0]..bounds[1] {
                    values[row * sparse.columns() + sparse.indices()[position] as usize] =
                        sparse.values()[position];
                }
            }
            values
        }
    }
}

fn options(rows: &[(bool, Vec<f32>)], label: LabelColumn) -> LoadOptions {
    let one_class = rows.iter().all(|(label, _)| *label == rows[0].0);
    LoadOptions { label: if one_class { LabelColumn::Absent } else { label }, ..LoadOptions::default() }
}

fn check(dataset: &Dataset, rows: &[(bool, Vec<f32>)]) {
    let expect: Vec<f32> = rows.iter().flat_map(|(_, row)| row.iter().map(|value| value + 0.0)).collect();
    assert_eq!(values(&dataset.matrix), expect);
    if !dataset.targets.is_empty() {
        let expect: Vec<f32> = rows.iter().map(|(label, _)| if *label { 1.0 } else { -1.0 }).collect();
        assert_eq!(dataset.targets, expect);
    }
}

fn outcome(format: Option<Format>, bytes: &[u8], block: usize) -> Result<hemingway_data::Loaded, String> {
    parse_blocks(format, bytes, block, &LoadOptions::default()).map_err(|error| error.to_string())
}

proptest! {
    #[test]
    fn libsvm_is_read_as_written(rows in rows()) {
        let text = write_libsvm(&rows);
        let loaded = parse_bytes(Format::Libsvm, text.as_bytes(), &options(&rows, LabelColumn::Auto)).unwrap();
        check(&loaded.dataset, &rows);
    }

    #[test]
    fn csv_is_read_as_written(rows in rows()) {
        let options = options(&rows, LabelColumn::Last);
        prop_assume!(options.label == LabelColumn::Last);
        let loaded = parse_bytes(Format::Csv, write_csv(&rows).as_bytes(), &options).unwrap();
        check(&loaded.dataset, &rows);
    }

    #[test]
    fn blocks_do_not_matter(rows in rows(), block in 1usize..200) {
        for (format, text) in [(Format::Libsvm, write_libsvm(&rows)), (Format::Csv, write_csv(&rows))] {
            prop_assert_eq!(outcome(Some(format), text.as_bytes(), block), outcome(Some(format), text.as_bytes(), 1 << 20));
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), block in 1usize..50) {
        for format in [None, Some(Format::Libsvm), Some(Format::Csv), Some(Format::Tsv), Some(Format::Idx)] {
            prop_assert_eq!(outcome(format, &bytes, block), outcome(format, &bytes, 1 << 20));
        }
    }

    #[test]
    fn nearly_valid_text_does_not_panic(text in "([-+.:,;\t\n\r \"#0-9enaqid]{0,6}(1:|,|\n|1)){0,30}", block in 1usize..50) {
        for format in [None, Some(Format::Libsvm), Some(Format::Csv), Some(Format::Tsv)] {
            let (small, large) = (outcome(format, text.as_bytes(), block), outcome(format, text.as_bytes(), 1 << 20));
            prop_assert_eq!(small, large);
        }
    }
}
