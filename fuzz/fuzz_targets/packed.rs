//! No bytes make unpacking and recognising the format panic.
#![no_main]

use hemingway_data::{LoadOptions, parse_bytes};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(parse_bytes(None, bytes, &LoadOptions::default())));
