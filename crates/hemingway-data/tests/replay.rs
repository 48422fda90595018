//! Replays the fuzzing corpus, so that what was found once stays found without a fuzzer.

use std::path::Path;

use hemingway_data::{Format, LabelColumn, LoadOptions, check_synthetic, parse_blocks, parse_bytes};

type Target = (&'static str, fn(&[u8]));

/// Each target with what it does to the bytes.
const TARGETS: [Target; 7] = [
    ("libsvm", |bytes| parse(Some(Format::Libsvm), bytes)),
    ("csv", |bytes| parse(Some(Format::Csv), bytes)),
    ("space", |bytes| parse(Some(Format::Space), bytes)),
    ("table", table),
    ("idx", |bytes| parse(Some(Format::Idx), bytes)),
    ("packed", |bytes| parse(None, bytes)),
    ("spec", |bytes| drop(check_synthetic(&String::from_utf8_lossy(bytes)))),
];

fn parse(format: Option<Format>, bytes: &[u8]) {
    let large = parse_bytes(format, bytes, &LoadOptions::default()).map_err(|error| error.to_string());
    let small = parse_blocks(format, bytes, 5, &LoadOptions::default()).map_err(|error| error.to_string());
    assert_eq!(large, small, "blocks of another size change nothing");
}

/// As training data, and the second half of it as test data.
fn table(bytes: &[u8]) {
    let options = LoadOptions { label: LabelColumn::Last, centre: true, ..LoadOptions::default() };
    let large = parse_bytes(Format::Csv, bytes, &options).map_err(|error| error.to_string());
    let small = parse_blocks(Format::Csv, bytes, 5, &options).map_err(|error| error.to_string());
    assert_eq!(large, small, "blocks of another size change nothing");
    if let Ok(training) = large {
        let encoding = training.dataset.encoding.as_deref().cloned();
        let columns = Some(training.dataset.features.count);
        let test = LoadOptions { encoding, columns, ..LoadOptions::default() };
        drop(parse_bytes(Format::Csv, &bytes[bytes.len() / 2..], &test));
    }
}

#[test]
fn the_corpus_is_harmless() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (target, run) in TARGETS {
        let files = std::fs::read_dir(corpus.join(target))
            .unwrap_or_else(|error| panic!("corpus of {target}: {error}"));
        let paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        assert!(!paths.is_empty(), "the corpus of {target} is empty");
        for path in paths {
            println!("{}", path.display());
            run(&std::fs::read(&path).unwrap());
        }
    }
}
