//! How fast machines are, measured once each.

use std::fs;

use hemingway_train::Machine;
use rusqlite::{OptionalExtension, params};

use super::Store;
use super::runs::now;
use crate::{Error, Owner};

impl Store {
    /// The speed of this machine, if it was measured before.
    pub fn calibration(&self) -> Result<Option<Machine>, Error> {
        let query = "SELECT speed FROM calibrations WHERE machine = ?1";
        let text = self.connection.query_row(query, [this_machine()], |row| row.get::<_, String>(0));
        let text = text.optional().map_err(self.error())?;
        // One that cannot be read is measured again.
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Keeps the speed of this machine.
    pub fn save_calibration(&self, machine: &Machine) -> Result<(), Error> {
        let insert = "INSERT OR REPLACE INTO calibrations VALUES (?1, ?2, ?3)";
        let speed = serde_json::to_string(machine).expect("plain data has a JSON form");
        self.connection.execute(insert, params![this_machine(), now(), speed]).map_err(self.error())?;
        Ok(())
    }
}

/// Its name and its processor: a machine that changes either is measured again.
fn this_machine() -> String {
    format!("{}, {}", Owner::me().host, processor())
}

fn processor() -> String {
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    model.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
