//! Formats that are not read, told by their content, and what to do with each.

use crate::number;

/// A format that is not read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Foreign {
    /// What it is, with an article.
    pub(crate) kind: &'static str,
    /// The next step.
    pub(crate) hint: &'static str,
}

/// Where the magic bytes lie, and what they mean.
type Magic = (usize, &'static [u8], &'static str, &'static str);

const UNPACK: &str = "unpack it and name the data file inside";
#[cfg(feature = "parquet")]
const PARQUET: &str = "unpack it, or write it into an ordinary file: Parquet is read from its end";
#[cfg(not(feature = "parquet"))]
const PARQUET: &str =
    "this program was built without it: cargo install --path crates/hemingway-cli --features parquet";
const EXCEL: &str = "save the sheet as CSV";

/// Bytes that no text has at its beginning.
const BINARY: [Magic; 26] = [
    (0, b"PK\x05\x06", "an empty ZIP archive", UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (0, b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (257, b"ustar", "a tar archive", "unpack it (tar xf) and name the folder or the data file"),
    (
        0,
        b"\x04\x22\x4d\x18",
        "LZ4-compressed",
        "unpack it (lz4 -d), or compress with gzip, zstd, bzip2 or xz",
    ),
    (
        0,
        b"\x1f\x9d",
        "compressed with compress",
        "unpack it (uncompress), or compress with gzip, zstd, bzip2 or xz",
    ),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook", EXCEL),
    (
        0,
        b"\x89HDF\r\n\x1a\n",
        "HDF5",
        "write it as CSV, in Python: pandas.read_hdf(FILE).to_csv(NEW, index=False)",
    ),
    (
        0,
        b"\x93NUMPY",
        "a NumPy array",
        "write it as CSV, in Python: numpy.savetxt(NEW, numpy.load(FILE), delimiter=\",\")",
    ),
    (
        0,
        b"ARROW1\0\0",
        "Feather or Arrow",
        "write it as CSV, in Python: pandas.read_feather(FILE).to_csv(NEW, index=False)",
    ),
    (
        0,
        b"\xff\xff\xff\xff",
        "an Arrow stream",
        "write it as CSV, in Python: pyarrow.csv.write_csv(pyarrow.ipc.open_stream(FILE).read_all(), NEW)",
    ),
    (0, b"Obj\x01", "Avro", "write it as CSV, for example with avro-tools tojson and jq"),
    (
        0,
        b"SQLite format 3\0",
        "an SQLite database",
        "write the table as CSV: sqlite3 -header -csv FILE \"select * from TABLE\"",
    ),
    (
        0,
        b"<stata_dta>",
        "a Stata file",
        "write it as CSV, in Python: pandas.read_stata(FILE).to_csv(NEW, index=False)",
    ),
    (
        12,
        b"\xc2\xea\x81\x60\xb3\x14\x11\xcf",
        "a SAS table",
        "write it as CSV, in Python: pandas.read_sas(FILE).to_csv(NEW, index=False)",
    ),
    (
        0,
        b"HEADER RECORD*******LIB",
        "a SAS transport file",
        "write it as CSV, in Python: pandas.read_sas(FILE, format=\"xport\").to_csv(NEW, index=False)",
    ),
    (
        0,
        b"$FL2@(#)",
        "an SPSS file",
        "write it as CSV, in Python: pandas.read_spss(FILE).to_csv(NEW, index=False)",
    ),
    (0, b"RDX2\n", "R data", "write it as CSV, in R: write.csv(TABLE, NEW, row.names=FALSE)"),
    (0, b"RDX3\n", "R data", "write it as CSV, in R: write.csv(TABLE, NEW, row.names=FALSE)"),
    (0, b"X\n\0\0\0", "R data", "write it as CSV, in R: write.csv(readRDS(FILE), NEW, row.names=FALSE)"),
    (0, b"MATLAB 5.0 MAT-file", "a MATLAB file", "write it as CSV, in MATLAB: writematrix(TABLE, NEW)"),
    (0, b"%PDF-", "a PDF document", "get the table behind it as CSV"),
    (0, b"\x89PNG\r\n\x1a\n", "a picture", "pictures are read as IDX, as MNIST has them"),
    (0, b"\xff\xd8\xff", "a picture", "pictures are read as IDX, as MNIST has them"),
    (0, b"\xff\xfe\0\0", "UTF-32 text", "write it as UTF-8: iconv -f UTF-32 -t UTF-8 FILE"),
    (0, b"\0\0\xfe\xff", "UTF-32 text", "write it as UTF-8: iconv -f UTF-32 -t UTF-8 FILE"),
];

/// Letters that a text may begin with, too: these mean something only before bytes that no text has.
const LETTERS: [Magic; 4] = [
    (0, b"ORC", "ORC", "write it as CSV, in Python: pandas.read_orc(FILE).to_csv(NEW, index=False)"),
    (0, b"FEA1", "Feather", "write it as CSV, in Python: pandas.read_feather(FILE).to_csv(NEW, index=False)"),
    (0, b"PAR1", "Parquet", PARQUET),
    (8, b"DUCK", "a DuckDB database", "write the table as CSV: COPY TABLE TO 'NEW' (HEADER)"),
];

const PICKLE: Foreign = Foreign {
    kind: "a Python pickle",
    hint: "write it as CSV, in Python: pandas.read_pickle(FILE).to_csv(NEW, index=False)",
};

/// What the head is, if it is a format that is not read.
pub(crate) fn of(head: &[u8]) -> Option<Foreign> {
    binary(head).or_else(|| text(head))
}

/// What the head is, if it is a binary format that is not read.
pub(crate) fn binary(head: &[u8]) -> Option<Foreign> {
    let found = |list: &[Magic]| {
        let magic =
            list.iter().find(|(at, magic, ..)| head.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
        magic.map(|(_, _, kind, hint)| Foreign { kind, hint })
    };
    if head.starts_with(b"PK\x03\x04") {
        return Some(archive(head));
    }
    match head {
        [0x80, 2..=5, ..] => return Some(PICKLE),
        [b'i'..=b's', 1 | 2, 1, 0, ..] => {
            let hint = "write it as CSV, in Python: pandas.read_stata(FILE).to_csv(NEW, index=False)";
            return Some(Foreign { kind: "a Stata file", hint });
        }
        _ => {}
    }
    found(&BINARY).or_else(|| found(&LETTERS).filter(|_| head.contains(&0))).or_else(|| unmarked_utf16(head))
}

/// ZIP holds spreadsheets and arrays as well; their names are near the beginning.
fn archive(head: &[u8]) -> Foreign {
    let contains = |name: &str| memchr::memmem::find(head, name.as_bytes()).is_some();
    if contains("xl/") || contains("[Content_Types].xml") {
        Foreign { kind: "an Excel workbook", hint: EXCEL }
    } else if contains("application/vnd.oasis.opendocument") {
        Foreign { kind: "an OpenDocument file", hint: EXCEL }
    } else if contains(".npy") {
        let hint = "write an array of it as CSV, in Python: numpy.savetxt(NEW, numpy.load(FILE)[NAME], delimiter=\",\")";
        Foreign { kind: "an archive of NumPy arrays", hint }
    } else {
        Foreign { kind: "a ZIP archive", hint: UNPACK }
    }
}

/// ASCII in units of two bytes, without a byte order mark.
fn unmarked_utf16(head: &[u8]) -> Option<Foreign> {
    let pairs = || head.chunks_exact(2).take(8);
    let is_text = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let little = pairs().all(|pair| is_text(pair[0]) && pair[1] == 0);
    let big = pairs().all(|pair| is_text(pair[1]) && pair[0] == 0);
    let hint = "write it as UTF-8: iconv -f UTF-16LE -t UTF-8 FILE (or UTF-16BE)";
    (pairs().len() >= 2 && (little || big))
        .then_some(Foreign { kind: "UTF-16 text without a byte order mark", hint })
}

/// What the head is, if it is a format of text that is not read.
fn text(head: &[u8]) -> Option<Foreign> {
    let head = head.trim_ascii_start();
    let lower = head[..head.len().min(64)].to_ascii_lowercase();
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let foreign = |kind, hint| Some(Foreign { kind, hint });
    match head {
        [b'{', ..] if is_json_object(head) && first.ends_with(b"}") => foreign(
            "JSON lines",
            "write it as CSV, in Python: pandas.read_json(FILE, lines=True).to_csv(NEW, index=False)",
        ),
        [b'{', ..] if is_json_object(head) => foreign("JSON", JSON),
        [b'[', rest @ ..]
            if rest.trim_ascii_start().starts_with(b"{") || rest.trim_ascii_start().starts_with(b"[") =>
        {
            foreign("JSON", JSON)
        }
        _ if lower.starts_with(b"<!doctype html") || lower.starts_with(b"<html") => foreign(
            "an HTML page",
            "this is probably a message in place of the data; open it in a browser and fetch the file itself",
        ),
        _ if lower.starts_with(b"<?xml") => {
            foreign("XML", "write it as CSV, in Python: pandas.read_xml(FILE).to_csv(NEW, index=False)")
        }
        _ if head.starts_with(b"version https://git-lfs") => {
            foreign("a pointer of Git LFS", "fetch the file itself: git lfs pull")
        }
        _ if lower.starts_with(b"%%matrixmarket") => foreign(
            "a Matrix Market file",
            "write it as LIBSVM, in Python: sklearn.datasets.dump_svmlight_file(scipy.io.mmread(FILE), LABELS, NEW)",
        ),
        _ if is_arff(head) => foreign(
            "ARFF",
            "take away the lines before the first row and name the columns in one line, as CSV does",
        ),
        _ if is_vowpal_wabbit(first) => {
            foreign("Vowpal Wabbit's format", "write LABEL INDEX:VALUE INDEX:VALUE …, as LIBSVM does")
        }
        _ => None,
    }
}

const JSON: &str = "write it as CSV, in Python: pandas.read_json(FILE).to_csv(NEW, index=False)";

fn is_json_object(head: &[u8]) -> bool {
    head[1..].trim_ascii_start().first().is_some_and(|byte| matches!(byte, b'"' | b'}'))
}

/// `@relation` is the first line that is no comment.
fn is_arff(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"%"));
    first.is_some_and(|line| line.len() >= 9 && line[..9].eq_ignore_ascii_case(b"@relation"))
}

/// `LABEL |namespace name:value …`
fn is_vowpal_wabbit(line: &[u8]) -> bool {
    let Some(bar) = memchr::memchr(b'|', line) else { return false };
    let named = |token: &[u8]| {
        let colon = memchr::memrchr(b':', token);
        colon.is_some_and(|at| at > 0 && number::whole(&token[at + 1..]).is_some()) && !token.contains(&b'|')
    };
    line[bar..].split(u8::is_ascii_whitespace).any(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &[u8], kind: &str) {
        assert_eq!(of(head).map(|foreign| foreign.kind), Some(kind), "{:?}", String::from_utf8_lossy(head));
    }

    #[test]
    fn binary_formats() {
        check(b"PK\x03\x04\x14\0\x06\0\x08\0[Content_Types].xml", "an Excel workbook");
        check(b"PK\x03\x04\x14\0\0\0\0\0xl/worksheets/sheet1.xml", "an Excel workbook");
        check(b"PK\x03\x04\x14\0\0\0\0\0arr_0.npy", "an archive of NumPy arrays");
        check(
            b"PK\x03\x04\x14\0\0\0\0\0mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
            "an OpenDocument file",
        );
        check(b"PK\x03\x04\x14\0\0\0\0\0train.csv", "a ZIP archive");
        check(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "an Excel workbook");
        check(b"\x80\x04\x95\x10\0", "a Python pickle");
        check(b"\x89HDF\r\n\x1a\n\0", "HDF5");
        check(b"\x93NUMPY\x01\0", "a NumPy array");
        check(b"ARROW1\0\0\xff", "Feather or Arrow");
        check(b"FEA1\0\0\0", "Feather");
        check(b"ORC\x0a\0\x01", "ORC");
        check(b"Obj\x01\x04\x14avro.codec", "Avro");
        check(b"SQLite format 3\0\x10", "an SQLite database");
        check(b"<stata_dta><header>", "a Stata file");
        check(b"\x72\x02\x01\0\x05\0", "a Stata file");
        check(b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92", "a SAS table");
        check(b"%PDF-1.4\n", "a PDF document");
        check(b"a\0,\0b\0\n\0", "UTF-16 text without a byte order mark");
        let mut tar = vec![b'a'; 257];
        tar.extend(b"ustar\x0000");
        check(&tar, "a tar archive");
    }

    #[test]
    fn formats_of_text() {
        check(b"{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}\n", "JSON lines");
        check(b"{\n  \"a\": [1, 2]\n}\n", "JSON");
        check(b"[\n {\"a\": 1}]", "JSON");
        check(b"[[1, 2], [3, 4]]", "JSON");
        check(b"% Title\n%\n\n@RELATION iris\n@ATTRIBUTE a NUMERIC\n", "ARFF");
        check(b"<!DOCTYPE html>\n<html>", "an HTML page");
        check(b"version https://git-lfs.github.com/spec/v1\noid", "a pointer of Git LFS");
        check(b"%%MatrixMarket matrix coordinate real general\n", "a Matrix Market file");
        check(b"1 |text good:1 bad:0.5\n", "Vowpal Wabbit's format");
    }

    #[test]
    fn tables_and_pairs_are_not_foreign() {
        for text in [
            &b"ORC,elf,human\n1,2,3\n"[..],
            b"FEA1,FEA2,label\n1,2,0\n",
            b"1 1:0.5 2:3\n",
            b"a|b|label\n1|2|0\n",
            b"{,}\n1,2\n",
            b"[a],[b]\n1,2\n",
            b"is\tit\n1\t2\n",
            b"\"@relation\",b\n1,2\n",
            b"",
        ] {
            assert_eq!(of(text), None, "{:?}", String::from_utf8_lossy(text));
        }
    }
}
