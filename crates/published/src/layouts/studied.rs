//! Adds the workloads, systems and values of a study to its results.

use std::collections::BTreeMap;

use record::Fact;
use study::{Design, PaperLayout, StudyCell};
use workload::presets;

use super::blocks::{BlockValues, count};
use super::figures::figures_of;
use super::measured::PaperRun;
use super::results::{
    InvalidBlocks, LayoutResults, ShownValue, StudiedSystem, StudiedWork, UNKNOWN,
};
use crate::cells::distinct;
use crate::shape::ConfigurationShape;

/// Protocols with a column in the layout `completion`, and the names of the columns. Each column
/// exists even if the study did not measure the protocol.
const PROTOCOLS: [(&str, &str); 5] = [
    ("block device", "block device"),
    ("nfs3", "NFS v3"),
    ("nfs3 in user space", "NFS v3 in user space"),
    ("nfs4.2", "NFS v4.2"),
    ("iscsi", "iSCSI"),
];

/// The system of the paper with which NFS in user space is compared, unless the study file names
/// another system.
const USER_SPACE_COUNTERPART: &str = "NFS v3";

/// Maps the label of each cell (a compared configuration) to the indices of the cell's workload and
/// system in the results.
pub(super) type Places = BTreeMap<String, (usize, usize)>;

/// Adds the workloads and systems of the study. Returns the indices of the workload and the system
/// of each cell, by the cell's label.
pub(super) fn add_works_and_systems(
    results: &mut LayoutResults,
    design: &Design,
    cells: &[StudyCell],
    runs: &[PaperRun],
) -> Places {
    let mut sides = distinct(runs.iter().map(|run| run.part.side.as_deref()));
    if sides.is_empty() {
        sides.push(None);
    }
    add_systems(results, design, &sides);
    let mut places = BTreeMap::new();
    let mut works: Vec<(usize, Vec<&str>)> = Vec::new();
    for cell in cells {
        let values = cell.coordinates.iter();
        let values = values.filter(|at| !["target", "workload"].contains(&at.dimension.as_str()));
        let words = values.clone().map(|at| at.value.as_str()).collect();
        let key = (cell.workload, words);
        let known = works.iter().position(|known| *known == key);
        let work = known.unwrap_or_else(|| {
            let mut words = Vec::new();
            let workload = &design.workloads[cell.workload];
            if design.workloads.len() > 1 || key.1.is_empty() {
                words.push(workload.name.clone());
            }
            words.extend(values.map(|at| format!("{}={}", at.dimension, at.value)));
            let published = workload.preset.as_deref().and_then(shape_of_preset);
            results.works.push(StudiedWork {
                name: words.join(" "),
                published,
                ..StudiedWork::default()
            });
            works.push(key);
            works.len() - 1
        });
        for (number, side) in sides.iter().enumerate() {
            let label = side.map_or_else(|| cell.label.clone(), |side| cell.label_of_side(side));
            places.insert(label, (work, cell.target * sides.len() + number));
        }
    }
    for run in runs {
        let Some((work, system)) = places.get(&run.part.cell) else {
            continue;
        };
        let of = &mut results.works[*work];
        of.shape = run.shape.map(|(shape, _)| shape);
        of.differences.clone_from(&run.differences);
        results.systems[*system].description = Fact::Known(run.description.clone());
    }
    places
}

/// Adds a system for each target of a study. If the study has sides, which are measured separately,
/// adds a system for each pair of target and side.
fn add_systems(results: &mut LayoutResults, design: &Design, sides: &[Option<&str>]) {
    // Counterparts only apply to the paper whose layout the study file names.
    let is_other = design.layout.is_some_and(|own| own != results.layout);
    for target in &design.targets {
        let is_user_space = target.is_of_server();
        let counterpart = match design.counterparts.get(&target.name) {
            _ if is_other => None,
            Some(counterpart) => Some(counterpart.clone()),
            None => (is_user_space && results.layout == PaperLayout::Completion)
                .then(|| USER_SPACE_COUNTERPART.to_owned()),
        };
        for side in sides {
            let name = match side {
                None => target.name.clone(),
                Some(side) => format!("{} {side}", target.name),
            };
            let unmeasured = Fact::Unavailable("it was not measured".to_owned());
            results.systems.push(StudiedSystem {
                counterpart: counterpart.clone(),
                is_user_space,
                ..StudiedSystem::new(name, unmeasured)
            });
        }
    }
}

/// Adds empty columns for the protocols that the layout expects but no run of the study used.
pub(super) fn add_missing_protocols(results: &mut LayoutResults, runs: &[PaperRun]) {
    if results.layout != PaperLayout::Completion {
        return;
    }
    for (protocol, name) in PROTOCOLS {
        let is_it = |run: &PaperRun| run.protocol.as_deref() == Some(protocol);
        if !runs.iter().any(is_it) {
            let missing = Fact::Unavailable(format!("the study has no target with {name}"));
            results.systems.push(StudiedSystem {
                is_expected: true,
                ..StudiedSystem::new(name.to_owned(), missing)
            });
        }
    }
}

/// Adds the values of the runs, and counts INVALID blocks.
pub(super) fn add_values(results: &mut LayoutResults, runs: &[PaperRun], places: &Places) {
    let mut counted: BTreeMap<(usize, usize), BTreeMap<u32, bool>> = BTreeMap::new();
    for run in runs {
        let Some((work, system)) = places.get(&run.part.cell).copied() else {
            continue;
        };
        let blocks = counted.entry((work, system)).or_default();
        *blocks.entry(run.part.block).or_default() |= run.is_counted;
        for (figure, value) in run.figures.iter().filter(|_| run.is_counted) {
            let blocks = &mut results.blocks;
            let of_cell = blocks.entry((work, system, *figure)).or_default();
            of_cell.add(run, *value);
        }
    }
    for ((work, system), blocks) in counted {
        let invalid = count(blocks.values().filter(|is_counted| !**is_counted).count());
        if invalid > 0 {
            results.invalid.push(InvalidBlocks {
                work,
                system,
                invalid,
                all: count(blocks.len()),
            });
        }
    }
    for work in 0..results.works.len() {
        for system in 0..results.systems.len() {
            for figure in figures_of(results.layout) {
                let blocks = results.blocks.get(&(work, system, figure));
                let value = match blocks.and_then(BlockValues::measured) {
                    Some(measured) => ShownValue::Measured(measured),
                    None => ShownValue::Missing {
                        why: why_missing(results, work, system),
                    },
                };
                results.add((work, system), (figure, None), value);
            }
        }
    }
}

fn why_missing(results: &LayoutResults, work: usize, system: usize) -> String {
    let mut of_cell = results.blocks.keys();
    if of_cell.any(|(of, by, _)| (*of, *by) == (work, system)) {
        return UNKNOWN.to_owned();
    }
    if results.invalid_of(work, system).is_some() {
        return "not measured: all of its runs are INVALID".to_owned();
    }
    let system = &results.systems[system];
    match system.description.why() {
        Some(why) if system.is_expected => format!("not measured: {why}"),
        _ => "not measured".to_owned(),
    }
}

fn shape_of_preset(name: &str) -> Option<ConfigurationShape> {
    let preset = presets::find(name)?;
    ConfigurationShape::of(&preset.workload).map(|(shape, _)| shape)
}
