//! Presets: named workloads, each with a description and the sources of its numbers.
//!
//! Classic presets use published configurations. All other presets represent current applications.
//! Such a preset is a fixed workload with a version: its numbers are the same on every machine and
//! never change. A workload with changed numbers gets the next version. The transactions of such a
//! preset end after [`RUN_FOR_S`] seconds.

mod ai;
mod classic;
mod mdtest;
mod preset;
mod row;
mod servers;
mod sources;
mod trees;

pub use self::preset::{Manner, PhaseText, Preset, RUN_FOR_S, Source, Values};
use self::row::Row;

/// The presets of current applications, in the order in which lists show them.
const ROWS: [&[Row]; 4] = [servers::ROWS, trees::ROWS, ai::ROWS, mdtest::ROWS];

/// Returns all presets: first the presets of current applications, then the published
/// configurations of the original PostMark.
pub fn all() -> Vec<Preset> {
    let mut presets: Vec<Preset> = ROWS.concat().iter().map(Row::preset).collect();
    presets.extend(classic::all());
    presets
}

/// Returns the preset with a name like `mail-1`, or the newest version of the preset with a name
/// like `mail`.
pub fn find(name: &str) -> Option<Preset> {
    let is_called = |preset: &Preset| preset.name == name || preset.full_name() == name;
    all()
        .into_iter()
        .filter(is_called)
        .max_by_key(|preset| preset.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid_and_have_unique_names() {
        let presets = all();
        for preset in &presets {
            let name = preset.full_name();
            assert_eq!(preset.workload.validate(), Ok(()), "{name}");
            let is_namesake = |other: &&Preset| other.full_name() == name || other.name == name;
            assert_eq!(presets.iter().filter(is_namesake).count(), 1, "{name}");
            for line in [
                preset.application,
                preset.what,
                preset.not_predicted,
                preset.source,
            ] {
                assert!(!line.is_empty() && !line.contains('\n'), "{name}");
            }
        }
    }

    #[test]
    fn a_name_without_version_is_the_newest_version() {
        assert_eq!(find("mail").unwrap().full_name(), "mail-1");
        assert_eq!(find("mail-1").unwrap().full_name(), "mail-1");
        assert_eq!(find("default").unwrap().full_name(), "default");
        for unknown in ["mail-0", "mail-2", "Mail", ""] {
            assert!(find(unknown).is_none(), "{unknown}");
        }
    }

    #[test]
    fn at_most_one_number_in_ten_is_our_own_choice() {
        // The weights and limits of a phase are numbers of their own.
        let numbers_of = |(name, value): &(&str, &str)| {
            let has_digits = |text: &&str| text.contains(|c: char| c.is_ascii_digit());
            match name.starts_with("phase ") {
                true => value.split([',', ';']).filter(has_digits).count(),
                false => usize::from(has_digits(value)),
            }
        };
        // Variants of a preset share values, which are chosen once.
        let mut all_values: Vec<&Values> = Vec::new();
        let presets = all();
        for values in presets.iter().flat_map(|preset| preset.values) {
            let is_same = |other: &&Values| {
                (other.source.text, other.values) == (values.source.text, values.values)
            };
            if !all_values.iter().any(is_same) {
                all_values.push(values);
            }
        }
        let count = |is_counted: fn(&Source) -> bool| -> usize {
            let values = all_values.iter();
            let counted = values.filter(|values| is_counted(values.source));
            counted
                .map(|values| values.values.iter().map(numbers_of).sum::<usize>())
                .sum()
        };
        let (own, numbers) = (count(|source| source.is_own), count(|_| true));
        assert!(numbers > 200 && own * 10 <= numbers, "{own} of {numbers}");
    }

    #[test]
    fn every_value_has_a_source_and_occurs_once() {
        for preset in all() {
            assert_eq!(
                preset.values.is_empty(),
                preset.version.is_none(),
                "{}",
                preset.name
            );
            let mut names: Vec<&str> = Vec::new();
            for values in preset.values {
                assert!(!values.source.text.is_empty(), "{}", preset.name);
                names.extend(values.values.iter().map(|(name, _)| *name));
            }
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{}", preset.name);
        }
    }

    #[test]
    fn pools_are_created_within_seconds_on_a_solid_state_disk() {
        for preset in all().iter().filter(|preset| preset.version.is_some()) {
            let mean = preset.workload.mix().map_or(0.0, |mix| mix.sizes.mean());
            let files = preset.workload.files() * u64::from(preset.workload.streams());
            assert!(files <= 100_000, "{}: {files}", preset.name);
            let bytes = mean * files as f64;
            assert!(bytes < 1.2e9, "{}: {bytes}", preset.name);
        }
    }
}
