//! What can go wrong with data, said so that the reader can act on it.
//!
//! Every message names the file or spec, the line where there is one, the offending value, and on a line of its
//! own a `hint:` with the next step. Parsers work on blocks and know neither the file nor how many lines came
//! before, so they return a [`LineProblem`], which the reading loop wraps into [`Error::Line`].

use std::io;

use crate::joined::Places;
use crate::limit::size;

/// Why data could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such file.
    #[error("{file}: no such file\nhint: {}", near_hint(.near))]
    Missing {
        /// The path as given.
        file: String,
        /// Names in the same folder that look alike.
        near: Vec<String>,
    },
    /// A folder without part files.
    #[error(
        "{file}: this is a folder, and no data files are in it\nhint: name a folder that has some, or a file"
    )]
    Directory {
        /// The path as given.
        file: String,
    },
    /// A folder with files of several kinds.
    #[error(
        "{folder}: this folder has files of several kinds: {kinds}\nhint: name those that are meant, for example '{folder}/*.csv'"
    )]
    MixedFolder {
        /// The path as given.
        folder: String,
        /// The endings of the names with their counts.
        kinds: String,
    },
    /// A pattern that cannot be read.
    #[error(
        "{pattern}: not a pattern of file names: {problem}\nhint: * stands for any letters, ? for one, [ab] for one of these"
    )]
    Pattern {
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A pattern without files.
    #[error("{pattern}: no file matches this pattern\nhint: check the folder and the ending of the names")]
    NoMatch {
        /// The pattern as given.
        pattern: String,
    },
    /// A file of several with other columns.
    #[error(
        "{file}: column {column} is {found}, but {expected} in the first file\nhint: all files of one dataset have the same columns in the same order"
    )]
    OtherHeader {
        /// The file.
        file: String,
        /// The first column that differs, from 1.
        column: usize,
        /// Its name here.
        found: String,
        /// Its name in the first file.
        expected: String,
    },
    /// Several files of a format that lies in one.
    #[error("{file}: several {format} files cannot be put together\nhint: name one of them")]
    NotJoined {
        /// The spec as given.
        file: String,
        /// The format.
        format: String,
    },
    /// Standard input could not be kept.
    #[error(
        "standard input: it cannot be read or kept in {folder}: {source}\nhint: TMPDIR names another folder; or write the data to a file and name that"
    )]
    Spool {
        /// The folder of temporary files.
        folder: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// The operating system refused.
    #[error("{file}: cannot be read: {source}\nhint: check the permissions and the disk")]
    Read {
        /// The path as given.
        file: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// No rows at all.
    #[error(
        "{file}: no rows: the file is empty or holds only blank lines, comments or a header\nhint: check that it was written completely"
    )]
    Empty {
        /// The path as given.
        file: String,
    },
    /// Rows, but not one feature.
    #[error(
        "{file}: {rows} rows but no features\nhint: check the format ({format} was assumed); --format names another"
    )]
    NoFeatures {
        /// The path as given.
        file: String,
        /// Rows read.
        rows: usize,
        /// The format it was read as.
        format: String,
    },
    /// The compressed stream stops before its end.
    #[error(
        "{file}: the {packing} stream ends early, after {unpacked} unpacked bytes\nhint: the download or copy was cut short; fetch the file again"
    )]
    TruncatedPacking {
        /// The path as given.
        file: String,
        /// The kind of compression.
        packing: &'static str,
        /// Bytes unpacked before the end.
        unpacked: u64,
    },
    /// The compressed stream is damaged.
    #[error(
        "{file}: the {packing} stream is damaged after {unpacked} unpacked bytes: {source}\nhint: fetch the file again"
    )]
    CorruptPacking {
        /// The path as given.
        file: String,
        /// The kind of compression.
        packing: &'static str,
        /// Bytes unpacked before the damage.
        unpacked: u64,
        /// What the decompressor said.
        source: io::Error,
    },
    /// The content is none of the formats.
    #[error(
        "{file}: not recognised as {known}; it starts with {start}\nhint: name the format with --format if it is one of these"
    )]
    UnknownFormat {
        /// The path as given.
        file: String,
        /// The formats there are.
        known: String,
        /// The first bytes, made readable.
        start: String,
    },
    /// A format that is not read.
    #[error("{file}: this is {kind}; what can be read is {known}\nhint: {hint}")]
    Foreign {
        /// The path as given.
        file: String,
        /// What it is.
        kind: &'static str,
        /// The formats there are.
        known: String,
        /// What to do.
        hint: &'static str,
    },
    /// `--format` with a name that is none.
    #[error("no format is called “{name}”\nhint: the formats are {known}")]
    UnknownFormatName {
        /// The name as given.
        name: String,
        /// The formats there are.
        known: String,
    },
    /// `--delimiter` with something that cannot be one.
    #[error(
        "“{text}” cannot stand between fields\nhint: --delimiter takes one character like ; or |, or the word tab or space"
    )]
    Delimiter {
        /// The text as given.
        text: String,
    },
    /// A delimiter for a format that has its own.
    #[error("{format} data has no delimiter to choose\nhint: leave --delimiter away, or pass --format csv")]
    DelimiterOfTables {
        /// The format.
        format: String,
    },
    /// A line that cannot be understood.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// The path as given.
        file: String,
        /// The line, counted from 1; of the unpacked content when the file is compressed.
        line: usize,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// Nothing to tell apart.
    #[error(
        "{file}: all {count} rows have the label “{class}”; two classes are needed\nhint: check which column is the label (--label), or pass --regression"
    )]
    OneClass {
        /// The path as given.
        file: String,
        /// The only label.
        class: String,
        /// How often it occurs.
        count: usize,
    },
    /// More than two classes, and none was picked.
    #[error(
        "{file}: {found} classes found: {classes}\nhint: pick one against the rest with --positive VALUE, or pass --regression if the labels are quantities"
    )]
    ManyClasses {
        /// The path as given.
        file: String,
        /// How many classes.
        found: usize,
        /// The first of them with their counts.
        classes: String,
    },
    /// So many classes that they may be none.
    #[error(
        "{file}: {found} classes found, and at most {most} are told apart: {classes}\nhint: pass --regression if the labels are quantities, or pick one class against the rest with --positive VALUE"
    )]
    ClassesBeyondLimit {
        /// The path as given.
        file: String,
        /// How many classes.
        found: usize,
        /// How many there may be.
        most: usize,
        /// The first of them with their counts.
        classes: String,
    },
    /// The class picked as positive does not occur.
    #[error(
        "{file}: no row has the label “{positive}”\nhint: --positive takes one of the labels found: {classes}"
    )]
    UnknownPositive {
        /// The path as given.
        file: String,
        /// The class asked for.
        positive: String,
        /// The classes with their counts.
        classes: String,
    },
    /// A label the training data did not have.
    #[error(
        "{file}:{line}: the label “{label}” is not in the training data, which has {known}\nhint: check which column is the label (--label), or pass --label none if there is none"
    )]
    UnknownLabel {
        /// The path as given.
        file: String,
        /// The first line with this label, from 1.
        line: usize,
        /// The label.
        label: String,
        /// The first of the training labels.
        known: String,
    },
    /// A weight that is not a finite number of 0 or more.
    #[error(
        "{file}: the weight of row {row} is {weight}\nhint: weights are finite numbers of 0 or more; 0 leaves a row out"
    )]
    RowWeight {
        /// The path or spec as given.
        file: String,
        /// The row, counted from 1.
        row: usize,
        /// Its weight.
        weight: f32,
    },
    /// No row counts.
    #[error("{file}: all rows have weight 0\nhint: give at least one row a positive weight")]
    NoWeight {
        /// The path or spec as given.
        file: String,
    },
    /// A text that is no [`ClassWeight`](crate::ClassWeight).
    #[error(
        "class weights “{text}”: {problem}\nhint: write balanced, or a number for each class: NAME=WEIGHT,…"
    )]
    ClassWeight {
        /// The text as given.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A weight for a class that does not occur.
    #[error("{file}: no class “{class}”, for which there is a weight\nhint: {}", class_hint(.class, .classes))]
    UnknownClass {
        /// The path or spec as given.
        file: String,
        /// The class.
        class: String,
        /// Those that do occur.
        classes: Vec<String>,
    },
    /// Weights of classes where there are none.
    #[error(
        "{file}: class weights need classes, but its labels are quantities\nhint: leave --class-weight away, or --regression; with --loss squared, name a class with --positive"
    )]
    ClassWeightOfNumbers {
        /// The path or spec as given.
        file: String,
    },
    /// A class without weight.
    #[error(
        "{file}: all rows of the class “{class}” have weight 0, so it cannot be balanced\nhint: leave --class-weight balanced away, or give its rows a weight"
    )]
    NothingToBalance {
        /// The path or spec as given.
        file: String,
        /// The class.
        class: String,
    },
    /// No column of that name or number.
    #[error("{file}: no column {wanted}\nhint: {}the {count} columns are {columns}", did_you_mean(.near))]
    NoSuchColumn {
        /// The path as given.
        file: String,
        /// What was asked for.
        wanted: String,
        /// A name that looks alike.
        near: Option<String>,
        /// How many columns there are.
        count: usize,
        /// The first of them.
        columns: String,
    },
    /// Several columns might be the label, or none looks like one.
    #[error("{file}: it is not clear which column is the label; those with few values are {candidates}\nhint: name it, for example with --label {}", shell_word(.example))]
    UnclearLabel {
        /// The path as given.
        file: String,
        /// Columns that may be it.
        candidates: String,
        /// One of them.
        example: String,
    },
    /// Test data without columns that the model has weights for.
    #[error("{file}: the model needs {missing}, which {} not among the columns {columns}\nhint: {}columns are matched by name, in any order", is_or_are(.missing), did_you_mean(.near))]
    MissingColumns {
        /// The path as given.
        file: String,
        /// The columns that are missing.
        missing: String,
        /// Names that look alike.
        near: Option<String>,
        /// The first of the columns there are.
        columns: String,
    },
    /// Test data without names, where the training data has some.
    #[error(
        "{file}: the model knows its columns by name, but this file begins without names: {start}\nhint: put the header line of the training data in front"
    )]
    NoHeader {
        /// The path as given.
        file: String,
        /// Its first line.
        start: String,
    },
    /// Test data with names, where the training data has none.
    #[error(
        "{file}: the model knows its columns by their places, but this file begins with names: {start}\nhint: take the header line away, and check that the columns are in the order of the training data"
    )]
    Header {
        /// The path as given.
        file: String,
        /// Its first line.
        start: String,
    },
    /// Columns are named where there are none.
    #[error(
        "{file}: {format} data has no columns with names\nhint: --drop, --keep, --text, --number, --weight and --id are for tables; --format names another format"
    )]
    NoColumns {
        /// The path as given.
        file: String,
        /// The format.
        format: &'static str,
    },
    /// Test data that is no table, of a model of one.
    #[error(
        "{file}: this is {format} data, but the model was trained on a table\nhint: give it a table with the same columns; --format names another format"
    )]
    NotATable {
        /// The path as given.
        file: String,
        /// The format.
        format: &'static str,
    },
    /// Test data with another number of columns than the training data, neither of which has names.
    #[error(
        "{file}: {found} columns, but the training data has {expected}, with its label\nhint: without names columns are known by their places: give the same columns in the same order, with or without the label"
    )]
    WrongWidth {
        /// The path as given.
        file: String,
        /// Columns in training, with the label.
        expected: usize,
        /// Columns here.
        found: usize,
    },
    /// A label column was picked where the format fixes it.
    #[error(
        "{file}: the label column cannot be picked in {format} data, where {place}\nhint: leave --label away, or pass --label none to ignore the labels"
    )]
    FixedLabel {
        /// The path as given.
        file: String,
        /// The format.
        format: String,
        /// Where the format keeps its labels.
        place: &'static str,
    },
    /// `--label 0`.
    #[error(
        "label column “{text}”: columns are counted from 1\nhint: pass 1 for the first column, or first, last, none or a column name"
    )]
    LabelNumber {
        /// The text as given.
        text: String,
    },
    /// Test data narrower than the training data.
    #[error(
        "{file}: {found} feature columns, but the training data has {expected}\nhint: give the same columns in the same order; check --label"
    )]
    FewerColumns {
        /// The path as given.
        file: String,
        /// Features in training.
        expected: usize,
        /// Features here.
        found: usize,
    },
    /// An IDX header that does not fit.
    #[error("{file}: {problem}\nhint: {hint}")]
    IdxHeader {
        /// The path as given.
        file: String,
        /// What does not fit, with the values.
        problem: String,
        /// What to do.
        hint: &'static str,
    },
    /// The IDX file holds fewer or more bytes than its header says.
    #[error(
        "{file}: the header promises {expected} bytes of data, but {found} follow\nhint: the file was cut short or damaged; fetch it again"
    )]
    IdxLength {
        /// The path as given.
        file: String,
        /// Bytes by the header.
        expected: u64,
        /// Bytes there.
        found: String,
    },
    /// No labels beside the images.
    #[error(
        "{file}: no labels beside these images; looked for {tried}\nhint: put the labels file there, or pass --label none"
    )]
    IdxLabelsMissing {
        /// The path as given.
        file: String,
        /// The names looked for.
        tried: String,
    },
    /// Images and labels differ in number.
    #[error(
        "{images}: {rows} images, but {labels} has {count} labels\nhint: the two files do not belong together"
    )]
    IdxCounts {
        /// The images file.
        images: String,
        /// Its images.
        rows: usize,
        /// The labels file.
        labels: String,
        /// Its labels.
        count: usize,
    },
    /// No generator of that name.
    #[error("{spec}: no generated data is called “{name}”\nhint: {}the names are {known}", nearest_hint(.nearest))]
    UnknownGenerator {
        /// The spec as given.
        spec: String,
        /// The name in it.
        name: String,
        /// The most similar name.
        nearest: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// No embedded data of that name.
    #[error("{spec}: no embedded data is called “{name}”\nhint: there is {known}")]
    UnknownEmbedded {
        /// The spec as given.
        spec: String,
        /// The name in it.
        name: String,
        /// What there is.
        known: &'static str,
    },
    /// A setting the generator does not have.
    #[error("{spec}: “{name}” has no setting “{key}”\nhint: {}its settings are {known}", nearest_hint(.nearest))]
    UnknownKey {
        /// The spec as given.
        spec: String,
        /// The generator.
        name: &'static str,
        /// The setting.
        key: String,
        /// The most similar setting.
        nearest: Option<&'static str>,
        /// All settings.
        known: String,
    },
    /// A setting whose value cannot be used.
    #[error("{spec}: {key}={value} cannot be used: {key} is {expected}\nhint: write for example {example}")]
    BadSetting {
        /// The spec as given.
        spec: String,
        /// The setting.
        key: String,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
        /// One that works.
        example: String,
    },
    /// More generated values than fit.
    #[error(
        "{spec}: {rows} rows × {per_row} values are {values} values; at most {limit} can be generated\nhint: ask for fewer rows or features"
    )]
    TooLarge {
        /// The spec as given.
        spec: String,
        /// Rows asked for.
        rows: u64,
        /// Values in each.
        per_row: u64,
        /// Their product.
        values: u128,
        /// The limit.
        limit: u64,
    },
    /// More than the memory that may be used.
    #[error("{file}: {what} about {}, but the memory limit is {}\nhint: use fewer rows, a machine with more memory, or another --memory-limit", size(*.bytes), size(*.limit))]
    OverLimit {
        /// The path or spec as given.
        file: String,
        /// What needs it, with a verb.
        what: String,
        /// Bytes that are needed.
        bytes: u64,
        /// Bytes that may be used.
        limit: u64,
    },
    /// The system gives no more memory.
    #[error("{file}: the system refuses {} of memory for its rows\nhint: use fewer rows or a machine with more memory; check ulimit -v", size(*.bytes))]
    NoMemory {
        /// The path or spec as given.
        file: String,
        /// Bytes that were asked for.
        bytes: u64,
    },
    /// Nothing is wrong here, but another worker that loads the same dataset failed.
    #[error("loading failed on worker {rank}")]
    Elsewhere {
        /// The worker, from 0.
        rank: usize,
    },
    /// Workers that would get no row.
    #[error("{file}: {workers} workers are more than its {rows} rows\nhint: use at most {rows}")]
    TooManyWorkers {
        /// The path or spec as given.
        file: String,
        /// Workers that load together.
        workers: usize,
        /// Rows there are.
        rows: usize,
    },
    /// Something that can be read only once, where each worker has to read for itself.
    #[error(
        "{file}: several workers can only read an ordinary file, which this is not\nhint: write the data to a file that all workers see"
    )]
    NotAFile {
        /// The path as given.
        file: String,
    },
    /// The workers did not all see the same content all the time.
    #[error(
        "{file}: the file changed while it was read, or is another one for another worker\nhint: wait until it is written completely, and give all workers the same file"
    )]
    Changed {
        /// The path as given.
        file: String,
    },
}

