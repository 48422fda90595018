//! Traces and queries as CSV text: a header that names the columns, in any order, and one record for each line.

use crate::{Error, Observation};

/// A configuration and iteration somebody asks about.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What would be run.
    pub algorithm: String,
    /// On how many workers.
    pub workers: usize,
    /// On which part of the data, above 0 and at most 1.
    pub fraction: f64,
    /// After which iteration.
    pub iteration: u64,
}

/// Reads a trace with the columns run, algorithm, workers, fraction, iteration, seconds and value. Cells of the last two
/// may be empty.
pub fn parse_trace(text: &str) -> Result<Vec<Observation>, Error> {
    let names = ["run", "algorithm", "workers", "fraction", "iteration", "seconds", "value"];
    records(text, names)?
        .map(|record| {
            let record = record?;
            Ok(Observation {
                run: record.text(0)?,
                algorithm: record.text(1)?,
                workers: record.workers(2)?,
                fraction: record.fraction(3)?,
                iteration: record.iteration(4)?,
                seconds: record.seconds(5)?,
                value: record.number(6)?,
            })
        })
        .collect()
}

/// Reads queries with the columns algorithm, workers, fraction and iteration.
pub fn parse_queries(text: &str) -> Result<Vec<Query>, Error> {
    records(text, ["algorithm", "workers", "fraction", "iteration"])?
        .map(|record| {
            let record = record?;
            Ok(Query {
                algorithm: record.text(0)?,
                workers: record.workers(1)?,
                fraction: record.fraction(2)?,
                iteration: record.iteration(3)?,
            })
        })
        .collect()
}

/// The cells of one line, in the order of the expected names.
struct Record<const N: usize> {
    line: usize,
    names: [&'static str; N],
    cells: [String; N],
}

/// The records below a header that has all these names. Other columns are left alone.
fn records<const N: usize>(
    text: &str,
    names: [&'static str; N],
) -> Result<impl Iterator<Item = Result<Record<N>, Error>>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines =
        text.lines().enumerate().map(|(k, line)| (k + 1, line)).filter(|(_, l)| !l.trim().is_empty());
    let Some((line, header)) = lines.next() else {
        return Err(problem(1, format!("no header\nhint: begin with {}", names.join(","))));
    };
    let header = cells(line, header)?;
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(names) {
        let mut found = (0..header.len()).filter(|&k| header[k].eq_ignore_ascii_case(name));
        *place = found.next().ok_or_else(|| {
            problem(line, format!("no column {name}\nhint: the header must name {}", names.join(",")))
        })?;
        if found.next().is_some() {
            return Err(problem(line, format!("two columns {name}\nhint: leave one out")));
        }
    }
    let width = header.len();
    Ok(lines.map(move |(line, text)| {
        let mut found = cells(line, text)?;
        if found.len() != width {
            let counts = format!("{} cells where the header has {width}", found.len());
            return Err(problem(
                line,
                format!("{counts}\nhint: write an empty cell where a figure is unknown"),
            ));
        }
        Ok(Record { line, names, cells: places.map(|place| std::mem::take(&mut found[place])) })
    }))
}

/// Splits a line at commas outside quotes; quotes are doubled inside quotes, blanks around a cell do not count.
fn cells(line: usize, text: &str) -> Result<Vec<String>, Error> {
    let mut cells = Vec::new();
    let mut rest = text.trim();
    loop {
        let (cell, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_cell(quoted).ok_or_else(|| {
                problem(line, "a quote is not closed\nhint: close it with \" on the same line".to_owned())
            })?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].trim().to_owned(), &rest[end..])
            }
        };
        cells.push(cell);
        match after.trim_start() {
            "" => return Ok(cells),
            after => match after.strip_prefix(',') {
                Some(next) => rest = next.trim_start(),
                None => {
                    return Err(problem(
                        line,
                        format!("{after:?} after a quoted cell\nhint: put a comma between"),
                    ));
                }
            },
        }
    }
}

/// The cell up to its closing quote, and what follows.
fn quoted_cell(text: &str) -> Option<(String, &str)> {
    let mut cell = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"')?;
        cell.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                cell.push('"');
                rest = after;
            }
            None => return Some((cell, rest)),
        }
    }
}

impl<const N: usize> Record<N> {
    fn text(&self, column: usize) -> Result<String, Error> {
        match self.cells[column].as_str() {
            "" => Err(self.problem(column, "give it a name")),
            text => Ok(text.to_owned()),
        }
    }

