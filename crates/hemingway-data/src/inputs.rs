//! Which files a spec names: one, several with ` + ` between them, a folder of part files, or a pattern.
//!
//! A spec is what the user typed and stays the name of the dataset. The files of a folder or pattern are in the order of
//! their names; those that were typed stay in the order typed. What a name begins with `.` or `_`, or ends with `.crc`,
//! accompanies data (`_SUCCESS`, `.part-00000.crc`) and is passed over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::list;
use crate::origin::{Origin, STANDARD_INPUT};
use crate::packing::unpacked_name;

/// What stands between the files of one dataset.
const BETWEEN: &str = " + ";

/// The spec of a dataset that lies in several files.
pub fn several(specs: &[String]) -> String {
    specs.join(BETWEEN)
}

/// Whether a dataset comes from standard input, so that it is gone when this process ends.
pub fn is_standard_input(spec: &str) -> bool {
    named(spec).contains(&STANDARD_INPUT)
}

/// The same dataset from whatever folder it is read. Names of embedded and generated data stay as they are.
pub fn absolute_spec(spec: &str) -> String {
    let specs: Vec<String> = named(spec).into_iter().map(absolute).collect();
    several(&specs)
}

/// The files of a spec in their order.
pub(crate) fn origins(spec: &str) -> Result<Vec<Origin>, Error> {
    let mut origins = Vec::new();
    for name in named(spec) {
        origins.extend(expanded(name)?);
    }
    Ok(origins)
}

/// The parts of a spec, unless there is a file that has all of it as its name.
fn named(spec: &str) -> Vec<&str> {
    if Path::new(spec).exists() { vec![spec] } else { spec.split(BETWEEN).collect() }
}

fn expanded(name: &str) -> Result<Vec<Origin>, Error> {
    let path = Path::new(name);
    if name == STANDARD_INPUT {
        Ok(vec![Origin::StandardInput])
    } else if path.is_dir() {
        in_folder(name)
    } else if !path.exists() && is_pattern(name) {
        matching(name)
    } else {
        Ok(vec![Origin::File(name.to_string())])
    }
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

fn in_folder(folder: &str) -> Result<Vec<Origin>, Error> {
    let failed = |source| Error::Read { file: folder.to_string(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    let files = data_files(paths);
    check_alike(folder, &files)?;
    match files.is_empty() {
        true => Err(Error::Directory { file: folder.to_string() }),
        false => Ok(files),
    }
}

fn matching(pattern: &str) -> Result<Vec<Origin>, Error> {
    let paths = glob::glob(pattern).map_err(|problem| Error::Pattern {
        pattern: pattern.to_string(),
        problem: problem.msg.to_string(),
    })?;
    let files = data_files(paths.filter_map(Result::ok).collect());
    match files.is_empty() {
        true => Err(Error::NoMatch { pattern: pattern.to_string() }),
        false => Ok(files),
    }
}

/// The data files among these paths, in the order of their names.
fn data_files(paths: Vec<PathBuf>) -> Vec<Origin> {
    let mut files: Vec<PathBuf> =
        paths.into_iter().filter(|path| !accompanies(path) && !path.is_dir()).collect();
    files.sort();
    files.into_iter().map(|path| Origin::File(path.display().to_string())).collect()
}

fn accompanies(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with(['.', '_']) || name.ends_with(".crc")
}

/// Refuses a folder in which other things lie beside the data: they must not be read as data in silence.
fn check_alike(folder: &str, files: &[Origin]) -> Result<(), Error> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        *counts.entry(ending(file.name())).or_default() += 1;
    }
    if counts.len() < 2 {
        return Ok(());
    }
    let kinds: Vec<String> = counts.iter().map(|(ending, count)| format!("{count} {ending}")).collect();
    Err(Error::MixedFolder { folder: folder.to_string(), kinds: list(&kinds, 6) })
}

/// How the name ends, compressed or not.
fn ending(name: &str) -> String {
    let ending = Path::new(unpacked_name(name)).extension();
    ending.map_or("without an ending".to_string(), |ending| format!(".{}", ending.to_string_lossy()))
}

fn absolute(name: &str) -> String {
    let path = Path::new(name);
    if path.exists() {
        return std::path::absolute(path).map_or(name.to_string(), |path| path.display().to_string());
    }
    let generated = name.starts_with("synthetic:") || name.starts_with("embedded:");
    match std::env::current_dir() {
        Ok(folder) if is_pattern(name) && path.is_relative() && !generated => {
            let folder = glob::Pattern::escape(&folder.display().to_string());
            Path::new(&folder).join(name).display().to_string()
        }
        _ => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        names.iter().for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
        folder
    }

    fn names(spec: &str) -> Result<Vec<String>, String> {
        let files = origins(spec).map_err(|error| error.to_string())?;
        Ok(files.iter().map(|file| file.name().rsplit('/').next().unwrap_or_default().to_string()).collect())
    }

    #[test]
    fn a_folder_as_spark_writes_it() {
        let folder = folder(&[
            "_SUCCESS",
            "._SUCCESS.crc",
            ".part-00000-a.csv.gz.crc",
            "part-00001-a.csv",
            "part-00000-a.csv.gz",
        ]);
        std::fs::create_dir(folder.path().join("_temporary")).unwrap();
        let path = folder.path().display().to_string();
        let expected = vec!["part-00000-a.csv.gz".to_string(), "part-00001-a.csv".to_string()];
        assert_eq!(names(&path), Ok(expected.clone()));
        assert_eq!(names(&format!("{path}/part-*")), Ok(expected.clone()));
        assert_eq!(names(&format!("{path}/*")), Ok(expected));
    }

    #[test]
    fn files_in_the_order_typed() {
        let folder = folder(&["a.csv", "b.csv", "c + d"]);
        let path = |name: &str| folder.path().join(name).display().to_string();
        assert_eq!(names(&several(&[path("b.csv"), path("a.csv")])).unwrap(), ["b.csv", "a.csv"]);
        assert_eq!(names(&path("c + d")).unwrap(), ["c + d"]);
        assert_eq!(names("synthetic:a").unwrap(), ["synthetic:a"]);
    }

    #[test]
    fn mistakes_are_explained() {
        let folder = folder(&["a.csv", "b.csv.gz", "notes.txt"]);
        let path = folder.path().display().to_string();
        let message = names(&path).unwrap_err();
        assert!(message.contains("2 .csv, 1 .txt") && message.contains("hint:"), "{message}");
        let message = names(&format!("{path}/*.tsv")).unwrap_err();
        assert!(message.contains("no file matches"), "{message}");
        let message = names(&format!("{path}/[")).unwrap_err();
        assert!(message.contains("pattern"), "{message}");
        let empty = tempfile::tempdir().unwrap();
        let message = names(&empty.path().display().to_string()).unwrap_err();
        assert!(message.contains("folder") && message.contains("no data files"), "{message}");
    }

    #[test]
    fn specs_become_absolute() {
        assert_eq!(absolute_spec("synthetic:text,rows=9"), "synthetic:text,rows=9");
        assert_eq!(absolute_spec("-"), "-");
        assert_eq!(absolute_spec("missing.csv"), "missing.csv");
        let (several, pattern) = (absolute_spec("Cargo.toml + src"), absolute_spec("src/*.rs"));
        assert!(several.starts_with('/') && several.contains("/Cargo.toml + /"), "{several}");
        assert!(pattern.starts_with('/') && pattern.ends_with("/src/*.rs"), "{pattern}");
    }
}