impl Error {
    /// The same error with the file of several that its line is in. Other errors, and those of other datasets, stay.
    pub(crate) fn located(mut self, dataset: &str, places: &Places) -> Error {
        if let Error::Line { file, line, .. } | Error::UnknownLabel { file, line, .. } = &mut self
            && file == dataset
            && let Some((part, line_there)) = places.locate(*line)
        {
            (*file, *line) = (part, line_there);
        }
        self
    }
}

/// What is wrong with one line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// Text where a number belongs.
    #[error("{place} is “{text}”, which is not a number\nhint: {hint}")]
    NotANumber {
        /// Which value.
        place: String,
        /// What stands there.
        text: String,
        /// What to do.
        hint: &'static str,
    },
    /// Text where a date belongs.
    #[error("{place} is “{text}”, which is not a date like those above it\nhint: {hint}")]
    NotADate {
        /// Which value.
        place: String,
        /// What stands there.
        text: String,
        /// What to do.
        hint: &'static str,
    },
    /// Nothing where a number belongs, in a table of plain numbers.
    #[error("{place} is missing\nhint: fill it in")]
    MissingNumber {
        /// Which value.
        place: String,
    },
    /// A row without a label.
    #[error(
        "the label is missing (“{text}”)\nhint: fill it in, or pass --drop-unlabelled to leave such rows out, or --label none to predict without labels"
    )]
    MissingLabel {
        /// What stands there.
        text: String,
    },
    /// A weight that is none.
    #[error("{place} is “{text}”, which is not a weight\nhint: weights are numbers from 0 up")]
    NotAWeight {
        /// Which value.
        place: String,
        /// What stands there.
        text: String,
    },
    /// NaN, an infinity, or a number too large for `f32`.
    #[error(
        "{place} is “{text}”, which is not a finite 32-bit number\nhint: remove the row or replace the value"
    )]
    NotFinite {
        /// Which value.
        place: String,
        /// What stands there.
        text: String,
    },
    /// A token that is no `index:value`.
    #[error(
        "“{text}” is not an index:value pair\nhint: LIBSVM lines are LABEL INDEX:VALUE INDEX:VALUE …; --format names another format"
    )]
    NotAPair {
        /// The token.
        text: String,
    },
    /// An index that is no whole number.
    #[error("“{index}” in “{text}” is not an index\nhint: indices are whole numbers")]
    BadIndex {
        /// The part before the colon.
        index: String,
        /// The token.
        text: String,
    },
    /// Index 0 where indices start at 1.
    #[error(
        "index 0 in “{text}”, but indices start at 1\nhint: pass --zero-based if they start at 0 in this file"
    )]
    IndexZero {
        /// The token.
        text: String,
    },
    /// An index beyond what is supported.
    #[error(
        "index {index} is too large; at most {limit} is supported\nhint: check for a damaged line, or renumber the features"
    )]
    IndexTooLarge {
        /// The index as written.
        index: String,
        /// The largest allowed.
        limit: u64,
    },
    /// Two values for one feature.
    #[error("index {index} occurs twice\nhint: keep one value for each index")]
    DuplicateIndex {
        /// The index as written.
        index: u64,
    },
    /// Indices out of order.
    #[error("index {index} follows index {previous}\nhint: sort each line's pairs by index")]
    DecreasingIndex {
        /// The index as written.
        index: u64,
        /// The one before.
        previous: u64,
    },
    /// The label is missing.
    #[error(
        "the line starts with the pair “{text}”, so it has no label\nhint: put a label first, or pass --label none"
    )]
    NoLabel {
        /// The first token.
        text: String,
    },
    /// A row with another number of fields.
    #[error(
        "{expected} fields expected, {found} found\nhint: check for a missing delimiter, an unquoted “{delimiter}” inside a field, or a cut line"
    )]
    Ragged {
        /// Fields in the first line.
        expected: usize,
        /// Fields here.
        found: usize,
        /// The delimiter in use.
        delimiter: String,
    },
    /// A quote that is not closed on its line.
    #[error(
        "the quoted field “{text}” does not end on its line\nhint: close the quote; fields over several lines are not supported"
    )]
    OpenQuote {
        /// The start of the field.
        text: String,
    },
}

