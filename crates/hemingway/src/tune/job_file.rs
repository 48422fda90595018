//! The job file of `hemingway tune`: what is trained, on which machines, and how a schedule is evaluated.

use std::collections::BTreeMap;
use std::path::Path;

use hemingway_data::parse_size;
use hemingway_tune::schedule::{Cluster, Device, Job, Kind, Machine};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::MOST_EVALUATIONS;
use crate::Error;
use crate::units::{parse_bandwidth, parse_seconds};

/// Where studies of a job begin: all that its file says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TuneJob {
    /// What users call it.
    pub name: String,
    /// Machines, batch and size of the parameters. Where the batch is open, any of the range.
    pub job: Job,
    /// The range of batches to choose from, if it is open.
    pub batches: Option<(u64, u64)>,
    /// The gradient noise scale, if it is given.
    pub noise_scale: Option<f64>,
    /// What evaluates a configuration.
    pub command: Option<String>,
    /// How many evaluations may be made.
    pub evaluations: Option<usize>,
    /// Seconds after which an evaluation has failed.
    pub timeout: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "unnamed")]
    name: String,
    batch: Spanned<Batch>,
    parameters: Spanned<Size>,
    command: Option<String>,
    evaluations: Option<Spanned<usize>>,
    timeout: Option<Spanned<Size>>,
    types: BTreeMap<String, Spanned<TypeTable>>,
    machines: Vec<Spanned<MachineTable>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Batch {
    Given(u64),
    Open(Range),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    from: u64,
    to: u64,
    noise_scale: Option<f64>,
}

/// A number, or a number with a unit.
#[derive(Deserialize)]
#[serde(untagged)]
enum Size {
    Number(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypeTable {
    #[serde(default)]
    devices: BTreeMap<String, DeviceTable>,
    bandwidth: Option<Size>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviceTable {
    speed: Option<f64>,
    most: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineTable {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    count: Option<usize>,
}

fn unnamed() -> String {
    "job".into()
}

/// Says in which line something is wrong.
struct Lines<'a>(&'a str);

impl Lines<'_> {
    fn read<T, R>(&self, part: &Spanned<T>, read: impl FnOnce(&T) -> Result<R, String>) -> Result<R, String> {
        let line = || 1 + self.0[..part.span().start].matches('\n').count();
        read(part.get_ref()).map_err(|problem| format!("line {}: {problem}", line()))
    }
}

/// A year: who waits longer does not wait for an evaluation.
const LONGEST_TIMEOUT: f64 = 365.0 * 86_400.0;
/// More machines than anybody schedules by hand, fewer than it takes to think for minutes.
const MOST_MACHINES: usize = 200;

impl TuneJob {
    /// Reads a job file.
    pub fn read(file: &Path) -> Result<TuneJob, Error> {
        let text = std::fs::read_to_string(file)
            .map_err(|source| Error::Read { file: file.to_path_buf(), source })?;
        TuneJob::parse(&text).map_err(|problem| Error::JobFile { file: file.to_path_buf(), problem })
    }

    /// The text of a job file.
    pub fn parse(text: &str) -> Result<TuneJob, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let lines = Lines(text);
        let kinds = file.types.iter().map(|(name, table)| lines.read(table, |table| kind(name, table)));
        let kinds: Vec<Kind> = kinds.collect::<Result<_, _>>()?;
        let cluster = Cluster { machines: machines(&file.machines, &kinds, &lines)?, kinds };
        let parameter_bytes = lines.read(&file.parameters, parameters)?;
        let (batch, batches, noise_scale) = lines.read(&file.batch, batch)?;
        let timeout = file.timeout.as_ref().map(|given| lines.read(given, timeout)).transpose()?;
        let evaluations =
            file.evaluations.as_ref().map(|given| lines.read(given, evaluations)).transpose()?;
        let job = Job { cluster, batch, parameter_bytes };
        check(&job, batches.map_or(batch, |(_, to)| to))?;
        let File { name, command, .. } = file;
        Ok(TuneJob { name, job, batches, noise_scale, command, evaluations, timeout })
    }
}

fn parameters(given: &Size) -> Result<f64, String> {
    let bytes = match given {
        Size::Number(bytes) => *bytes,
        Size::Text(text) => parse_size(text).map_err(|error| format!("parameters: {error}"))? as f64,
    };
    if bytes.is_finite() && (0.0..1e18).contains(&bytes) {
        return Ok(bytes);
    }
    Err(format!("parameters = {bytes} is no size; write it like \"173 MB\""))
}

fn timeout(given: &Size) -> Result<f64, String> {
    let seconds = match given {
        Size::Number(seconds) => *seconds,
        Size::Text(text) => parse_seconds(text).map_err(|error| format!("timeout: {error}"))?,
    };
    if seconds > 0.0 && seconds <= LONGEST_TIMEOUT {
        return Ok(seconds);
    }
    Err(format!("timeout = {seconds} is no time; write it like \"5m\", a year at most"))
}

fn evaluations(given: &usize) -> Result<usize, String> {
    match *given {
        0 => Err("evaluations = 0: at least one is needed".into()),
        count if count > MOST_EVALUATIONS => {
            Err(format!("evaluations = {count} is more than {MOST_EVALUATIONS}"))
        }
        count => Ok(count),
    }
}

fn kind(name: &str, table: &TypeTable) -> Result<Kind, String> {
    let device = |(device, hints): (&String, &DeviceTable)| {
        let speed = hints.speed.unwrap_or(1.0);
        if !(speed > 0.0 && speed.is_finite()) {
            return Err(format!(
                "types.{name}.devices.{device}: speed = {speed}; a positive number is needed"
            ));
        }
        if hints.most == Some(0) {
            return Err(format!("types.{name}.devices.{device}: most = 0; leave the device out instead"));
        }
        Ok(Device { name: device.clone(), speed, most: hints.most })
    };
    let bandwidth = match &table.bandwidth {
        None => None,
        Some(Size::Number(bytes)) if *bytes > 0.0 && bytes.is_finite() => Some(*bytes),
        Some(Size::Number(bytes)) => return Err(format!("types.{name}: bandwidth = {bytes} is no speed")),
        Some(Size::Text(text)) => {
            Some(parse_bandwidth(text).map_err(|error| format!("types.{name}: bandwidth: {error}"))?)
        }
    };
    let devices = table.devices.iter().map(device).collect::<Result<Vec<Device>, String>>()?;
    if devices.len() > 8 {
        return Err(format!("types.{name} has {} devices; at most 8 can be scheduled", devices.len()));
    }
    Ok(Kind { name: name.to_owned(), devices, bandwidth })
}

fn machines(tables: &[Spanned<MachineTable>], kinds: &[Kind], lines: &Lines) -> Result<Vec<Machine>, String> {
    let mut machines: Vec<Machine> = Vec::new();
    for table in tables {
        machines.extend(lines.read(table, |table| machines_of(table, kinds))?);
    }
    let mut names: Vec<&str> = machines.iter().map(|machine| machine.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("two machines are called `{}`", twice[0]));
    }
    if machines.len() > MOST_MACHINES {
        return Err(format!("{} machines are more than {MOST_MACHINES}", machines.len()));
    }
    Ok(machines)
}

