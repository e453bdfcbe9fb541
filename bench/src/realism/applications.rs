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
    pub preset: &'static str,
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
    factor_max: f64,
) -> Pairing {
    Pairing {
        application,
        steps,
        preset,
        factor_max,
    }
}

/// Which preset claims to predict which application. A change of presets needs a change only here.
pub const PAIRINGS: [Pairing; 14] = [
    pairing("dovecot", &[], "mail", FACTOR),
    pairing("dovecot", &["expunge"], "mail-expunge", FACTOR),
    pairing("dovecot", &[], "varmail", FACTOR),
    pairing("nginx", &[], "web-cache", FACTOR),
    pairing("inn", &[], "news", FACTOR),
    pairing("tar", &[], "source-tree", FACTOR),
    pairing("cp", &[], "source-tree", FACTOR),
    pairing("find", &[], "source-tree", FACTOR),
    pairing("grep", &[], "source-tree", FACTOR),
    pairing("rm", &[], "source-tree", WIDE_FACTOR),
    pairing("git", &[], "git", FACTOR),
    pairing("c-build", &[], "build", FACTOR),
    pairing("pnpm", &[], "package-install-link", WIDE_FACTOR),
    pairing("pip", &[], "package-install-copy", WIDE_FACTOR),
];

impl Pairing {
    /// The application's name, with the predicted steps in parentheses unless all are predicted.
    pub fn what(&self) -> String {
        match self.steps {
            [] => self.application.to_owned(),
            steps => format!("{} ({})", self.application, steps.join(", ")),
        }
    }
}

/// The presets that claim to predict an application, each once.
pub fn presets_beside(application: &str) -> Vec<&'static str> {
    let beside = PAIRINGS
        .iter()
        .filter(|pairing| pairing.application == application);
    let mut presets: Vec<&str> = beside.map(|pairing| pairing.preset).collect();
    presets.dedup();
    presets
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
            assert!(find(pairing.preset).is_some(), "{pairing:?}");
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
