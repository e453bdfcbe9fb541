//! The cells (configurations) of a study: every workload with every value of every axis on every
//! target, and the baseline of each cell.

use std::collections::BTreeSet;

use record::Coordinate;
use spec::Options;
use workload::random::{Key, below};

use crate::design::{Design, age, fullness, options_of, word};
use crate::flaw::{CELLS_MAX, Flaw};

pub(crate) const WORKLOAD: &str = "workload";
const TARGET: &str = "target";

/// A cell: the configuration of its runs.
#[derive(Clone, Debug)]
pub struct StudyCell {
    /// The cell's coordinates as text. Runs refer to their cell by this label.
    pub label: String,
    /// The cell's value in each dimension that has several values.
    pub coordinates: Vec<Coordinate>,
    /// Index of the workload, from 0.
    pub workload: usize,
    /// Index of the target, from 0.
    pub target: usize,
    /// Options of the runs, without a target.
    pub options: Options,
    /// Ageing: before the measurement, this many times as many files are created as the pool
    /// contains.
    pub age: u64,
    /// Fill level of the file system before the pool is made, in percent. With `None`, the fill
    /// level in the target applies, if the target contains one.
    pub fullness: Option<u32>,
    /// Index of the cell's baseline, from 0. For a baseline, this is its own index.
    pub baseline: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRun {
    /// Index of the cell, from 0.
    pub cell: usize,
    /// Whether the run is the second run of a baseline, for the A/A control.
    pub is_twin: bool,
}

/// What varies between cells: the workloads, the targets, or an axis.
pub(crate) struct Dimension {
    name: String,
    values: Vec<String>,
}

impl Design {
    /// Returns all cells in order; the last dimension, the targets, varies fastest.
    ///
    /// # Errors
    /// Returns an error if there are too many cells, options contradict each other, or the baseline
    /// does not exist.
    pub fn cells(&self) -> Result<Vec<StudyCell>, Flaw> {
        let dimensions = self.dimensions();
        let count: u128 = dimensions
            .iter()
            .map(|dimension| dimension.values.len() as u128)
            .product();
        if count > u128::from(CELLS_MAX) {
            return Err(Flaw::too_many_cells(count));
        }
        let (compared, base) = self.compared(&dimensions)?;
        let mut cells = Vec::new();
        let mut labels = BTreeSet::new();
        for number in 0..count as usize {
            let at = places(&dimensions, number);
            let mut base_at = at.clone();
            if let Some(place) = base_at.get_mut(compared) {
                *place = base;
            }
            let cell = self.cell(&dimensions, &at, number_of(&dimensions, &base_at))?;
            // Equal labels are refused, because runs refer to their cell by its label.
            if !labels.insert(cell.label.clone()) {
                return Err(Flaw(format!(
                    "two cells would be called {:?} (give workloads and targets names without \
                     blanks)",
                    cell.label
                )));
            }
            cells.push(cell);
        }
        Ok(cells)
    }

    /// Whether the study only repeats the runs of one configuration, without a comparison. `cells`
    /// are all cells of the design.
    pub fn is_repetition(&self, cells: &[StudyCell]) -> bool {
        cells.len() == 1 && !self.twin && self.layout.is_none()
    }

    pub(crate) fn dimensions(&self) -> Vec<Dimension> {
        let names = |names: &mut dyn Iterator<Item = &String>| names.cloned().collect();
        let mut dimensions = vec![Dimension {
            name: WORKLOAD.to_owned(),
            values: names(&mut self.workloads.iter().map(|workload| &workload.name)),
        }];
        dimensions.extend(self.axes.iter().map(|axis| Dimension {
            name: axis.name.clone(),
            values: axis.values.iter().map(word).collect(),
        }));
        dimensions.push(Dimension {
            name: TARGET.to_owned(),
            values: names(&mut self.targets.iter().map(|target| &target.name)),
        });
        dimensions
    }

