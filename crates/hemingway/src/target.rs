//! Where a file goes when the user names a place for it: what is there already decides how it is written.
//!
//! A file, or nothing yet: written beside it under a name that nobody can guess, then renamed, so it is there as a
//! whole or not at all. A symbolic link: the same at its end, and the link stays. A pipe or a device: written to as it
//! is. A file behind `/proc` or `/dev/fd`, which is how `/dev/stdout` looks, is open already, perhaps with something in
//! it, so it is written to where it stands.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::Access;

/// More links than this lead in a circle, as the system itself has it.
const MOST_LINKS: usize = 40;

/// How a file will be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// As a whole, in place of what is there.
    Whole(PathBuf),
    /// Into something that is there.
    Stream(PathBuf),
}

impl Target {
    /// Looks at what is there.
    pub(crate) fn of(file: &Path) -> io::Result<Target> {
        let end = follow(file)?;
        let there = match fs::metadata(file) {
            Ok(there) => there.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Target::Whole(end)),
            Err(error) => return Err(error),
        };
        if there.is_dir() {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"))
        } else if there.is_socket() {
            Err(io::Error::new(io::ErrorKind::Unsupported, "it is a socket"))
        } else if there.is_file() && !is_open(&end) {
            Ok(Target::Whole(end))
        } else if is_open(&end) {
            Ok(Target::Stream(end))
        } else {
            Ok(Target::Stream(file.to_path_buf()))
        }
    }

    /// Whether it could be written now. What is tried leaves nothing behind.
    pub(crate) fn check(&self) -> io::Result<()> {
        match self {
            Target::Stream(file) => may_write(file),
            Target::Whole(file) => {
                if file.exists() {
                    may_write(file)?;
                }
                tempfile::tempfile_in(folder(file)).map(drop)
            }
        }
    }

    /// Writes it, to the disk where it is on one.
    pub(crate) fn write(&self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        match self {
            Target::Whole(file) => write_whole(file, content),
            Target::Stream(file) => content(&mut open(file)?),
        }
    }
}

/// Opens something that is there. What this process prints to goes on from where it stands.
fn open(file: &Path) -> io::Result<File> {
    let descriptor = file.strip_prefix("/proc/self/fd").or_else(|_| file.strip_prefix("/dev/fd"));
    match descriptor.ok().and_then(Path::to_str) {
        Some("1") => Ok(io::stdout().as_fd().try_clone_to_owned()?.into()),
        Some("2") => Ok(io::stderr().as_fd().try_clone_to_owned()?.into()),
        _ => OpenOptions::new().append(true).open(file),
    }
}

/// Whether a path names something that is open in a process.
fn is_open(file: &Path) -> bool {
    file.starts_with("/proc") || file.starts_with("/dev/fd")
}

/// The end of a chain of links; what is open in a process is not followed further.
fn follow(file: &Path) -> io::Result<PathBuf> {
    let mut end = file.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&end) {
            Ok(next) if !is_open(&end) => end = folder(&end).join(next),
            _ => return Ok(end),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

fn write_whole(file: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = folder(file);
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // As any new file: what the umask leaves of it; but one that is replaced keeps its permissions.
    let mut new = tempfile::Builder::new()
        .prefix(&format!(".{name}."))
        .suffix(".new")
        .rand_bytes(12)
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    if let Ok(before) = fs::metadata(file) {
        new.as_file().set_permissions(before.permissions())?;
    }
    content(new.as_file_mut())?;
    new.as_file().sync_all()?;
    new.persist(file).map_err(|error| error.error)?;
    // The new name is on the disk only with its folder. Some file systems cannot do that, and need not.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn may_write(file: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(file, Access::WRITE_OK)?)
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn write(file: &Path, text: &str) -> io::Result<()> {
        Target::of(file)?.write(|out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn links_stay_and_their_ends_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("there")).unwrap();
        symlink("there/second", at("first")).unwrap();
        symlink("end", at("there/second")).unwrap();
        for text in ["one", "two"] {
            write(&at("first"), text).unwrap();
            assert_eq!(fs::read_to_string(at("there/end")).unwrap(), text);
        }
        assert!(at("first").is_symlink() && at("there/second").is_symlink());
        assert_eq!((names(folder.path()).len(), names(&at("there")).len()), (2, 2));
        symlink("circle", at("circle")).unwrap();
        assert!(Target::of(&at("circle")).is_err());
    }

    #[test]
    fn permissions_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        write(&file, "new").unwrap();
        assert_eq!(mode() & 0o600, 0o600);
        for kept in [0o600, 0o664] {
            fs::set_permissions(&file, fs::Permissions::from_mode(kept)).unwrap();
            write(&file, "again").unwrap();
            assert_eq!(mode(), kept);
        }
    }

    #[test]
    fn devices_are_written_to() {
        let device = Path::new("/dev/null");
        assert_eq!(Target::of(device).unwrap(), Target::Stream(device.into()));
        Target::of(device).unwrap().check().unwrap();
        write(device, "gone").unwrap();
        assert!(fs::metadata(device).unwrap().file_type().is_char_device());
    }

    #[test]
    fn a_file_that_is_open_under_another_name_is_written_to() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("open")).unwrap();
        let other = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        assert_eq!(Target::of(&other).unwrap(), Target::Stream(other.clone()));
        write(&other, "text").unwrap();
        assert_eq!(file.metadata().unwrap().len(), 4);
    }

    #[test]
    fn what_fails_leaves_nothing_and_keeps_what_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        write(&file, "before").unwrap();
        let target = Target::of(&file).unwrap();
        let failed = target.write(|out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert!(failed.is_err());
        target.check().unwrap();
        assert_eq!(names(folder.path()), ["file"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "before");
    }
}
