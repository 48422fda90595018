//! Files as users have them: compressed, misnamed, damaged, missing.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use hemingway_data::{Dataset, LabelColumn, LoadOptions, Matrix, load};

const LIBSVM: &str = "+1 1:0.5 7:2\n-1 2:-3\n";

/// A folder for one test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
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

fn read(path: &str) -> Dataset {
    load(path, &LoadOptions::default()).unwrap()
}

fn check_error(path: &str, parts: &[&str]) {
    let message = load(path, &LoadOptions::default()).unwrap_err().to_string();
    assert!(message.starts_with(path), "{path} is not named in\n{message}");
    parts.iter().for_each(|part| assert!(message.contains(part), "{part}\nnot in\n{message}"));
}

#[test]
fn the_content_counts_not_the_name() {
    let folder = Folder::new();
    let plain = read(&folder.file("plain.csv", LIBSVM.as_bytes()));
    let packed = read(&folder.file("packed.txt", &gzip(LIBSVM.as_bytes())));
    let members = [gzip(&LIBSVM.as_bytes()[..13]), gzip(&LIBSVM.as_bytes()[13..])].concat();
    let members = read(&folder.file("members", &members));
    assert_eq!((&plain.matrix, &plain.targets), (&packed.matrix, &packed.targets));
    assert_eq!((&plain.matrix, &plain.targets), (&members.matrix, &members.targets));
}

#[test]
fn tables_are_read_in_every_dress() {
    let folder = Folder::new();
    for (name, text) in [("a", "l,x,y\n1,5,6\n0,7,8\n"), ("b", "1\t5\t6\n0\t7\t8\n"), ("c", "1;5;6\n0;7;8\n")]
    {
        for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
            let options = LoadOptions { label: LabelColumn::First, ..LoadOptions::default() };
            let dataset = load(&folder.file(name, &bytes), &options).unwrap();
            let Matrix::Dense(dense) = &dataset.matrix else { panic!("dense") };
            assert_eq!(
                (dense.values(), dataset.targets.as_slice()),
                (&[5.0, 6.0, 7.0, 8.0][..], &[1.0, -1.0][..])
            );
        }
    }
}

#[test]
fn headers_longer_than_a_block() {
    let folder = Folder::new();
    let names: Vec<String> = (0..20_000).map(|column| format!("feature-{column}")).collect();
    let row = vec!["1"; 20_000].join(",");
    let text = format!("{},label\n{row},yes\n{row},no\n", names.join(","));
    let dataset = read(&folder.file("wide.csv", text.as_bytes()));
    assert_eq!((dataset.matrix.rows(), dataset.matrix.columns()), (2, 20_000));
}

#[test]
fn images_find_their_labels() {
    let folder = Folder::new();
    let images = folder.file("some-images-idx3-ubyte.gz", &gzip(&idx(&[2, 1, 2], &[255, 0, 51, 255])));
    check_error(&images, &["no labels beside", "some-labels-idx1-ubyte.gz", "--label none"]);
    let unlabelled = LoadOptions { label: LabelColumn::Absent, ..LoadOptions::default() };
    assert!(load(&images, &unlabelled).unwrap().targets.is_empty());
    let labels = folder.file("some-labels-idx1-ubyte", &idx(&[2], &[4, 9]));
    assert_eq!(read(&images).targets, [-1.0, 1.0]);
    check_error(&labels, &["holds labels, not images"]);
    let swapped = folder.file("swapped-images-idx3-ubyte", &idx(&[2, 1, 1], &[1, 2, 3]));
    check_error(&swapped, &["promises 2 bytes", "more follow"]);
    let noname = folder.file("digits", &idx(&[1, 1, 1], &[1]));
    check_error(&noname, &["the name has no “images”"]);
}

#[test]
fn missing_files_get_suggestions() {
    let folder = Folder::new();
    let there = folder.file("mushrooms.libsvm.gz", b"");
    check_error(
        &folder.path("mushroom.libsvm").display().to_string(),
        &["no such file", "did you mean", &there],
    );
    check_error(&folder.path("mushrooms.libsvm").display().to_string(), &["did you mean"]);
    check_error(&folder.path("zebra").display().to_string(), &["no such file", "check the path"]);
    check_error(&folder.path("no/such/folder").display().to_string(), &["no such file"]);
}

#[test]
fn folders_and_empty_files_are_refused() {
    let folder = Folder::new();
    check_error(&folder.0.path().display().to_string(), &["this is a folder", "no data files", "hint:"]);
    check_error(&folder.file("nothing", b""), &["no rows"]);
    check_error(&folder.file("nothing.gz", &gzip(b"")), &["no rows"]);
    check_error(&folder.file("blank", b"\n \r\n"), &["no rows"]);
}

#[test]
fn damaged_archives_are_noticed() {
    let folder = Folder::new();
    let text = LIBSVM.repeat(50_000);
    let packed = gzip(text.as_bytes());
    check_error(&folder.file("half.gz", &packed[..packed.len() / 2]), &["the gzip stream ends early, after"]);
    check_error(
        &folder.file("tail.gz", &packed[..packed.len() - 4]),
        &["the gzip stream ends early", "fetch"],
    );
    check_error(&folder.file("start.gz", &packed[..5]), &["the gzip stream ends early, after 0"]);
    let mut damaged = packed.clone();
    damaged[packed.len() / 2] ^= 0xff;
    check_error(&folder.file("damaged.gz", &damaged), &["gzip stream"]);
    check_error(
        &folder.file("more.gz", &[packed, b"garbage that is no gzip member".to_vec()].concat()),
        &["gzip stream is damaged"],
    );
}

#[test]
fn lines_are_counted_over_blocks_and_in_unpacked_content() {
    let folder = Folder::new();
    let text = format!("{}1 1:x\n", LIBSVM.repeat(100_000));
    check_error(&folder.file("long", text.as_bytes()), &[":200001: the value of index 1 is “x”"]);
    check_error(&folder.file("long.gz", &gzip(text.as_bytes())), &[":200001: the value of index 1 is “x”"]);
    let table = format!("\nlabel,a\n{}1,x\n", "1,2\n0,3\n".repeat(100_000));
    check_error(&folder.file("long.csv", table.as_bytes()), &[":200003: column 2 (a) is “x”"]);
}

#[test]
fn loading_inside_a_pool_of_one_thread_does_not_hang() {
    let folder = Folder::new();
    let path = folder.file("long", LIBSVM.repeat(100_000).as_bytes());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| read(&path)).matrix.rows(), 200_000);
}
