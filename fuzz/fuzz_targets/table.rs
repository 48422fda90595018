//! No bytes make the reader of tables panic, and no other bytes when they are read with what was learnt from the first.
#![no_main]

use hemingway_data::{Format, LabelColumn, LoadOptions, parse_bytes};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let options = LoadOptions { label: LabelColumn::Last, centre: true, ..LoadOptions::default() };
    if let Ok(training) = parse_bytes(Format::Csv, bytes, &options) {
        let encoding = training.dataset.encoding.as_deref().cloned();
        let columns = Some(training.dataset.features.count);
        let test = LoadOptions { encoding, columns, ..LoadOptions::default() };
        drop(parse_bytes(Format::Csv, &bytes[bytes.len() / 2..], &test));
    }
});
