//! What several workers load together is what one loads alone, and they fail together too.

use std::fs;
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use hemingway_data::{
    Dataset, Dense, Error, Fingerprint, LabelColumn, LoadOptions, Matrix, Part, Sparse, Together, Transform,
    load, load_part, load_part_blocks, shard, synthetic_names,
};
use proptest::prelude::*;

const WORKERS: [usize; 5] = [1, 2, 3, 4, 7];
const BLOCKS: [usize; 4] = [1, 3, 16, 1 << 18];

/// Workers that are threads, with a channel from each to each.
struct Threads {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

impl Threads {
    fn new(workers: usize) -> Vec<Threads> {
        let mut threads: Vec<Threads> =
            (0..workers).map(|rank| Threads { rank, to: Vec::new(), from: Vec::new() }).collect();
        for sender in 0..workers {
            for receiver in 0..workers {
                let (to, from) = channel();
                threads[sender].to.push(to);
                threads[receiver].from.push(from);
            }
        }
        threads
    }
}

impl Together for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn gather(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.to.iter().for_each(|to| to.send(mine.to_vec()).expect("nobody leaves early"));
        let receive = |from: &Receiver<Vec<u8>>| from.recv_timeout(Duration::from_secs(60));
        Ok(self.from.iter().map(|from| receive(from).expect("everyone gathers equally often")).collect())
    }
}

