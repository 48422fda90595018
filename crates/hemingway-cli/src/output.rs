//! Writing to stdout. A reader that has seen enough (`hemingway runs | head -1`) is not an error.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use serde_json::Value;

/// Prints text.
pub fn text(text: &str) -> anyhow::Result<()> {
    write(|out| out.write_all(text.as_bytes()))
}

/// Prints one JSON object on one line.
pub fn json(value: &Value) -> anyhow::Result<()> {
    write(|out| writeln!(out, "{value}"))
}

/// Prints one line per item.
pub fn lines(lines: impl Iterator<Item = String>) -> anyhow::Result<()> {
    write(|out| lines.into_iter().try_for_each(|line| writeln!(out, "{line}")))
}

/// Says something on stderr. If nobody can hear it, that is no reason to stop.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Warns on stderr.
pub fn warn(text: &str) {
    let yellow = console::Style::new().for_stderr().yellow().bold();
    note(&format!("{} {text}", yellow.apply_to("warning:")));
}

/// Prints what writes itself.
pub fn written(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    write(|out| print(out))
}

fn write(print: impl FnOnce(&mut BufWriter<StdoutLock>) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match print(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// Text in lines of at most 80 columns that begin after an indent; the first line has it already.
pub fn wrapped(text: &str, indent: usize) -> String {
    let deeper = text.len() - text.trim_start().len();
    let (mut lines, mut line) = (Vec::new(), " ".repeat(deeper));
    for word in words_with_units(text) {
        let empty = line.trim().is_empty();
        if !empty && indent + line.chars().count() + 1 + word.chars().count() > COLUMNS {
            lines.push(std::mem::replace(&mut line, " ".repeat(deeper)));
        }
        let gap = if line.trim().is_empty() { "" } else { " " };
        line = line + gap + &word;
    }
    lines.push(line);
    lines.join(&format!("\n{:indent$}", ""))
}

/// The words of a text; a unit belongs to the number before it.
fn words_with_units(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = word.trim_end_matches([',', ';', ':', ')', '.']);
        match words.last_mut() {
            Some(number) if UNITS.contains(&unit) && number.ends_with(|last: char| last.is_ascii_digit()) => {
                *number = format!("{number} {word}");
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

const UNITS: [&str; 7] = ["µs", "ms", "s", "min", "h", "days", "%"];

/// What a terminal shows in a line.
const COLUMNS: usize = 80;

/// Columns under their names, without lines.
pub fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(header.to_vec()).add_rows(rows);
    table.lines().map(|line| format!(" {}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words_and_not_before_units() {
        let text = format!("{} takes 1.84 s) and more", "x".repeat(58));
        assert_eq!(wrapped(&text, 10), format!("{} takes\n          1.84 s) and more", "x".repeat(58)));
        assert_eq!(wrapped("   indented", 2), "   indented");
        let long = "y".repeat(100);
        assert_eq!(wrapped(&long, 2), long, "what cannot be divided is not");
    }
}