/// Readable form of the first bytes of `bytes`, with `·` for control characters.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST)]);
    let mut short: String =
        text.chars().take(LONGEST).map(|letter| if letter.is_control() { '·' } else { letter }).collect();
    if text.chars().count() > LONGEST || bytes.len() > 4 * LONGEST {
        short.push('…');
    }
    short
}

/// `a, b, c, …`: at most `limit` items, and how many were left out.
pub(crate) fn list<T: AsRef<str>>(items: &[T], limit: usize) -> String {
    let shown: Vec<&str> = items.iter().take(limit).map(AsRef::as_ref).collect();
    let left_out = items.len().saturating_sub(limit);
    match left_out {
        0 => shown.join(", "),
        _ => format!("{} and {left_out} more", shown.join(", ")),
    }
}

/// The known name most like `name`, when one is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let likeness = |candidate: &str| strsim::normalized_damerau_levenshtein(&name, &candidate.to_lowercase());
    known
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

fn near_hint(near: &[String]) -> String {
    match near {
        [] => "check the path".to_string(),
        names => format!("did you mean {}?", names.join(" or ")),
    }
}

fn nearest_hint(nearest: &Option<&'static str>) -> String {
    nearest.map(|name| format!("did you mean {name}? ")).unwrap_or_default()
}

fn did_you_mean(near: &Option<String>) -> String {
    near.as_ref().map(|name| format!("did you mean {name}? ")).unwrap_or_default()
}

fn is_or_are(listed: &str) -> &'static str {
    if listed.contains(", ") { "are" } else { "is" }
}

/// Quoted if a shell would take it apart.
fn shell_word(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "._-+".contains(letter);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn class_hint(class: &str, classes: &[String]) -> String {
    let nearest = nearest(class, classes.iter().map(String::as_str));
    let meant = nearest.map(|name| format!("did you mean {name}? ")).unwrap_or_default();
    format!("{meant}the classes are {}", list(classes, 10))
}
