//! The applications, and the presets that claim to predict them.

mod build;
mod dovecot;
mod git;
mod inn;
mod nginx;
mod packages;
mod traffic;
mod tree;

use super::application::Application;
use super::preset_run::PresetRun;

/// All applications. Those of a group follow each other.
pub const APPLICATIONS: [&Application; 12] = [
    &tree::TAR,
    &tree::FIND,
    &tree::GREP,
    &tree::CP,
    &tree::RM,
    &git::APPLICATION,
    &build::APPLICATION,
    &packages::PNPM_INSTALL,
    &packages::PIP_INSTALL,
    &nginx::APPLICATION,
    &dovecot::APPLICATION,
    &inn::APPLICATION,
];

/// Commands that `bench replays` traces: applications, or parts of them, with one step.
pub const COMMANDS: [&Application; 6] = [
    &tree::TAR,
    &tree::RM,
    &git::CLONE,
    &build::MAKE,
    &packages::PNPM_ONLY,
    &dovecot::DELIVERY,
];

/// A preset that claims to predict an application.
#[derive(Debug)]
pub struct Pairing {
    pub application: &'static str,
    /// The steps of the application that the preset predicts; all if empty.
    pub steps: &'static [&'static str],
    pub run: PresetRun,
    /// The phases of the preset that predict these steps; all if empty.
    pub phases: &'static [&'static str],
    /// Greatest accepted typical error of a predicted ratio (`Score::factor`).
    pub factor_max: f64,
}

const FACTOR: f64 = 1.3;
/// The greatest accepted factor for package installs and `rm`.
const WIDE_FACTOR: f64 = 1.5;

const fn pairing(
    application: &'static str,
    steps: &'static [&'static str],
    preset: &'static str,
) -> Pairing {
    Pairing {
        application,
        steps,
        run: PresetRun {
            preset,
            compute: "",
        },
        phases: &[],
        factor_max: FACTOR,
    }
}

/// The own time of tar, cp, grep and rm.
const TREE_COMPUTE: &str = "create=3us,read=7us,copy-tree=200us,remove-tree=100us";

/// Which preset claims to predict which application. A change of presets needs a change only here.
///
/// The own time of an application is its time on tmpfs with the data `tuned`, minus that of as many
/// operations of the preset: a tmpfs never waits for a device. It is divided by the number of
/// operations that the trace of the application has.
pub const PAIRINGS: [Pairing; 27] = [
    pairing("dovecot", &[], "mail"),
    pairing("dovecot", &[], "mail").computing("deliver=2100us"),
    pairing("dovecot", &["expunge"], "mail-expunge"),
    pairing("dovecot", &["expunge"], "mail-expunge").computing("delete=280us"),
    pairing("dovecot", &[], "varmail"),
    pairing("nginx", &[], "web-cache"),
    pairing("nginx", &[], "web-cache").computing("read=34us,create=34us"),
    pairing("inn", &[], "news"),
    pairing("inn", &[], "news").computing("create=130us"),
    pairing("tar", &[], "source-tree").of_phases(&["unpack", "attributes"]),
    pairing("tar", &[], "source-tree")
        .computing(TREE_COMPUTE)
        .of_phases(&["unpack", "attributes"]),
    pairing("cp", &[], "source-tree").of_phases(&["copy"]),
    pairing("cp", &[], "source-tree")
        .computing(TREE_COMPUTE)
        .of_phases(&["copy"]),
    pairing("find", &["warm"], "source-tree").of_phases(&["scan"]),
    pairing("find", &["cold"], "source-tree").of_phases(&["scan"]),
    pairing("grep", &[], "source-tree").of_phases(&["read-cold"]),
    pairing("grep", &[], "source-tree")
        .computing(TREE_COMPUTE)
        .of_phases(&["read-cold"]),
    pairing("rm", &[], "source-tree")
        .of_phases(&["remove"])
        .within(WIDE_FACTOR),
    pairing("rm", &[], "source-tree")
        .computing(TREE_COMPUTE)
        .of_phases(&["remove"])
        .within(WIDE_FACTOR),
    pairing("git-commands", &["clone"], "git").of_phases(&["clone"]),
    pairing("git-commands", &["status"], "git").of_phases(&["status"]),
    pairing("git-commands", &["checkout"], "git").of_phases(&["checkout"]),
    pairing("c-build", &[], "build"),
    pairing("pnpm", &[], "package-install-link").within(WIDE_FACTOR),
    pairing("pnpm", &[], "package-install-link")
        .computing("read=128us")
        .within(WIDE_FACTOR),
    pairing("pip", &[], "package-install-unpack")
        .of_phases(&["install"])
        .within(WIDE_FACTOR),
    pairing("pip", &[], "package-install-unpack")
        .computing("create=255us")
        .of_phases(&["install"])
        .within(WIDE_FACTOR),
];

impl Pairing {
    const fn computing(mut self, compute: &'static str) -> Self {
        self.run.compute = compute;
        self
    }

    const fn of_phases(self, phases: &'static [&'static str]) -> Self {
        Self { phases, ..self }
    }

    const fn within(self, factor_max: f64) -> Self {
        Self { factor_max, ..self }
    }

    /// The application's name, with the predicted steps in parentheses unless all are predicted.
    pub fn what(&self) -> String {
        match self.steps {
            [] => self.application.to_owned(),
            steps => format!("{} ({})", self.application, steps.join(", ")),
        }
    }

    /// The preset's name, and whether the application's own time is added.
    pub fn by(&self) -> String {
        let PresetRun { preset, compute } = self.run;
        match compute {
            "" => format!("`{preset}`"),
            _ => format!("`{preset}` with own time"),
        }
    }
}

/// The runs of presets that claim to predict an application, each once.
pub fn presets_beside(application: &str) -> Vec<PresetRun> {
    let beside = PAIRINGS
        .iter()
        .filter(|pairing| pairing.application == application);
    let mut runs: Vec<PresetRun> = beside.map(|pairing| pairing.run).collect();
    runs.dedup();
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::presets::find;

    #[test]
    fn each_application_has_a_preset_and_each_pairing_names_what_exists() {
        for application in APPLICATIONS {
            assert!(
                !presets_beside(application.name).is_empty(),
                "{}",
                application.name
            );
        }
        for pairing in &PAIRINGS {
            let mut applications = APPLICATIONS.iter();
            assert!(
                applications.any(|other| other.name == pairing.application),
                "{pairing:?}"
            );
            assert!(find(pairing.run.preset).is_some(), "{pairing:?}");
        }
    }

    /// Users find the option in the preset's description.
    #[test]
    fn presets_name_the_own_time_that_was_measured() {
        for run in PAIRINGS.map(|pairing| pairing.run) {
            let text = find(run.preset).unwrap().not_predicted;
            assert!(text.contains(run.compute), "{run:?}: {text}");
        }
    }

    /// Results of both are stored under their names.
    #[test]
    fn no_application_has_the_name_of_a_preset() {
        for application in APPLICATIONS {
            assert!(find(application.name).is_none(), "{}", application.name);
        }
    }

    #[test]
    fn applications_of_a_group_follow_each_other() {
        let mut groups: Vec<&str> = APPLICATIONS.iter().map(|one| one.group).collect();
        groups.dedup();
        let count = groups.len();
        groups.sort_unstable();
        groups.dedup();
        assert_eq!(groups.len(), count);
    }
}
