//! A run of a preset that claims to predict an application.

use workload::presets::{self, PhaseText, Preset};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetRun {
    pub preset: &'static str,
    /// The application's own processor time, as the value of `--compute`; empty if none is added.
    pub compute: &'static str,
}

impl PresetRun {
    /// The name in data files: the preset with its version, and the added processor time. A
    /// workload with changed numbers has another version, and therefore no earlier rounds.
    pub fn name(self) -> String {
        let Self { preset, compute } = self;
        let name = presets::find(preset).map_or(preset.to_owned(), |found| found.full_name());
        match compute {
            "" => name,
            // Commas separate the fields of a data file.
            _ => format!("{name} with {}", compute.replace(',', " and ")),
        }
    }

    /// The same run without the application's own time.
    pub fn without_compute(self) -> Self {
        let compute = "";
        Self { compute, ..self }
    }

    /// The options of the run. It takes `run_for`, unless all phases of the preset have their own
    /// ends.
    pub fn options(self, run_for: &str) -> String {
        let mut options = format!("--preset {}", self.preset);
        if !self.compute.is_empty() {
            options += &format!(" --compute {}", self.compute);
        }
        let has_end = |phase: &PhaseText| {
            let mut ends = ["walk=", "transactions=", "for="].into_iter();
            ends.any(|key| phase.keys.contains(key))
        };
        let phases = self.phases();
        if phases.is_empty() || !phases.iter().all(has_end) {
            options += &format!(" --for {run_for}");
        }
        options
    }

    /// The options of a run that only prepares and deletes the pool. A preset with phases has no
    /// number of transactions, so a mix without any replaces the phases.
    pub fn options_of_pool(self) -> String {
        let mix = match self.phases()[..] {
            [] => "",
            _ => "--mix read=1 --compute none ",
        };
        format!("--preset {} {mix}--transactions 0", self.preset)
    }

    fn phases(self) -> Vec<PhaseText> {
        let phases = |preset: Preset| preset.how.phases;
        presets::find(self.preset).map_or_else(Vec::new, phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(preset: &'static str, compute: &'static str) -> PresetRun {
        PresetRun { preset, compute }
    }

    #[test]
    fn name_has_the_version_and_the_added_time_and_no_comma() {
        assert_eq!(run("mail", "").name(), "mail-1");
        assert_eq!(
            run("web-cache", "read=1us,create=2us").name(),
            "web-cache-1 with read=1us and create=2us"
        );
    }

    #[test]
    fn phases_with_own_ends_take_no_duration() {
        assert_eq!(
            run("mail", "read=1us").options("2s"),
            "--preset mail --compute read=1us --for 2s"
        );
        assert_eq!(run("source-tree", "").options("2s"), "--preset source-tree");
    }
}
