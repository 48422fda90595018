//! No spec of generated data makes its parser panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|spec: &str| drop(hemingway_data::check_synthetic(spec)));
