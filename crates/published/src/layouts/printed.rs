//! Adds the published values for the workloads of a study.

use record::Fact;

use super::figures::figures_of;
use super::results::{LayoutResults, ShownValue, StudiedSystem};
use crate::library::{Row, rows};
use crate::number::{PrintedNumber, Unit};
use crate::shape::ConfigurationShape;
use crate::source::{Figure, PublishedTable, Source, System};

/// Returns the index of a published system in the results. The header of its column and the build
/// of the operating system identify the system.
fn find(results: &LayoutResults, system: &System, variant: Option<&str>) -> Option<usize> {
    results.published().find(|at| {
        let known = &results.systems[*at];
        known.name == system.column && known.variant.as_deref() == variant
    })
}

/// Adds the paper's rows for the study's workloads.
pub(super) fn add(results: &mut LayoutResults, paper: &Source) {
    let has = |shape: &ConfigurationShape| {
        let of = |one| ConfigurationShape::of_configuration(one) == *shape;
        paper.configurations.iter().any(of)
    };
    for work in 0..results.works.len() {
        let of_work = &mut results.works[work];
        let shapes = [of_work.shape, of_work.published].into_iter().flatten();
        of_work.published = shapes.into_iter().find(has);
        let Some(shape) = of_work.published else {
            continue;
        };
        for table in &paper.tables {
            let mut of_work = rows(paper, table);
            of_work.retain(|row| ConfigurationShape::of_configuration(row.configuration) == shape);
            if of_work.is_empty() {
                continue;
            }
            for row in &of_work {
                add_row(results, row, work);
            }
            let title = table.title.split(':').next().unwrap_or_default();
            results.works[work].tables.push(title.to_owned());
            add_improvements(results, (paper, table), (work, shape));
        }
    }
}

fn add_row(results: &mut LayoutResults, row: &Row<'_>, work: usize) {
    let of = row.system;
    let system = find(results, of, row.variant.as_deref()).unwrap_or_else(|| {
        results.systems.push(StudiedSystem {
            contributor: of.contributor.clone(),
            is_published: true,
            variant: row.variant.clone(),
            ..StudiedSystem::new(of.column.clone(), of.description.clone())
        });
        results.systems.len() - 1
    });
    for figure in figures_of(results.layout) {
        if let Some((cell, unit)) = row.figures.get(&figure) {
            results.add((work, system), (figure, None), printed(&cell.0, *unit));
        }
    }
}

/// Adds the printed improvements of a table for one workload.
fn add_improvements(
    results: &mut LayoutResults,
    (paper, table): (&Source, &PublishedTable),
    (work, shape): (usize, ConfigurationShape),
) {
    for place in table.places() {
        let of = &place.of;
        let (Some(Figure::Improvement), [name]) = (of.figure, of.configurations.as_slice()) else {
            continue;
        };
        let configuration = paper.configuration(name);
        if configuration.map(ConfigurationShape::of_configuration) != Some(shape) {
            continue;
        }
        let find = |name: &Option<String>| {
            let system = paper.system(name.as_deref()?)?;
            find(results, system, of.variant.as_deref())
        };
        if let (Some(system), Some(over)) = (find(&of.system), find(&of.over)) {
            let value = printed(&place.cell.0, Unit::Percent);
            results.add((work, system), (Figure::Improvement, Some(over)), value);
        }
    }
}

fn printed(number: &Fact<PrintedNumber>, unit: Unit) -> ShownValue {
    match number {
        Fact::Known(number) => ShownValue::Printed {
            printed: number.printed.clone(),
            value: number.value,
            unit,
        },
        Fact::NotApplicable => ShownValue::Missing {
            why: "not applicable".to_owned(),
        },
        Fact::Unavailable(why) => ShownValue::Missing { why: why.clone() },
    }
}