    fn workers(&self, column: usize) -> Result<usize, Error> {
        match self.cells[column].parse() {
            Ok(workers) if workers > 0 => Ok(workers),
            _ => Err(self.problem(column, "it must be a whole number from 1")),
        }
    }

    fn iteration(&self, column: usize) -> Result<u64, Error> {
        self.cells[column].parse().map_err(|_| self.problem(column, "it must be a whole number from 0"))
    }

    fn fraction(&self, column: usize) -> Result<f64, Error> {
        match self.number(column)? {
            Some(fraction) if fraction > 0.0 && fraction <= 1.0 => Ok(fraction),
            _ => Err(self.problem(column, "it must be above 0 and at most 1, where 1 is all data")),
        }
    }

    fn seconds(&self, column: usize) -> Result<Option<f64>, Error> {
        match self.number(column)? {
            Some(seconds) if seconds < 0.0 => Err(self.problem(column, "it must not be negative")),
            seconds => Ok(seconds),
        }
    }

    fn number(&self, column: usize) -> Result<Option<f64>, Error> {
        match self.cells[column].as_str() {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Some(number)),
                _ => Err(self.problem(column, "it must be a finite number, or empty when unknown")),
            },
        }
    }

    fn problem(&self, column: usize, hint: &str) -> Error {
        problem(self.line, format!("{} is {:?}\nhint: {hint}", self.names[column], self.cells[column]))
    }
}

fn problem(line: usize, problem: String) -> Error {
    Error::Line { line, problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: &str = "run,algorithm,workers,fraction,iteration,seconds,value";

    #[test]
    fn columns_in_any_order_with_empty_cells() {
        let text = "\u{feff}workers, run ,Value,seconds,iteration,fraction,algorithm\r\n4,a,,1.5,1,0.25,cocoa\r\n\r\n8,\"b, \"\"2\"\"\",1e-3,,20,1,cocoa\r\n";
        let trace = parse_trace(text).unwrap();
        assert_eq!(trace.len(), 2);
        assert_eq!((trace[0].workers, trace[0].seconds, trace[0].value), (4, Some(1.5), None));
        assert_eq!((trace[1].run.as_str(), trace[1].seconds, trace[1].value), ("b, \"2\"", None, Some(1e-3)));
        assert_eq!((trace[1].iteration, trace[1].fraction), (20, 1.0));
    }

    #[test]
    fn queries() {
        let queries = parse_queries("algorithm,workers,fraction,iteration\nsgd,64,1.0,100").unwrap();
        assert_eq!(queries, [Query { algorithm: "sgd".into(), workers: 64, fraction: 1.0, iteration: 100 }]);
    }

    #[test]
    fn problems_name_line_and_value() {
        let check = |record: &str, expected: &str| {
            let message =
                parse_trace(&format!("{HEADER}\na,x,1,1,1,1,\n{record}\n")).unwrap_err().to_string();
            assert_eq!(message, expected);
        };
        check("a,x,0,1,1,1,", "line 3: workers is \"0\"\nhint: it must be a whole number from 1");
        check("a,x,1,1,-1,1,", "line 3: iteration is \"-1\"\nhint: it must be a whole number from 0");
        check("a,x,1,1,1,-2,", "line 3: seconds is \"-2\"\nhint: it must not be negative");
        check(
            "a,x,1,1,1,NaN,",
            "line 3: seconds is \"NaN\"\nhint: it must be a finite number, or empty when unknown",
        );
        check(
            "a,x,1,1.5,1,1,",
            "line 3: fraction is \"1.5\"\nhint: it must be above 0 and at most 1, where 1 is all data",
        );
        check(
            "a,x,1",
            "line 3: 3 cells where the header has 7\nhint: write an empty cell where a figure is unknown",
        );
        check("\"a,x,1,1,1,1,", "line 3: a quote is not closed\nhint: close it with \" on the same line");
    }

    #[test]
    fn headers_are_checked() {
        let message = |text: &str| parse_trace(text).unwrap_err().to_string();
        assert_eq!(message(""), format!("line 1: no header\nhint: begin with {HEADER}"));
        assert!(message("run,algorithm\n").starts_with("line 1: no column workers"));
        assert_eq!(parse_trace(&format!("{HEADER},note\na,x,1,1,1,1,,hello\n")).unwrap().len(), 1);
        assert!(message(&format!("{HEADER},value\n")).starts_with("line 1: two columns value"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z0-9,.\"\r\n -]{0,80}") {
            let _ = parse_trace(&format!("{HEADER}\n{text}"));
            let _ = parse_queries(&text);
        }
    }
}
