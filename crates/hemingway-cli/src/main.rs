//! The hemingway command.
fn main() {}
