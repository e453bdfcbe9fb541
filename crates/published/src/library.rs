//! The published sources, read from the program's data, and the rows of their tables.

use std::collections::BTreeMap;

use document::sanitize::sanitize;

use crate::source::{
    CellValue, Configuration, Coordinates, Figure, PublishedTable, Source, System,
};
use crate::{Interval, PrintedNumber, Unit};

/// The data files, ordered by year of publication.
const FILES: [&str; 5] = [
    include_str!("../data/paper.toml"),
    include_str!("../data/veritas.toml"),
    include_str!("../data/mail-page.toml"),
    include_str!("../data/lfs.toml"),
    include_str!("../data/nfs-iscsi.toml"),
];

/// The error for a name that no source and no table has.
#[derive(Debug, thiserror::Error)]
#[error("there is no published result '{given}' (use one of {})", .names.join(", "))]
pub struct NoSuchName {
    given: String,
    names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    /// The sources, the oldest first.
    pub sources: Vec<Source>,
}

/// The figures of one system with one configuration in one table.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    pub source: &'a Source,
    pub table: &'a PublishedTable,
    pub system: &'a System,
    /// The build of the operating system, for example `32 bit`; `None` if the source has only one
    /// build.
    pub variant: Option<String>,
    pub configuration: &'a Configuration,
    pub figures: BTreeMap<Figure, (&'a CellValue, Unit)>,
}

impl Row<'_> {
    /// Returns a figure with its unit, or `None` if it is not available.
    pub fn figure(&self, figure: Figure) -> Option<(&PrintedNumber, Unit)> {
        let (cell, unit) = self.figures.get(&figure)?;
        Some((cell.0.known()?, *unit))
    }

    /// Returns the interval of values that the printed digits of a figure allow, in the figure's
    /// unit.
    pub fn interval(&self, figure: Figure) -> Option<Interval> {
        self.figure(figure)
            .map(|(number, unit)| Interval::of(number, unit))
    }

    /// Returns the header of the system's column, followed by the build of the operating system if
    /// the source has several builds.
    pub fn column(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}, {variant}", self.system.column),
            None => self.system.column.clone(),
        }
    }
}

impl Library {
    /// Reads all published sources.
    ///
    /// # Panics
    /// Panics if the program's own data is invalid. A test ensures that it is valid.
    pub fn read() -> Self {
        let source = |text| toml::from_str(text).expect("a test reads the same data");
        Self {
            sources: FILES.map(source).to_vec(),
        }
    }

    /// Returns the names of all sources with their data files.
    pub fn files() -> impl Iterator<Item = (String, &'static str)> {
        let names = Self::read().sources.into_iter().map(|source| source.name);
        names.zip(FILES)
    }

    /// Returns the names of all sources, each followed by the names of its tables.
    pub fn names(&self) -> Vec<String> {
        let of_source = |source: &Source| {
            let tables = source.tables.iter().map(|table| table.name.clone());
            [source.name.clone()]
                .into_iter()
                .chain(tables)
                .collect::<Vec<_>>()
        };
        self.sources.iter().flat_map(of_source).collect()
    }

    /// Returns a library with only the source of this name, or with only the table of this name and
    /// its source.
    ///
    /// # Errors
    /// Returns an error that lists all names if the name does not exist.
    pub fn take(&self, name: &str) -> Result<Self, NoSuchName> {
        let one = |source: &Source| Self {
            sources: vec![source.clone()],
        };
        for source in &self.sources {
            if source.name == name {
                return Ok(one(source));
            }
            if source.table(name).is_some() {
                let mut taken = one(source);
                taken.sources[0].tables.retain(|table| table.name == name);
                return Ok(taken);
            }
        }
        Err(NoSuchName {
            given: sanitize(name).into_owned(),
            names: self.names(),
        })
    }

    /// Returns all rows, ordered by source, table and system.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let tables = self.tables();
        tables
            .flat_map(|(source, table)| rows(source, table))
            .collect()
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = (&Source, &PublishedTable)> {
        let sources = self.sources.iter();
        sources.flat_map(|source| source.tables.iter().map(move |table| (source, table)))
    }
}