/// What each worker gets, in the order of ranks.
fn together<T: Send>(workers: usize, work: impl Fn(&mut Threads) -> T + Sync) -> Vec<T> {
    let mut threads = Threads::new(workers);
    std::thread::scope(|scope| {
        let handles: Vec<_> = threads.iter_mut().map(|worker| scope.spawn(|| (work)(worker))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    })
}

fn load_parts(spec: &str, options: &LoadOptions, workers: usize, block: usize) -> Vec<Result<Part, Error>> {
    together(workers, |worker| load_part_blocks(spec, options, block, worker))
}

/// The parts put together again.
fn joined(parts: &[Part]) -> Dataset {
    let first = &parts[0].dataset;
    let matrix =
        parts.iter().skip(1).fold(first.matrix.clone(), |above, part| below(&above, &part.dataset.matrix));
    let targets: Vec<f32> = parts.iter().flat_map(|part| part.dataset.targets.clone()).collect();
    let fingerprint = Fingerprint::of(&matrix, &first.features, &targets, None);
    Dataset { matrix, targets, fingerprint, ..first.clone() }
}

fn below(above: &Matrix, next: &Matrix) -> Matrix {
    assert_eq!(above.columns(), next.columns(), "every part has all columns");
    match (above, next) {
        (Matrix::Dense(above), Matrix::Dense(next)) => {
            let values = [above.values(), next.values()].concat();
            Matrix::Dense(Dense::new(above.rows() + next.rows(), above.columns(), values))
        }
        (Matrix::Sparse(above), Matrix::Sparse(next)) => {
            let last = above.values().len();
            let offsets =
                above.offsets().iter().copied().chain(next.offsets()[1..].iter().map(|end| last + end));
            Matrix::Sparse(Sparse::new(
                above.columns(),
                offsets.collect(),
                [above.indices(), next.indices()].concat(),
                [above.values(), next.values()].concat(),
            ))
        }
        _ => panic!("all parts are stored in one way"),
    }
}

/// Checks parts against the whole: the same rows, or the same mistake.
fn check_parts(parts: Vec<Result<Part, Error>>, whole: &Result<Dataset, Error>, case: &str) {
    let workers = parts.len();
    match whole {
        Ok(whole) if whole.matrix.rows() >= workers => {
            let parts: Vec<Part> =
                parts.into_iter().collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{case}: {error}"));
            for (rank, part) in parts.iter().enumerate() {
                let rows = shard(whole.matrix.rows(), workers, rank);
                assert_eq!((part.first_row, part.dataset.matrix.rows()), (rows.start, rows.len()), "{case}");
                assert_eq!(part.total_rows, whole.matrix.rows(), "{case}");
                assert_eq!(part.total_nonzeros, whole.matrix.nonzeros(), "{case}");
                assert_eq!(
                    (&part.dataset.name, &part.dataset.labels),
                    (&whole.name, &whole.labels),
                    "{case}"
                );
            }
            assert_eq!(&joined(&parts), whole, "{case}");
        }
        Ok(whole) => {
            let expect = format!(
                "{}: {workers} workers are more than its {rows} rows\nhint: use at most {rows}",
                whole.name,
                rows = whole.matrix.rows()
            );
            messages(parts).into_iter().for_each(|message| assert_eq!(message, expect, "{case}"));
        }
        Err(error) => check_mistake(parts, &error.to_string(), case),
    }
}

/// Everyone fails: the first who knows why says what one alone would say, and others point at who knows.
fn check_mistake(parts: Vec<Result<Part, Error>>, expect: &str, case: &str) {
    let elsewhere = |message: &String| message.starts_with("loading failed on worker");
    let messages = messages(parts);
    let first = messages.iter().position(|message| !elsewhere(message)).expect("someone knows why");
    assert!(
        messages[first] == expect || messages[first].contains("workers are more than"),
        "{case}:\n{}\ninstead of\n{expect}",
        messages[first]
    );
    let pointing = format!("loading failed on worker {first}");
    messages.iter().filter(|message| elsewhere(message)).for_each(|message| assert_eq!(*message, pointing));
}

fn messages(parts: Vec<Result<Part, Error>>) -> Vec<String> {
    parts.into_iter().map(|part| part.expect_err("everyone fails").to_string()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn idx(dimensions: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, 8, dimensions.len() as u8];
    dimensions.iter().for_each(|dimension| file.extend(dimension.to_be_bytes()));
    file.extend(bytes);
    file
}

/// A folder for one test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }
}

/// The same, whatever the number of workers and the size of blocks.
fn check(path: &str, options: &LoadOptions) {
    let whole = load(path, options);
    for workers in WORKERS {
        for block in BLOCKS {
            let case = format!("{path}: {workers} workers, blocks of {block}");
            check_parts(load_parts(path, options, workers, block), &whole, &case);
        }
    }
}

/// As [`check`] with the text in a file, plain and compressed.
fn check_text(text: &str, options: &LoadOptions) {
    let folder = Folder::new();
    check(&folder.file("plain", text.as_bytes()), options);
    check(&folder.file("packed.gz", &gzip(text.as_bytes())), options);
}

#[test]
fn libsvm_in_every_dress() {
    let options = LoadOptions::default();
    let rows: String = (0..23).map(|row| format!("{} 1:{row} {}:2\n", row % 2, 2 + row % 9)).collect();
    for text in [
        rows.clone(),
        rows.trim_end().to_string(),
        rows.replace('\n', "\r\n"),
        rows.replace('\n', "\n\n # nothing\n\r\n"),
        format!("\u{feff}{rows}"),
        format!("\u{feff}# made by hand\n\n{rows}\n\n#\n\n"),
        format!("{rows}1 {}\n0 1:1\n", (1..200).map(|index| format!("{index}:1 ")).collect::<String>()),
        format!("1 {}\n{rows}", (1..200).map(|index| format!("{index}:1 ")).collect::<String>()),
        format!("{rows}{}{rows}", "# a long comment in the middle \n".repeat(20)),
    ] {
        check_text(&text, &options);
    }
}

#[test]
fn large_files_in_blocks_of_the_usual_size() {
    let folder = Folder::new();
    let text: String =
        (0..150_000).map(|row| format!("{} 1:{row} {}:0.5 99:1\n", row % 2, 2 + row % 90)).collect();
    for path in [folder.file("plain", text.as_bytes()), folder.file("packed", &gzip(text.as_bytes()))] {
        let whole = load(&path, &LoadOptions::default());
        for workers in WORKERS {
            let parts = together(workers, |worker| load_part(&path, &LoadOptions::default(), worker));
            check_parts(parts, &whole, &format!("{path}: {workers} workers"));
        }
    }
}

#[test]
fn density_and_width_are_those_of_the_whole() {
    let options = LoadOptions::default();
    let full = "1 1:1 2:2 3:3\n0 1:1 2:2 3:3\n".repeat(5);
    check_text(&format!("{full}{}", "1\n0\n".repeat(5)), &options); // dense, but the last workers' rows are empty
    check_text(&format!("{full}0 1000:1\n"), &options); // sparse, but for the first workers
    check_text(&format!("{}0 7:1\n", "1\n".repeat(9)), &options); // only the last worker sees a feature
}

#[test]
fn tables_in_every_dress() {
    let options = LoadOptions::default();
    let rows: String =
        (0..19).map(|row| format!("{row}.5,{},{}\n", row % 3, ["no", "yes"][row % 2])).collect();
    for text in [
        rows.clone(),
        rows.trim_end().to_string(),
        format!("a,b,label\n{rows}"),
        format!("\n \r\na,b,label\r\n{}", rows.replace('\n', "\r\n")),
        format!("\u{feff}\"a\",\"b\",\"label\"\n{}\n\n", rows.replace('\n', "\n   \n")),
        rows.replace(',', ";"),
        format!("a\tb\ttarget\n{}", rows.replace(',', "\t")),
    ] {
        check_text(&text, &options);
    }
    let named = LoadOptions { label: LabelColumn::Name("b".to_string()), regression: true, ..options };
    let numbers: String = (0..12).map(|row| format!("{row},{},1\n", row * row)).collect();
    check_text(&format!("a,b,c\n{numbers}"), &named);
    check_text(&format!("a,b,c\n{numbers}"), &LoadOptions { label: LabelColumn::Absent, ..named });
}

#[test]
fn tables_of_all_kinds_of_columns() {
    let options = LoadOptions { centre: true, drop_unlabelled: true, ..LoadOptions::default() };
    let row = |row: usize| {
        let age = if row.is_multiple_of(5) { String::new() } else { format!("{}", 20 + row % 9) };
        let kind = ["u", "v", "w", "", "x"][row * row % 5];
        let label = if row == 17 { "NA" } else { ["no", "yes"][row % 2] };
        format!("{row},{age},{kind},2024-{:02}-01,{},{label}\n", 1 + row % 12, ["true", "false"][row % 3 % 2])
    };
    let rows: String = (0..60).map(row).collect();
    check_text(&format!("id,age,kind,day,flag,label\n{rows}"), &options);
    let late: String = (0..3000).map(|row| format!("{row}.5,{},1\n", row % 4)).collect();
    check_large(&format!("a,b,label\n{late}1.5,NA,0\n"), &options); // a plain table until its last line
    check_text("a,label\n1,x\n2,y\n", &LoadOptions { drop: vec!["a".to_string()], ..options });
}

/// With the text in a file, in blocks of the usual size.
fn check_large(text: &str, options: &LoadOptions) {
    let folder = Folder::new();
    let path = folder.file("large", text.as_bytes());
    let whole = load(&path, options);
    for workers in WORKERS {
        check_parts(load_parts(&path, options, workers, 1 << 18), &whole, &format!("{workers} workers"));
    }
}

#[test]
fn labels_are_joined_in_the_order_of_the_file() {
    let labels =
        |labels: &[&str]| labels.iter().map(|label| format!("{label} 1:1 2:3\n")).collect::<String>();
    let options = LoadOptions::default();
    check_text(&labels(&["+1", "+1", "+1", "-1", "-1", "1", "1.0", "-1.0"]), &options);
    check_text(&labels(&["b", "b", "b", "b", "a", "a", "a", "a"]), &options);
    check_text(&labels(&["1", "1", "1", "2", "2", "2", "2", "2"]), &options);
    check_text(&labels(&["a", "b", "a", "c", "b", "c", "c", "d"]), &options); // too many
    check_text(&labels(&["a"; 8]), &options); // too few
    let picked = LoadOptions { positive: Some("c".to_string()), ..options.clone() };
    check_text(&labels(&["a", "b", "a", "c", "b", "c", "c", "d"]), &picked);
    check_text(&labels(&["a", "b", "a", "b", "b", "a", "b", "a"]), &picked); // not there
}

#[test]
fn three_classes_of_which_each_worker_sees_two() {
    let folder = Folder::new();
    let path = folder.file("three", b"a 1:1\nb 1:1\nb 1:1\nc 1:1\n");
    for message in messages(load_parts(&path, &LoadOptions::default(), 2, 1 << 18)) {
        assert!(message.contains("3 classes found: a (1 rows), b (2 rows), c (1 rows)"), "{message}");
    }
}

#[test]
fn images_and_their_labels() {
    let folder = Folder::new();
    let images: Vec<u8> = (0..11 * 6).map(|pixel| if pixel % 7 < 3 { 0 } else { pixel as u8 }).collect();
    let labels: Vec<u8> = (0..11).map(|row| 3 + 4 * u8::from(row > 6)).collect();
    for (name, pack) in [("plain", false), ("packed", true)] {
        let file = |kind: &str, bytes: Vec<u8>| match pack {
            true => folder.file(&format!("{name}-{kind}-ubyte.gz"), &gzip(&bytes)),
            false => folder.file(&format!("{name}-{kind}-ubyte"), &bytes),
        };
        let path = file("images-idx3", idx(&[11, 2, 3], &images));
        check(&path, &LoadOptions::default()); // no labels
        check(&path, &LoadOptions { label: LabelColumn::Absent, ..LoadOptions::default() });
        file("labels-idx1", idx(&[11], &labels));
        check(&path, &LoadOptions::default());
        file("labels-idx1", idx(&[12], &[&labels[..], &[3]].concat()));
        check(&path, &LoadOptions::default());
        file("labels-idx1", idx(&[11], &labels[..9]));
        check(&path, &LoadOptions::default());
        file("labels-idx1", idx(&[11], &labels));
        file("images-idx3", idx(&[11, 2, 3], &images[..40]));
        check(&path, &LoadOptions::default());
        file("images-idx3", idx(&[11, 2, 3], &[&images[..], &[1]].concat()));
        check(&path, &LoadOptions::default());
    }
}

#[test]
fn the_embedded_digits() {
    let whole = load(hemingway_data::EMBEDDED, &LoadOptions::default());
    for workers in WORKERS {
        let parts =
            together(workers, |worker| load_part(hemingway_data::EMBEDDED, &LoadOptions::default(), worker));
        check_parts(parts, &whole, "embedded");
    }
}

#[test]
fn generated_data() {
    for (name, _) in synthetic_names() {
        check(&format!("synthetic:{name},rows=60,features=30,seed=3"), &LoadOptions::default());
    }
    check("synthetic:separable,rows=3,features=4", &LoadOptions::default());
    check("synthetic:nothing", &LoadOptions::default());
}

#[test]
fn mistakes_are_told_by_who_finds_them() {
    let folder = Folder::new();
    let good = "\n# rows\n1 1:1\n0 1:2\n".repeat(1000);
    for (name, text, line) in [("last", format!("{good}1 1:x"), 4001), ("first", format!("1 1:x\n{good}"), 1)]
    {
        for path in
            [folder.file(name, text.as_bytes()), folder.file(&format!("{name}.gz"), &gzip(text.as_bytes()))]
        {
            let messages = messages(load_parts(&path, &LoadOptions::default(), 4, 1000));
            let culprit = if line == 1 { 0 } else { 3 };
            for (rank, message) in messages.iter().enumerate() {
                match rank == culprit {
                    true => assert!(message.contains(&format!("{path}:{line}: the value of index 1 is “x”"))),
                    false => assert_eq!(*message, format!("loading failed on worker {culprit}")),
                }
            }
        }
    }
}

#[test]
fn mistakes_are_those_of_the_whole() {
    let options = LoadOptions::default();
    for text in [
        "",
        "\n\n",
        "# only\n",
        "label,a\n",
        "1\n0\n1\n",
        "1 1:1\n0 1:1\n1 0:1\n0 2:1 1:1\n",
        "1,2\n0,3\n1\n0,4,5\n",
        "1,2\n0,3\nnan,4\n",
        "\u{feff}label,a\n1,2\n\n0,\"x\n1,3\n",
    ] {
        check_text(text, &options);
    }
    let folder = Folder::new();
    let packed = gzip("1 1:1\n0 1:2\n".repeat(50_000).as_bytes());
    check(&folder.file("half.gz", &packed[..packed.len() / 2]), &options);
    check(&folder.0.path().display().to_string(), &options);
    check(&folder.0.path().join("missing").display().to_string(), &options);
}

#[test]
fn pipes_are_for_one_worker_only() {
    let messages = messages(load_parts("/dev/null", &LoadOptions::default(), 2, 1));
    assert!(messages.iter().all(|message| message.contains("an ordinary file")), "{messages:?}");
}

/// A worker who sees that a file is written to just before it gathers for the `at`-th time.
struct Changing<'a> {
    threads: &'a mut Threads,
    at: usize,
    gathered: usize,
    change: &'a (dyn Fn() + Sync),
}

