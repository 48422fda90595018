//! All algorithms by family: what each needs, who can run it, what it counts, and what it takes.

use hemingway::{Entry, Needs, engines};

use crate::output;

/// Columns of the list, from left to right.
const COLUMNS: [usize; 4] = [18, 15, 13, 9];
const HEADER: [&str; 4] = ["", "needs", "engines", "counts"];

pub fn all(catalogue: &[&Entry]) -> String {
    let mut text = format!("  {}takes\n", columns(&HEADER));
    let mut families: Vec<_> = catalogue.iter().map(|entry| entry.family).collect();
    families.sort();
    families.dedup();
    for family in families {
        text += &format!("\n{}\n", console::style(capitalised(family.name())).bold());
        let of = catalogue.iter().filter(|entry| entry.family == family);
        text.extend(of.map(|entry| row(entry)));
    }
    format!("{text}\n{}", legend(catalogue))
}

/// A line of figures, and the summary below it.
fn row(entry: &Entry) -> String {
    let needs = entry.needs();
    let name = format!("{}{}", entry.name, mark(needs).map_or_else(String::new, |mark| format!(" {mark}")));
    let line = columns(&[&name, needs.word(), &who(&entry.engines()), entry.about.counts]);
    let takes: Vec<String> = entry.parameters.iter().map(|name| name.replace('_', " ")).collect();
    let takes = output::wrapped(&takes.join(", "), 2 + COLUMNS.iter().sum::<usize>());
    let line = format!("  {line}{takes}");
    format!("{}\n    {}\n", line.trim_end(), output::wrapped(entry.summary, 4))
}

/// Cells of a line, each as wide as its column.
fn columns(cells: &[&str; 4]) -> String {
    cells.iter().zip(COLUMNS).map(|(cell, width)| format!("{cell:<width$}")).collect()
}

/// `all`, `not mpi`, or those that can run it.
fn who(can: &[&str]) -> String {
    let cannot: Vec<&str> = engines().iter().copied().filter(|engine| !can.contains(engine)).collect();
    match cannot.as_slice() {
        [] => "all".to_owned(),
        [one] => format!("not {one}"),
        _ => can.join(", "),
    }
}

/// What tells apart the methods that do not wait for everyone.
fn mark(needs: Needs) -> Option<&'static str> {
    match needs.manner()? {
        "asynchronous" => Some("*"),
        _ => Some("†"),
    }
}

fn legend(catalogue: &[&Entry]) -> String {
    let marks = |mark_: &str| catalogue.iter().any(|entry| mark(entry.needs()) == Some(mark_));
    let lines = [
        ("*", "* asynchronous: no worker waits for another\n"),
        ("†", "† decentralised: workers wait for their neighbours alone\n"),
    ];
    let lines: String = lines.into_iter().filter(|(mark, _)| marks(mark)).map(|(_, line)| line).collect();
    format!("{lines}`hemingway algorithms NAME` describes one, with defaults and an example.\n")
}

/// With its first letter large.
fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}
