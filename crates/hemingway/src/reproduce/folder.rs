//! The folder that a page with its figures goes into.

use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::plot::Chart;

/// A folder, which is made when the first file is written.
pub(crate) struct Folder<'a>(pub &'a Path);

impl Folder<'_> {
    /// Refuses a place that cannot be a folder, without writing anything.
    pub fn check(&self) -> Result<(), Error> {
        let nearest = self.0.ancestors().find(|path| path.as_os_str().is_empty() || path.exists());
        match nearest {
            Some(path) if !path.as_os_str().is_empty() && !path.is_dir() => {
                Err(Error::NotADirectory { path: path.to_path_buf() })
            }
            _ => Ok(()),
        }
    }

    /// Writes a file, in folders below this one if its name has any, and says where it is.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf, Error> {
        let file = self.0.join(name);
        write(&file, content.as_ref()).map_err(|source| Error::WriteFile { file: file.clone(), source })?;
        Ok(file)
    }

    /// Writes charts as PNG and SVG and their data as CSV; says where the PNGs and the data are.
    pub fn write_charts<'a>(
        &self,
        charts: impl Iterator<Item = (String, &'a Chart)>,
    ) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Error> {
        let (mut pictures, mut data) = (Vec::new(), Vec::new());
        for (name, chart) in charts {
            pictures.push(self.write(&format!("figures/{name}.png"), chart.png())?);
            self.write(&format!("figures/{name}.svg"), chart.svg())?;
            data.push(self.write(&format!("data/{name}.csv"), chart.csv())?);
        }
        Ok((pictures, data))
    }
}

/// How a page in the folder shows a chart.
pub(crate) fn picture(name: &str, chart: &Chart) -> String {
    format!("![{}](figures/{name}.png)", chart.title)
}

fn write(file: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, content)
}