impl Together for Changing<'_> {
    fn rank(&self) -> usize {
        self.threads.rank()
    }

    fn size(&self) -> usize {
        self.threads.size()
    }

    fn gather(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        if self.gathered == self.at && self.rank() == 1 {
            (self.change)();
        }
        self.gathered += 1;
        self.threads.gather(mine)
    }
}

fn check_change(before: &[u8], after: &[u8], at: usize) {
    let folder = Folder::new();
    let path = folder.file("changing", before);
    let change = || fs::write(&path, after).unwrap();
    let parts = together(3, |threads| {
        let mut worker = Changing { threads, at, gathered: 0, change: &change };
        load_part_blocks(&path, &LoadOptions::default(), 16, &mut worker)
    });
    assert!(messages(parts).iter().any(|message| message.contains("changed while it was read")));
}

#[test]
fn files_that_change_are_noticed() {
    const ROWS: usize = 100_000;
    let text = "1 1:1\n0 1:2\n".repeat(ROWS);
    let no_rows = "#none\n".repeat(2 * ROWS); // equally long
    for at in [1, 2] {
        check_change(text.as_bytes(), b"", at);
        check_change(text.as_bytes(), no_rows.as_bytes(), at);
    }
    check_change(text.as_bytes(), text.repeat(2).as_bytes(), 1);
    check_change(&gzip(text.as_bytes()), &gzip(b"1 1:1\n"), 1);
}