/// Returns the rows of a table, in the order of their first cells.
pub fn rows<'a>(source: &'a Source, table: &'a PublishedTable) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    for place in table.places() {
        let Coordinates {
            figure: Some(figure),
            unit: Some(unit),
            system: Some(system),
            over: None,
            variant,
            configurations,
        } = place.of
        else {
            continue;
        };
        let (Some(system), [configuration]) = (source.system(&system), configurations.as_slice())
        else {
            continue;
        };
        let Some(configuration) = source.configuration(configuration) else {
            continue;
        };
        let is_same = |row: &&mut Row<'_>| {
            row.system.name == system.name
                && row.variant == variant
                && row.configuration.name == configuration.name
        };
        if let Some(row) = rows.iter_mut().find(is_same) {
            row.figures.insert(figure, (place.cell, unit));
        } else {
            rows.push(Row {
                source,
                table,
                system,
                variant,
                configuration,
                figures: BTreeMap::from([(figure, (place.cell, unit))]),
            });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::source::PrintedCell;

    const PAPER: &str = FILES[0];

    fn repeated(names: &[String]) -> Option<&String> {
        let mut seen = BTreeSet::new();
        names.iter().find(|name| !seen.insert(name.as_str()))
    }

    fn source(text: &str) -> Result<Source, String> {
        let source = toml::from_str(text).map_err(|problem| problem.to_string())?;
        check(&source)?;
        Ok(source)
    }

    /// Checks what the TOML types cannot ensure: names exist and are unique, and cells have
    /// complete coordinates.
    fn check(source: &Source) -> Result<(), String> {
        let systems: Vec<String> = source
            .systems
            .iter()
            .map(|system| system.name.clone())
            .collect();
        let configurations = source.configurations.iter().map(|one| one.name.clone());
        for names in [systems, configurations.collect()] {
            if let Some(name) = repeated(&names) {
                return Err(format!("the name {name} is there twice"));
            }
        }
        for table in &source.tables {
            check_table(source, table)
                .map_err(|problem| format!("table {}: {problem}", table.name))?;
        }
        Ok(())
    }

    fn check_table(source: &Source, table: &PublishedTable) -> Result<(), String> {
        for line in &table.rows {
            if line.labels.len() != table.stub.len() || line.cells.len() != table.columns.len() {
                return Err(format!(
                    "row {:?} has {} labels and {} cells for {} and {} headers",
                    line.labels,
                    line.labels.len(),
                    line.cells.len(),
                    table.stub.len(),
                    table.columns.len()
                ));
            }
        }
        if let Some(cause) = table
            .causes
            .iter()
            .find(|cause| source.system(&cause.system).is_none())
        {
            return Err(format!(
                "a cause is of {}, which is not there",
                cause.system
            ));
        }
        let mut seen = BTreeSet::new();
        for place in table.places() {
            let problem = |problem: &str| {
                let labels = place.line.labels.join(" ");
                format!("row '{labels}', column '{}': {problem}", place.column.label)
            };
            check_place(source, &place).map_err(|text| problem(&text))?;
            if !seen.insert(format!("{:?}", place.of)) {
                return Err(problem("another cell is of the same"));
            }
        }
        Ok(())
    }

    fn check_place(source: &Source, place: &PrintedCell<'_>) -> Result<(), String> {
        let of = &place.of;
        let (Some(figure), Some(_)) = (of.figure, of.unit) else {
            return Err("it is of no figure, or without a unit".to_owned());
        };
        let is_comparison = figure == Figure::Improvement;
        for (name, is_needed) in [(&of.system, true), (&of.over, is_comparison)] {
            match name {
                Some(name) if source.system(name).is_none() => {
                    return Err(format!("there is no system {name}"));
                }
                None if is_needed => return Err("a system is missing".to_owned()),
                _ => {}
            }
        }
        if of.over.is_some() && !is_comparison {
            return Err("only an improvement is over another system".to_owned());
        }
        let several = of.configurations.len() > 1;
        if of.configurations.is_empty() || ((several || place.is_range()) && !is_comparison) {
            return Err(
                "give one configuration; a range goes over several, and is an improvement"
                    .to_owned(),
            );
        }
        let missing = |name: &&String| source.configuration(name).is_none();
        match of.configurations.iter().find(missing) {
            Some(name) => Err(format!("there is no configuration {name}")),
            None => Ok(()),
        }
    }

    #[test]
    fn data_files_of_published_results_pass_all_checks() {
        for text in FILES {
            source(text).unwrap();
        }
        let library = Library::read();
        assert_eq!(repeated(&library.names()), None);
        let rows = library.rows();
        assert!(rows.len() > 100, "{} rows", rows.len());
        for row in &rows {
            assert!(
                !row.figures.is_empty(),
                "{} {}",
                row.table.name,
                row.system.name
            );
        }
    }

    #[test]
    fn errors_in_data_files_state_what_is_invalid() {
        for (from, to, told) in [
            (
                "cells = [\"36\", \"2000\",",
                "cells = [\"2000\",",
                "has 1 labels and 5 cells for 1 and 6 headers",
            ),
            ("\"4880\"", "\"488O\"", "'488O' is not a number"),
            (
                "of = { system = \"tmpfs\" }",
                "of = { system = \"tempfs\" }",
                "there is no system tempfs",
            ),
            (
                "label = \"UFS\", of",
                "label = \"UFS\", if",
                "unknown field `if`",
            ),
            (
                "configurations = [\"1000/50000\"]",
                "configurations = [\"1000/5\"]",
                "there is no configuration 1000/5",
            ),
            (
                "{ figure = \"data-read-rate\"",
                "{ figure = \"data-written-rate\"",
                "another cell is of the same",
            ),
            (
                "{ figure = \"data-read-rate\", unit = \"kilobytes-per-second\" }",
                "{ figure = \"data-read-rate\" }",
                "without a unit",
            ),
            (
                "name = \"tmpfs\"",
                "name = \"ufs\"",
                "the name ufs is there twice",
            ),
        ] {
            assert!(PAPER.contains(from), "{from}");
            let error = source(&PAPER.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(told), "{told}: {error}");
        }
    }

    #[test]
    fn unknown_source_is_refused_with_a_list_of_all_names() {
        let library = Library::read();
        assert_eq!(library.take("paper").unwrap().sources[0].tables.len(), 7);
        let one = library.take("mail-page-3").unwrap();
        assert_eq!(
            (one.sources[0].tables.len(), one.sources[0].name.as_str()),
            (1, "mail-page")
        );
        let error = library.take("paper-9\u{1b}[2J").unwrap_err().to_string();
        assert!(
            error.contains("'paper-9\\x1b[2J' (use one of paper, paper-1"),
            "{error}"
        );
    }
}
