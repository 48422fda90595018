//! Writing to stdout. A reader that has seen enough (`hemingway runs | head -1`) is not an error.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use serde_json::Value;

/// Prints text.
pub fn text(text: &str) -> anyhow::Result<()> {
    write(|out| out.write_all(text.as_bytes()))
}

/// Prints text that something else made.
pub fn bytes(bytes: &[u8]) -> anyhow::Result<()> {
    write(|out| out.write_all(bytes))
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

/// How wide tables may be: as the terminal, and no narrower than other text.
pub fn width() -> usize {
    let terminal = console::Term::stdout().size_checked();
    terminal.map_or(COLUMNS, |(_, columns)| usize::from(columns).max(COLUMNS))
}

/// A column of a table that has to fit.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    name: &'static str,
    role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    /// It is always shown as a whole.
    Fixed,
    /// Its texts may be shortened.
    Flexible,
    /// It is left out where there is no room, the lowest number first.
    Optional(u8),
}

impl Column {
    pub const fn fixed(name: &'static str) -> Column {
        Column { name, role: Role::Fixed }
    }

    pub const fn flexible(name: &'static str) -> Column {
        Column { name, role: Role::Flexible }
    }

    pub const fn optional(name: &'static str, leaves: u8) -> Column {
        Column { name, role: Role::Optional(leaves) }
    }

    fn leaves(&self) -> Option<u8> {
        match self.role {
            Role::Optional(leaves) => Some(leaves),
            Role::Fixed | Role::Flexible => None,
        }
    }
}

/// A table that fits a width, and the names of the columns it leaves out for that. What still does not fit is shortened,
/// the longest texts first, to no less than a few letters.
pub fn fitted_table(
    columns: &[Column],
    rows: impl Iterator<Item = Vec<String>>,
    width: usize,
) -> (String, Vec<&'static str>) {
    let mut columns = columns.to_vec();
    let mut rows: Vec<Vec<String>> = rows.collect();
    let mut left_out = Vec::new();
    while taken(&widths(&columns, &rows)) > width {
        let leaving = (0..columns.len()).filter_map(|at| Some((columns[at].leaves()?, at))).min();
        let Some((_, at)) = leaving else { break };
        left_out.push(columns.remove(at).name);
        rows.iter_mut().for_each(|row| drop(row.remove(at)));
    }
    shorten(&columns, &mut rows, width);
    let header: Vec<&str> = columns.iter().map(|column| column.name).collect();
    (table(&header, rows.into_iter()), left_out)
}

/// Texts are not shortened to less than this.
const SHORTEST: usize = 8;

fn shorten(columns: &[Column], rows: &mut [Vec<String>], width: usize) {
    let mut widths = widths(columns, rows);
    while taken(&widths) > width {
        let flexible = (0..columns.len()).filter(|at| columns[*at].role == Role::Flexible);
        match flexible.max_by_key(|at| widths[*at]) {
            Some(widest) if widths[widest] > SHORTEST.max(columns[widest].name.len()) => widths[widest] -= 1,
            _ => break,
        }
    }
    for row in rows {
        for (text, width) in row.iter_mut().zip(&widths) {
            if console::measure_text_width(text) > *width {
                *text = console::truncate_str(text, *width, "…").into_owned();
            }
        }
    }
}

fn widths(columns: &[Column], rows: &[Vec<String>]) -> Vec<usize> {
    let of = |at: usize| {
        let texts = rows.iter().map(|row| console::measure_text_width(&row[at]));
        texts.max().unwrap_or(0).max(columns[at].name.len())
    };
    (0..columns.len()).map(of).collect()
}

/// The columns of a terminal that a table with columns of these widths takes.
fn taken(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + GAP).sum()
}

/// Between columns, and before the first.
const GAP: usize = 2;

/// Columns under their names, without lines.
pub fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(header.to_vec()).add_rows(rows);
    table.lines().map(|line| format!(" {}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: [Column; 4] = [
        Column::fixed("run"),
        Column::flexible("data"),
        Column::optional("size", 2),
        Column::optional("loss", 1),
    ];

    fn row() -> Vec<String> {
        ["k3f9q", "a-dataset-with-a-long-name", "1.2 MB", "logistic"].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_table_leaves_columns_out_and_then_shortens_texts_to_fit() {
        let of = |width| fitted_table(&TABLE, [row(), row()].into_iter(), width);
        let (all, left_out) = of(53);
        assert!(left_out.is_empty() && all.contains("logistic"), "{all}");
        for (width, expected) in [(52, &["loss"][..]), (42, &["loss", "size"]), (20, &["loss", "size"])] {
            let (text, left_out) = of(width);
            assert_eq!(left_out, expected, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
        }
        assert!(of(20).0.contains("a-datase") && of(20).0.contains('…'), "{}", of(20).0);
    }

    #[test]
    fn a_table_is_as_wide_as_was_counted() {
        let (text, _) = fitted_table(&TABLE, [row()].into_iter(), 200);
        let widest = text.lines().map(|line| line.chars().count()).max();
        let counted = widths(&TABLE, &[row()]);
        assert_eq!(widest, Some(taken(&counted)));
    }

    #[test]
    fn lines_end_between_words_and_not_before_units() {
        let text = format!("{} takes 1.84 s) and more", "x".repeat(58));
        assert_eq!(wrapped(&text, 10), format!("{} takes\n          1.84 s) and more", "x".repeat(58)));
        assert_eq!(wrapped("   indented", 2), "   indented");
        let long = "y".repeat(100);
        assert_eq!(wrapped(&long, 2), long, "what cannot be divided is not");
    }
}