#[test]
fn workers_with_different_files_are_noticed() {
    let folder = Folder::new();
    let paths = [folder.file("one", b"1 1:1\n0 1:2\n"), folder.file("other", b"2.5,1\n0.5,0\n")];
    let parts =
        together(2, |worker| load_part_blocks(&paths[worker.rank()], &LoadOptions::default(), 16, worker));
    assert!(messages(parts).iter().all(|message| message.contains("another one for another worker")));
}

#[test]
fn scaling_is_fitted_to_all_parts() {
    for spec in
        ["synthetic:separable,rows=200,features=9", "synthetic:text,rows=300,features=80,density=0.05"]
    {
        let whole = Transform::fit(&load(spec, &LoadOptions::default()).unwrap(), true, true);
        for workers in WORKERS {
            let fitted = together(workers, |worker| {
                let part = load_part(spec, &LoadOptions::default(), worker).unwrap();
                let without = Transform::fit_part(&part, true, false, worker).unwrap();
                assert_eq!(without, Transform { rows: true, columns: None });
                Transform::fit_part(&part, true, true, worker).unwrap()
            });
            for transform in &fitted {
                assert_eq!(transform, &fitted[0]);
                check_near(transform, &whole);
            }
        }
    }
}

fn check_near(one: &Transform, other: &Transform) {
    let (one, other) = (one.columns.as_ref().unwrap(), other.columns.as_ref().unwrap());
    for (one, other) in [(&one.mean, &other.mean), (&one.scale, &other.scale)] {
        assert_eq!(one.len(), other.len());
        assert!(one.iter().zip(other).all(|(one, other)| (one - other).abs() <= 1e-6 * (1.0 + other.abs())));
    }
}