fn machines_of(table: &MachineTable, kinds: &[Kind]) -> Result<Vec<Machine>, String> {
    let Some(kind) = kinds.iter().position(|kind| kind.name == table.kind) else {
        let known: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
        return Err(format!(
            "machine {}: there is no type `{}`; types are {}",
            table.name,
            table.kind,
            known.join(", ")
        ));
    };
    if table.count.is_some_and(|count| count > MOST_MACHINES) {
        return Err(format!(
            "machine {}: count = {} is more than {MOST_MACHINES}",
            table.name,
            table.count.unwrap_or(0)
        ));
    }
    Ok(match table.count {
        None => vec![Machine { name: table.name.clone(), kind }],
        Some(count) => {
            (1..=count).map(|number| Machine { name: format!("{}-{number}", table.name), kind }).collect()
        }
    })
}

/// A batch, the range to choose it from if it is open, and the noise scale if it is given.
type BatchOf = (u64, Option<(u64, u64)>, Option<f64>);

fn batch(given: &Batch) -> Result<BatchOf, String> {
    let possible = |batch: u64| (1..=1 << 40).contains(&batch);
    match given {
        Batch::Given(batch) if possible(*batch) => Ok((*batch, None, None)),
        Batch::Given(batch) => Err(format!("batch = {batch}: at least one input per iteration is needed")),
        Batch::Open(Range { from, to, noise_scale }) => {
            if !(possible(*from) && possible(*to) && from < to) {
                return Err(format!("batch: from = {from}, to = {to} is no range"));
            }
            if noise_scale.is_some_and(|scale| !(scale > 0.0 && scale.is_finite())) {
                return Err("batch: noise_scale has to be a positive number of inputs".into());
            }
            Ok((*from, Some((*from, *to)), *noise_scale))
        }
    }
}

/// Whether anybody can do the work.
fn check(job: &Job, largest: u64) -> Result<(), String> {
    if job.cluster.machines.is_empty() {
        return Err("there is no machine; add [[machines]] with a name and a type".into());
    }
    if job.cluster.devices() == 0 {
        return Err(
            "no machine has a device, so nobody can compute; add devices = { cpu = {} } to a type".into()
        );
    }
    let most = (0..job.cluster.machines.len()).flat_map(|machine| &job.cluster.kind_of(machine).devices);
    let room = most.map(|device| device.most.unwrap_or(u64::MAX)).fold(0, u64::saturating_add);
    if room < largest {
        return Err(format!("the devices together hold {room} inputs (`most`), the batch is {largest}"));
    }
    Ok(())
}