    /// Returns the index of the dimension along which cells are compared, and the index of the
    /// baseline's value in this dimension. The default is the first value of the first dimension
    /// with several values, in the order targets, axes, workloads.
    pub(crate) fn compared(&self, dimensions: &[Dimension]) -> Result<(usize, usize), Flaw> {
        let Some(said) = &self.baseline else {
            let last = dimensions.len() - 1;
            let order = std::iter::once(last).chain(1..last).chain([0]);
            let compared = order
                .into_iter()
                .find(|index| dimensions[*index].values.len() > 1);
            return Ok((compared.unwrap_or(last), 0));
        };
        let mut found = Vec::new();
        for (index, dimension) in dimensions.iter().enumerate() {
            let value =
                |value: &String| value == said || format!("{}={value}", dimension.name) == *said;
            found.extend(
                dimension
                    .values
                    .iter()
                    .position(value)
                    .map(|value| (index, value)),
            );
        }
        match found[..] {
            [one] => Ok(one),
            [] => {
                let all = dimensions
                    .iter()
                    .filter(|dimension| dimension.values.len() > 1);
                let all: Vec<String> = all
                    .flat_map(|dimension| dimension.values.iter().cloned())
                    .take(20)
                    .collect();
                Err(Flaw(format!(
                    "baseline = \"{said}\": no target, workload or axis has this value (expected \
                     one of {})",
                    all.join(", ")
                )))
            }
            _ => Err(Flaw(format!(
                "baseline = \"{said}\": more than one dimension has this value (write it as \
                 DIMENSION=VALUE, like files=1000)"
            ))),
        }
    }

    fn cell(
        &self,
        dimensions: &[Dimension],
        at: &[usize],
        baseline: usize,
    ) -> Result<StudyCell, Flaw> {
        let (workload, target) = (at[0], at[at.len() - 1]);
        let design = &self.workloads[workload];
        let mut table = design.options.clone();
        let mut cell = StudyCell {
            label: String::new(),
            coordinates: Vec::new(),
            workload,
            target,
            options: Options::default(),
            age: design.age,
            fullness: design.fullness,
            baseline,
        };
        for (axis, place) in self.axes.iter().zip(&at[1..]) {
            let value = &axis.values[*place];
            match axis.name.as_str() {
                "age" => cell.age = age(value)?,
                "fullness" => cell.fullness = Some(fullness(value)?),
                key => drop(table.insert(key.to_owned(), value.clone())),
            }
        }
        cell.options = options_of(table)?;
        let mut words = Vec::new();
        for (dimension, place) in dimensions.iter().zip(at) {
            if dimension.values.len() < 2 {
                continue;
            }
            let coordinate = Coordinate {
                dimension: dimension.name.clone(),
                value: dimension.values[*place].clone(),
            };
            words.push(coordinate_word(&coordinate));
            cell.coordinates.push(coordinate);
        }
        cell.label = match words.is_empty() {
            true => self.targets[target].name.clone(),
            false => words.join(" "),
        };
        Ok(cell)
    }

    /// Returns the runs of a block in random order. The order depends only on the study's seed, the
    /// block and the attempt.
    pub fn block(&self, cells: &[StudyCell], block: u32, attempt: u32) -> Vec<BlockRun> {
        let is_baseline = |index: usize| cells[index].baseline == index;
        let runs = |is_twin| move |cell| BlockRun { cell, is_twin };
        let mut order: Vec<BlockRun> = (0..cells.len()).map(runs(false)).collect();
        if self.twin {
            order.extend(
                (0..cells.len())
                    .filter(|index| is_baseline(*index))
                    .map(runs(true)),
            );
        }
        let key = Key::new(self.seed, "order of a study's block", attempt);
        for place in (1..order.len()).rev() {
            let random = key.at(u64::from(block) << 32 | place as u64);
            order.swap(place, below(random, place as u64 + 1) as usize);
        }
        order
    }
}

/// Formats a coordinate for the label of a cell: `mail`, or `files=500` for an axis.
pub(crate) fn coordinate_word(coordinate: &Coordinate) -> String {
    let Coordinate { dimension, value } = coordinate;
    match dimension.as_str() {
        WORKLOAD | TARGET | record::study::SIDE => value.clone(),
        axis => format!("{axis}={value}"),
    }
}

/// Converts the number of a cell to the index of its value in each dimension.
fn places(dimensions: &[Dimension], mut number: usize) -> Vec<usize> {
    let mut places: Vec<usize> = dimensions
        .iter()
        .rev()
        .map(|dimension| {
            let place = number % dimension.values.len();
            number /= dimension.values.len();
            place
        })
        .collect();
    places.reverse();
    places
}

/// Converts the indices of a cell's values, one for each dimension, to the number of the cell.
fn number_of(dimensions: &[Dimension], places: &[usize]) -> usize {
    let mut number = 0;
    for (dimension, place) in dimensions.iter().zip(places) {
        number = number * dimension.values.len() + place;
    }
    number
}
