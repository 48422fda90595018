//! Every kind of compression with every format, whole, in several streams, cut and damaged; and text that is not UTF-8.

use std::fs;
use std::io::{Read, Write};

use hemingway_data::{Dataset, Format, LabelColumn, Labels, LoadOptions, load, parse_blocks};
use proptest::prelude::*;

/// A kind of compression: its ending, its name in messages, and how it is made.
type Packing = (&'static str, &'static str, fn(&[u8]) -> Vec<u8>);

const PACKINGS: [Packing; 4] =
    [("gz", "gzip", gzip), ("zst", "Zstandard", zstandard), ("bz2", "bzip2", bzip2), ("xz", "xz", xz)];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    packed(flate2::read::GzEncoder::new(bytes, flate2::Compression::fast()))
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    packed(bzip2::read::BzEncoder::new(bytes, bzip2::Compression::fast()))
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    packed(liblzma::read::XzEncoder::new(bytes, 1))
}

fn packed(mut encoder: impl Read) -> Vec<u8> {
    let mut packed = Vec::new();
    encoder.read_to_end(&mut packed).unwrap();
    packed
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

fn read(path: &str) -> Dataset {
    load(path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn check_error(path: &str, parts: &[&str]) {
    let message = load(path, &LoadOptions::default()).unwrap_err().to_string();
    assert!(message.starts_with(path), "{path} is not named in\n{message}");
    parts.iter().for_each(|part| assert!(message.contains(part), "{part}\nnot in\n{message}"));
}

fn check_same(one: &Dataset, other: &Dataset, case: &str) {
    assert_eq!(
        (&one.matrix, &one.targets, &one.labels),
        (&other.matrix, &other.targets, &other.labels),
        "{case}"
    );
}

fn libsvm(rows: usize) -> String {
    (0..rows).map(|row| format!("{} 1:{} {}:0.25\n", row % 2, row % 97, 2 + row % 50)).collect()
}

#[test]
fn every_format_in_every_packing() {
    let folder = Folder::new();
    let table: String = (0..5000).map(|row| format!("{},{}.5,{}\n", row % 2, row, row % 7)).collect();
    for (name, text) in [("rows", libsvm(5000)), ("table", format!("label,a,b\n{table}"))] {
        let plain = read(&folder.file(name, text.as_bytes()));
        for (_, kind, pack) in PACKINGS {
            check_same(&read(&folder.file("packed", &pack(text.as_bytes()))), &plain, kind);
            let halves = [pack(&text.as_bytes()[..3001]), pack(b""), pack(&text.as_bytes()[3001..])].concat();
            check_same(&read(&folder.file("halves", &halves)), &plain, kind);
        }
    }
}

#[test]
fn images_in_every_packing() {
    let (images, labels) = (idx(&[3, 1, 2], &[255, 0, 51, 255, 0, 9]), idx(&[3], &[4, 9, 4]));
    for (ending, kind, pack) in PACKINGS {
        for (images_packed, labels_packed) in [(true, true), (true, false), (false, true)] {
            let folder = Folder::new();
            let file = |kind: &str, bytes: &[u8], packed: bool| match packed {
                true => folder.file(&format!("train-{kind}-ubyte.{ending}"), &pack(bytes)),
                false => folder.file(&format!("train-{kind}-ubyte"), bytes),
            };
            let path = file("images-idx3", &images, images_packed);
            file("labels-idx1", &labels, labels_packed);
            let dataset = read(&path);
            assert_eq!((dataset.matrix.rows(), &dataset.targets[..]), (3, &[-1.0, 1.0, -1.0][..]), "{kind}");
        }
    }
}

#[test]
fn cut_and_damaged_files_are_noticed() {
    let folder = Folder::new();
    let text = libsvm(100_000);
    for (ending, kind, pack) in PACKINGS {
        let packed = pack(text.as_bytes());
        let early = format!("the {kind} stream ends early, after");
        for kept in [packed.len() / 2, packed.len() - 3] {
            check_error(&folder.file(&format!("cut.{ending}"), &packed[..kept]), &[&early, "hint:"]);
        }
        let mut damaged = packed.clone();
        for byte in &mut damaged[packed.len() / 2..packed.len() / 2 + 8] {
            *byte ^= 0x5a;
        }
        check_error(
            &folder.file(&format!("damaged.{ending}"), &damaged),
            &[&format!("the {kind} stream"), "hint:"],
        );
        let more = [packed, b"this belongs to nothing, and is long enough".to_vec()].concat();
        let message = format!("the {kind} stream is damaged after");
        check_error(&folder.file(&format!("more.{ending}"), &more), &[&message, "hint:"]);
    }
}

#[test]
fn lines_are_those_of_the_unpacked_content() {
    let folder = Folder::new();
    let text = format!("{}1 1:x\n", libsvm(50_000));
    for (ending, _, pack) in PACKINGS {
        let path = folder.file(&format!("long.{ending}"), &pack(text.as_bytes()));
        check_error(&path, &[&format!("{path}:50001: the value of index 1 is “x”")]);
    }
}

#[test]
fn frames_with_large_windows() {
    let folder = Folder::new();
    let text = libsvm(1000);
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.set_parameter(zstd::zstd_safe::CParameter::WindowLog(30)).unwrap();
    encoder.write_all(text.as_bytes()).unwrap();
    let dataset = read(&folder.file("long.zst", &encoder.finish().unwrap()));
    assert_eq!(dataset.matrix.rows(), 1000);
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn utf16_is_converted() {
    let folder = Folder::new();
    let rows: String =
        (0..40_000).map(|row| format!("{},{row}\r\n", ["größer", "kleiner"][row % 2])).collect();
    let text = format!("\u{feff}label,größe 😀\r\n{rows}");
    let plain = read(&folder.file("plain", text.as_bytes()));
    assert_eq!(plain.targets.len(), 40_000);
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        check_same(&read(&folder.file("table.csv", &utf16(&text, unit))), &plain, "UTF-16");
        check_same(&read(&folder.file("table.csv.gz", &gzip(&utf16(&text, unit)))), &plain, "UTF-16, packed");
    }
    let path = folder.file("mistake.csv", &utf16("\u{feff}label,größe\na,1\nb,x\n", u16::to_le_bytes));
    check_error(&path, &[&format!("{path}:3: column 2 (größe) is “x”")]);
}

#[test]
fn latin_1_is_converted_where_it_occurs() {
    let folder = Folder::new();
    let path = folder.file("latin", b"gr\xf6\xdfe,label\n1,gr\xfcn\n2,gr\xe4n\n");
    let options = LoadOptions { label: LabelColumn::Name("label".to_string()), ..LoadOptions::default() };
    let Labels::Classes { negative, positive } = load(&path, &options).unwrap().labels else {
        panic!("classes")
    };
    assert_eq!((negative.as_str(), positive.as_str()), ("grän", "grün"));
    let named = LoadOptions { label: LabelColumn::Name("größe".to_string()), regression: true, ..options };
    let path = folder.file("numbers", b"gr\xf6\xdfe,a\n1,2\n2,3\n");
    assert_eq!(load(&path, &named).unwrap().targets, [1.0, 2.0]);
}

proptest! {
    #[test]
    fn damage_never_panics(at in 0.0..1.0f64, flip in 1u8.., packing in 0..4usize, block in 1..200usize) {
        let mut bytes = PACKINGS[packing].2(libsvm(200).as_bytes());
        let at = (at * bytes.len() as f64) as usize;
        bytes[at] ^= flip;
        let _ = parse_blocks(Format::Libsvm, &bytes, block, &LoadOptions::default());
    }
}
