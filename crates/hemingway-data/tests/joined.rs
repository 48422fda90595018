//! Several files as one dataset: the rows of all of them in order, and messages that name the file.

use std::fs;
use std::path::Path;

use hemingway_data::{Dataset, LabelColumn, LoadOptions, Together, load, load_part, several};
use proptest::prelude::*;

/// A folder for one test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| drop(folder.file(name, text.as_bytes())));
        folder
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    fn path(&self) -> String {
        self.0.path().display().to_string()
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::read::GzEncoder::new(bytes, flate2::Compression::fast());
    let mut packed = Vec::new();
    std::io::Read::read_to_end(&mut encoder, &mut packed).unwrap();
    packed
}

fn read(spec: &str) -> Dataset {
    load(spec, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn error(spec: &str) -> String {
    load(spec, &LoadOptions::default()).unwrap_err().to_string()
}

fn check_same(one: &Dataset, other: &Dataset) {
    assert_eq!((&one.matrix, &one.targets, &one.labels), (&other.matrix, &other.targets, &other.labels));
    assert_eq!(one.fingerprint, other.fingerprint);
}

#[test]
fn a_folder_of_parts_with_headers() {
    let whole = Folder::new(&[("all.csv", "label,a\nyes,1\nno,2\nyes,3\nno,4\n")]);
    let parts = Folder::new(&[
        ("_SUCCESS", ""),
        (".part-00000.csv.crc", "crc"),
        ("part-00000.csv", "label,a\n"),
        ("part-00001.csv", "label,a\nyes,1"),
        ("part-00002.csv", ""),
        ("part-00003.csv", "\n\"label\",a\r\nno,2\nyes,3\n"),
        ("part-00005.csv", "label,a\n"),
    ]);
    parts.file("part-00004.csv.gz", &gzip(b"label,a\nno,4\n"));
    let expected = read(&format!("{}/all.csv", whole.path()));
    let dataset = read(&parts.path());
    check_same(&dataset, &expected);
    assert_eq!(dataset.name, parts.path());
    check_same(&read(&format!("{}/part-*", parts.path())), &expected);
}

#[test]
fn parts_without_headers_keep_all_rows() {
    let parts = Folder::new(&[("a", "1,1,5\n0,2,6"), ("b", "1,1,5\n0,2,6\n"), ("c", "1,1,5")]);
    let [a, b, c] = ["a", "b", "c"].map(|name| format!("{}/{name}", parts.path()));
    let dataset = read(&several(&[a.clone(), b, c]));
    assert_eq!((dataset.matrix.rows(), &dataset.targets[..]), (5, &[1.0, -1.0, 1.0, -1.0, 1.0][..]));
    // A header in the first file only, as `split` leaves it.
    let first = parts.file("first", b"label,x,y\n1,1,5\n");
    assert_eq!(read(&several(&[first, a])).matrix.rows(), 3);
}

#[test]
fn libsvm_in_parts() {
    let parts = Folder::new(&[("x.0", "# first\n1 1:1\n0 3:1"), ("x.1", "1 9:1 10:2\n"), ("x.2", "0 2:1\n")]);
    let dataset = read(&format!("{}/x.?", parts.path()));
    assert_eq!((dataset.matrix.rows(), dataset.features.count, dataset.matrix.nonzeros()), (4, 10, 5));
}

#[test]
fn mistakes_name_the_file_and_its_line() {
    let good = "label,a\nyes,1\nno,2\n";
    let parts = Folder::new(&[
        ("0.csv", good),
        ("1.csv", good),
        ("2.csv", "label,a\nyes,1\n\nno,x\n"),
        ("3.csv", good),
    ]);
    let path = |name: &str| format!("{}/{name}", parts.path());
    let message = error(&parts.path());
    assert!(message.starts_with(&format!("{}:4: column 2 (a) is “x”", path("2.csv"))), "{message}");
    fs::write(path("2.csv"), "a,label\n1,yes\n").unwrap();
    let message = error(&parts.path());
    assert!(
        message.starts_with(&format!("{}: column 1 is “a”, but “label” in the first", path("2.csv"))),
        "{message}"
    );
    fs::write(path("2.csv"), &gzip(good.as_bytes())[..20]).unwrap();
    let message = error(&parts.path());
    assert!(message.starts_with(&format!("{}: the gzip stream ends early", path("2.csv"))), "{message}");
    fs::remove_file(path("2.csv")).unwrap();
    let message = error(&several(&[path("0.csv"), path("2.csv")]));
    assert!(message.starts_with(&format!("{}: no such file", path("2.csv"))), "{message}");
    let unknown =
        LoadOptions { columns: Some(1), labels: Some(read(&path("0.csv")).labels), ..LoadOptions::default() };
    fs::write(path("3.csv"), "label,a\nyes,1\nperhaps,2\n").unwrap();
    let message = load(&parts.path(), &unknown).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{}:3: the label “perhaps”", path("3.csv"))), "{message}");
}

#[test]
fn one_file_found_by_a_pattern_is_that_file() {
    let folder = Folder::new(&[("some.csv", "label,a\nyes,1\nno,x\n")]);
    let message = error(&format!("{}/*.csv", folder.path()));
    assert!(message.starts_with(&format!("{}/some.csv:3: column 2", folder.path())), "{message}");
    let folder = Folder::new(&[]);
    folder.file("x-images-idx3-ubyte", &[&[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1], &[7, 9][..]].concat());
    folder.file("x-labels-idx1-ubyte", &[&[0, 0, 8, 1, 0, 0, 0, 2], &[0, 1][..]].concat());
    assert_eq!(read(&format!("{}/*images*", folder.path())).targets, [-1.0, 1.0]);
}

#[test]
fn images_are_not_joined() {
    let images = [&[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1], &[7, 9][..]].concat();
    let folder = Folder::new(&[]);
    let files = ["a-images", "b-images"].map(|name| folder.file(name, &images));
    assert!(error(&several(&files)).contains("several idx files cannot be put together"));
}

/// Workers that are threads, with a channel from each to each.
struct Threads {
    rank: usize,
    to: Vec<std::sync::mpsc::Sender<Vec<u8>>>,
    from: Vec<std::sync::mpsc::Receiver<Vec<u8>>>,
}

impl Together for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn gather(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, hemingway_data::Error> {
        self.to.iter().for_each(|to| to.send(mine.to_vec()).expect("nobody leaves early"));
        Ok(self.from.iter().map(|from| from.recv().expect("everyone gathers equally often")).collect())
    }
}

/// The targets that workers load together, or what the first of them says that knows what is wrong.
fn together(spec: &str, workers: usize) -> Result<Vec<f32>, String> {
    let mut threads: Vec<Threads> =
        (0..workers).map(|rank| Threads { rank, to: Vec::new(), from: Vec::new() }).collect();
    for sender in 0..workers {
        for receiver in 0..workers {
            let (to, from) = std::sync::mpsc::channel();
            threads[sender].to.push(to);
            threads[receiver].from.push(from);
        }
    }
    let parts: Vec<_> = std::thread::scope(|scope| {
        let handles: Vec<_> = (threads.iter_mut())
            .map(|worker| scope.spawn(|| load_part(spec, &LoadOptions::default(), worker)))
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    let mut targets = Vec::new();
    let mut mistakes = Vec::new();
    for part in parts {
        match part {
            Ok(part) => targets.extend(part.dataset.targets),
            Err(error) => mistakes.push(error.to_string()),
        }
    }
    let mistake = mistakes.into_iter().find(|message| !message.starts_with("loading failed on worker"));
    mistake.map_or(Ok(targets), Err)
}

#[test]
fn workers_read_parts_together() {
    let good: String = (0..30).map(|row| format!("{},{}\n", ["yes", "no"][row % 3 % 2], row)).collect();
    let parts = Folder::new(&[]);
    parts.file("0.csv", format!("label,a\n{good}").as_bytes());
    parts.file("1.csv.gz", &gzip(format!("label,a\n{good}").as_bytes()));
    parts.file("2.csv", good.trim_end().as_bytes());
    parts.file("3.csv", format!("label,a\n{good}").as_bytes());
    let alone = read(&parts.path()).targets;
    assert_eq!(alone.len(), 120);
    for workers in [1, 2, 3, 5] {
        assert_eq!(together(&parts.path(), workers), Ok(alone.clone()), "{workers} workers");
    }
    let path = parts.file("3.csv", format!("label,a\n{good}yes,x\n").as_bytes());
    for workers in [1, 3] {
        let message = together(&parts.path(), workers).unwrap_err();
        assert!(message.starts_with(&format!("{path}:32: column 2 (a) is “x”")), "{message}");
    }
    assert!(together("-", 2).unwrap_err().contains("standard input"));
}

proptest! {
    /// However rows are cut into files, with or without headers, packed or not, they are the same rows.
    #[test]
    fn any_cut_gives_the_same_rows(
        cuts in prop::collection::vec(0usize..40, 0..6),
        header: bool,
        packed in prop::collection::vec(any::<bool>(), 7),
        ended in prop::collection::vec(any::<bool>(), 7),
    ) {
        let rows: Vec<String> = (0..40).map(|row| format!("{},{},{}.5\n", row % 2, row, row % 5)).collect();
        let line = if header { "label,a,b\n" } else { "" };
        let whole = Folder::new(&[("all", &format!("{line}{}", rows.concat()))]);
        let options = LoadOptions { label: LabelColumn::First, ..LoadOptions::default() };
        let expected = load(&format!("{}/all", whole.path()), &options).unwrap();
        let parts = Folder::new(&[]);
        let mut ends: Vec<usize> = cuts.into_iter().chain([40]).collect();
        ends.sort_unstable();
        let mut start = 0;
        for (part, end) in ends.into_iter().enumerate() {
            let mut text = format!("{line}{}", rows[start..end].concat());
            if !ended[part] {
                text.truncate(text.trim_end().len());
            }
            let bytes = if packed[part] { gzip(text.as_bytes()) } else { text.into_bytes() };
            parts.file(&format!("part-{part}"), &bytes);
            start = end;
        }
        let dataset = load(&parts.path(), &options).unwrap();
        prop_assert_eq!((&dataset.matrix, &dataset.targets), (&expected.matrix, &expected.targets));
        prop_assert!(Path::new(&dataset.name).is_dir());
    }
}