/// Lines of a LIBSVM file, most of them right.
fn libsvm_line() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => ("[ab]", prop::collection::btree_map(1u32..30, -9i32..9, 0..6)).prop_map(|(label, pairs)| {
            pairs.iter().fold(label, |line, (index, value)| format!("{line} {index}:{value}"))
        }),
        2 => "[ \t]{0,3}(# [a-z ]{0,20})?",
        1 => "[a-c0-9:. ]{0,8}",
    ]
}

/// Lines of a table with three columns, most of them right.
fn csv_line() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => "[xy],-?[0-9]{1,3}(\\.[0-9]{1,3})?, ?[0-9]",
        3 => "[ \t]{0,3}",
        1 => "[x-z0-9,\". ]{0,8}",
    ]
}

fn text(line: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let ended = (line, prop_oneof![3 => Just("\n"), 1 => Just("\r\n")]).prop_map(|(line, end)| line + end);
    let mark = prop_oneof![4 => Just(""), 1 => Just("\u{feff}")];
    (mark, prop::collection::vec(ended, 0..40), any::<bool>()).prop_map(|(mark, lines, whole)| {
        let text = format!("{mark}{}", lines.concat());
        if whole { text } else { text.trim_end().to_string() }
    })
}

fn check_random(text: &str, workers: usize, block: usize, packed: bool) {
    let folder = Folder::new();
    let bytes = if packed { gzip(text.as_bytes()) } else { text.as_bytes().to_vec() };
    let path = folder.file("random", &bytes);
    let whole = load(&path, &LoadOptions::default());
    check_parts(load_parts(&path, &LoadOptions::default(), workers, block), &whole, &format!("{text:?}"));
}

#[test]
fn workers_agree_on_the_features_that_occur() {
    // No worker sees all features, and the last one sees none that another does not have.
    let line = |row: usize| format!("{} {}:1 {}:2\n", row % 2, 7 + row % 5, 4_000_000_000 - row % 11);
    let text: String = (0..60).map(line).collect();
    check_text(&text, &LoadOptions::default());
    // More features than are shown at once.
    let many: String = (0..200_000u64).map(|row| format!("{} {}:1\n", row % 2, 1 + row * 20_011)).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), many).unwrap();
    let path = file.path().display().to_string();
    let whole = load(&path, &LoadOptions::default());
    assert_eq!(whole.as_ref().unwrap().matrix.columns(), 200_000);
    check_parts(load_parts(&path, &LoadOptions::default(), 3, 1 << 18), &whole, "many features");
}

proptest! {
    #[test]
    fn any_libsvm_text(text in text(libsvm_line()), workers in 1usize..9, block in 1usize..60, packed: bool) {
        check_random(&text, workers, block, packed);
    }

    #[test]
    fn any_table(text in text(csv_line()), workers in 1usize..9, block in 1usize..60, packed: bool) {
        check_random(&text, workers, block, packed);
    }
}
