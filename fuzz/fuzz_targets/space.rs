//! No bytes make the reader of this format panic.
#![no_main]

use hemingway_data::{Format, LoadOptions, parse_bytes};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(parse_bytes(Format::Space, bytes, &LoadOptions::default())));