/// A job file to begin with.
pub const TEMPLATE: &str = r#"# A job for `hemingway tune`: who computes, who serves parameters, how much each device gets.

name = "my network"

# Inputs per iteration, over all devices. Or leave it open, for the least time to a loss instead of the least time
# per iteration (answers then report gradient_noise_scale, or give noise_scale = 1000 here):
# batch = { from = 256, to = 8192 }
batch = 1024

# The size of the parameters.
parameters = "200 MB"

# Gets a configuration as JSON on standard input:
#   {"machines": {"big-1": {"worker": true, "ps": false, "loads": {"cpu": 100, "gpu": 412}}, …}}
# runs some iterations with it, and prints what it measured as JSON on standard output:
#   {"status": "ok", "time": 1.23, "communication_time": 0.4,
#    "machines": {"big-1": {"time": 0.8, "devices": {"cpu": {"load": 100, "time": 0.7}, "gpu": {"load": 412, "time": 0.8}}}, …}}
# Times are seconds per iteration; only "time" is needed, the rest makes learning faster.
# {"status": "failed"} or an exit code that is not 0 is a configuration that does not work, for example out of memory.
command = "python train.py"

evaluations = 10
timeout = "10m"

# Machines of one type are alike. `speed` is a guess relative to other devices, `most` the largest load that fits,
# `bandwidth` a guess; all three may be left out.
[types.big]
devices = { cpu = { speed = 1 }, gpu = { speed = 8, most = 4096 } }
bandwidth = "10 Gbit/s"

[types.small]
devices = { cpu = { speed = 0.5 } }
bandwidth = "1 Gbit/s"

[[machines]]
name = "big"          # big-1, big-2
type = "big"
count = 2

[[machines]]
name = "small"        # small-1 to small-4
type = "small"
count = 4
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_a_job() {
        let job = TuneJob::parse(TEMPLATE).unwrap();
        assert_eq!(job.job.cluster.machines.len(), 6);
        assert_eq!((job.job.batch, job.evaluations, job.timeout), (1024, Some(10), Some(600.0)));
        let big = &job.job.cluster.kinds[0];
        assert_eq!((big.name.as_str(), big.bandwidth), ("big", Some(1.25e9)));
        assert_eq!(big.devices[1], Device { name: "gpu".into(), speed: 8.0, most: Some(4096) });
    }

    #[test]
    fn an_open_batch_has_a_range() {
        let job =
            TuneJob::parse(&TEMPLATE.replace("batch = 1024", "batch = { from = 64, to = 4096 }")).unwrap();
        assert_eq!(job.batches, Some((64, 4096)));
    }

    #[test]
    fn what_cannot_work_is_said() {
        let check = |from: &str, to: &str, expected: &str| {
            let changed = TEMPLATE.replace(from, to);
            assert_ne!(changed, TEMPLATE, "{from}");
            let message = TuneJob::parse(&changed).unwrap_err();
            assert!(message.contains(expected), "{message}");
        };
        check("batch = 1024", "batch = 0", "line 8: batch = 0: at least one input");
        check("evaluations = 10", "evaluations = 100000", "more than 10000");
        check("timeout = \"10m\"", "timeout = 1e300", "no time");
        check("batch = 1024", "batch = { from = 9, to = 9 }", "no range");
        check("\"200 MB\"", "\"many\"", "not a size");
        check("\"200 MB\"", "-1.0", "no size");
        check("type = \"small\"", "type = \"smal\"", "there is no type `smal`; types are big, small");
        check("count = 4", "count = 5000", "more than 200");
        check(
            "name = \"small\"        # small-1 to small-4",
            "name = \"big\"",
            "two machines are called `big-1`",
        );
        check("evaluations = 10", "evaluations = 0", "at least one");
        check("speed = 0.5", "speed = -1", "a positive number");
        check("evaluations = 10", "evaluation = 10", "unknown field `evaluation`");
        check("timeout = \"10m\"", "timeout = \"soon\"", "timeout");
        check("\"1 Gbit/s\"", "\"fast\"", "bandwidth");
    }

    #[test]
    fn somebody_has_to_compute() {
        let empty = "batch = 8\nparameters = 100\nmachines = []\n[types.a]\n";
        assert!(TuneJob::parse(empty).unwrap_err().contains("there is no machine"));
        let idle = "batch = 8\nparameters = 100\n[types.a]\n[[machines]]\nname = \"x\"\ntype = \"a\"\n";
        assert!(TuneJob::parse(idle).unwrap_err().contains("nobody can compute"));
        let full = idle.replace("[types.a]", "[types.a]\ndevices = { gpu = { most = 5 } }");
        assert!(TuneJob::parse(&full).unwrap_err().contains("hold 5 inputs (`most`), the batch is 8"));
    }
}
