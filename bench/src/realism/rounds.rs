//! The data file of rounds: a CSV file to which each finished measurement is appended, so that an
//! interrupted benchmark continues where it ended.

use crate::result::Result;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::cell::Step;

const HEADER: &str = "data,round,file_system,name,step,operations,seconds\n";

/// Identifies a measurement: an application or a preset on a file system, in a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The data set, for example `other`, or `other-small`.
    pub data: String,
    pub round: u32,
    pub file_system: String,
    /// The name of an application or of a preset.
    pub name: String,
}

/// A line of the data file: the time of one step of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub place: Place,
    pub step: Step,
}

pub struct Rounds {
    file: File,
    pub lines: Vec<Line>,
}

impl Rounds {
    /// Reads the data file, or creates it. A last line that was not written completely is removed.
    pub fn open(path: &Path) -> Result<Self> {
        let wrong = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let mut options = OpenOptions::new();
        let options = options.create(true).append(true);
        let mut file = options.open(path).map_err(|error| wrong(&error))?;
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
        let complete = text.rfind('\n').map_or("", |end| &text[..=end]);
        file.set_len(complete.len() as u64)?;
        if complete.is_empty() {
            file.write_all(HEADER.as_bytes())?;
        }
        let lines = complete.lines().enumerate().skip(1);
        let lines = lines.map(|(number, line)| {
            Line::parse(line).ok_or_else(|| {
                let number = number + 1;
                wrong(&format!("line {number} is not a measurement (remove it)")).into()
            })
        });
        Ok(Self {
            lines: lines.collect::<Result<_>>()?,
            file,
        })
    }

    pub fn contains(&self, place: &Place) -> bool {
        self.lines.iter().any(|line| line.place == *place)
    }

    /// Appends all steps of a measurement in one write, so that an interruption keeps all or none.
    pub fn append(&mut self, place: &Place, steps: Vec<Step>) -> Result<()> {
        let lines = steps.into_iter().map(|step| Line {
            place: place.clone(),
            step,
        });
        let lines: Vec<Line> = lines.collect();
        let text: String = lines.iter().map(Line::csv).collect();
        self.file.write_all(text.as_bytes())?;
        self.lines.extend(lines);
        Ok(())
    }
}

impl Line {
    fn csv(&self) -> String {
        let Place {
            data,
            round,
            file_system,
            name,
        } = &self.place;
        let Step {
            name: step,
            operations,
            seconds,
        } = &self.step;
        format!("{data},{round},{file_system},{name},{step},{operations},{seconds:.6}\n")
    }

    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let [data, round, file_system, name, step, operations, seconds] = fields[..] else {
            return None;
        };
        Some(Self {
            place: Place {
                data: data.to_owned(),
                round: round.parse().ok()?,
                file_system: file_system.to_owned(),
                name: name.to_owned(),
            },
            step: Step {
                name: step.to_owned(),
                operations: operations.parse().ok()?,
                seconds: seconds.parse().ok()?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(round: u32) -> Place {
        Place {
            data: "other".to_owned(),
            round,
            file_system: "ext4".to_owned(),
            name: "tar".to_owned(),
        }
    }

    #[test]
    fn finished_measurements_are_kept_and_an_incomplete_line_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rounds.csv");
        let step = Step {
            name: "tar".to_owned(),
            operations: 5,
            seconds: 0.25,
        };
        let mut rounds = Rounds::open(&path).unwrap();
        rounds.append(&place(0), vec![step.clone()]).unwrap();
        drop(rounds);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"other,1,ext4,tar,tar,5,0.").unwrap();
        let mut rounds = Rounds::open(&path).unwrap();
        assert!(rounds.contains(&place(0)) && !rounds.contains(&place(1)));
        rounds.append(&place(1), vec![step.clone()]).unwrap();
        let rounds = Rounds::open(&path).unwrap();
        assert_eq!(rounds.lines.len(), 2);
        assert_eq!(rounds.lines[1].step, step);
    }

    #[test]
    fn line_that_is_not_a_measurement_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rounds.csv");
        std::fs::write(&path, format!("{HEADER}other,1,ext4\n")).unwrap();
        let error = Rounds::open(&path).err().unwrap().to_string();
        assert!(error.contains("line 2 is not a measurement"), "{error}");
    }
}
