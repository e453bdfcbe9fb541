//! Outcomes of verification by operation, and files that the acknowledgement log does not mention.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use engine::namespace::{Directory, EntryKind};
use engine::{Durability, Errno, Policies, Promise};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Action;

use super::key::Key;
use super::loss::{LossKind, VerifyError};
use super::replay::{Acked, NameState, Replay};
use super::tree::Place;
use crate::names;

/// What became of the acknowledged operations of one kind, which have one durability policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    pub what: Action,
    /// The policy of these operations; absent in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub durability: Option<Durability>,
    /// The changes that a crash must not undo, by the policy and by the engine's protocol. Results
    /// of earlier versions count every loss.
    #[serde(default = "everything")]
    pub promise: Promise,
    /// Number of acknowledged operations.
    pub acknowledged: u64,
    /// Number of checked paths whose last acknowledged operation is of this kind.
    pub verified: u64,
    /// Number of paths that do not exist.
    pub lost: u64,
    /// Number of paths with a wrong size, wrong contents or the wrong type.
    pub torn: u64,
    /// Number of removed paths that exist again.
    pub resurrected: u64,
}

const fn everything() -> Promise {
    Promise::All
}

impl Outcome {
    pub(crate) const fn new(what: Action) -> Self {
        Self {
            what,
            durability: None,
            promise: Promise::All,
            acknowledged: 0,
            verified: 0,
            lost: 0,
            torn: 0,
            resurrected: 0,
        }
    }

    /// Number of all losses.
    pub const fn losses(&self) -> u64 {
        self.lost + self.torn + self.resurrected
    }

    /// The same outcome with only those losses that break the promise.
    #[must_use]
    pub const fn broken(&self) -> Self {
        let mut broken = *self;
        if !self.promise.has_names() {
            broken.lost = 0;
            broken.resurrected = 0;
        }
        if !self.promise.has_contents() {
            broken.torn = 0;
        }
        broken
    }

    /// Whether a crash could break a promise about these operations.
    pub fn is_promised(&self) -> bool {
        self.acknowledged > 0 && self.promise != Promise::Nothing
    }

    /// An outcome of the same operation and policy, whose counts are 0.
    pub(crate) const fn without_counts(&self) -> Self {
        Self {
            durability: self.durability,
            promise: self.promise,
            ..Self::new(self.what)
        }
    }

    /// Number of losses that nothing promised to prevent.
    pub const fn allowed(&self) -> u64 {
        self.losses() - self.broken().losses()
    }

    /// Adds the counts of another outcome of the same operation.
    pub(crate) const fn add(&mut self, other: &Self) {
        self.acknowledged += other.acknowledged;
        self.verified += other.verified;
        self.lost += other.lost;
        self.torn += other.torn;
        self.resurrected += other.resurrected;
    }
}

/// What the operations of a run promise.
pub(crate) struct Promised {
    pub policies: Policies,
    /// What the engine's protocol promises, whatever the policy.
    pub protocol: Promise,
}

impl Promised {
    pub const fn new(policies: Policies, protocol: Promise) -> Self {
        Self { policies, protocol }
    }

    fn outcome(&self, what: Action) -> Outcome {
        let durability = self.policies.of(what);
        let of_policy = |kind| durability.promises(kind);
        let promise = what.performs().map_or(Promise::Nothing, of_policy);
        Outcome {
            durability: Some(durability),
            promise: promise.or(self.protocol),
            ..Outcome::new(what)
        }
    }
}

/// Counts acknowledged operations, checked paths and losses by operation.
pub(crate) fn outcomes(
    promised: &Promised,
    replay: &Replay,
    names: &[(&Key, &NameState)],
    losses: &BTreeMap<(Action, LossKind), u64>,
) -> Vec<Outcome> {
    let mut outcomes: BTreeMap<Action, Outcome> = BTreeMap::new();
    let mut of = |what, change: &dyn Fn(&mut Outcome)| {
        change(
            outcomes
                .entry(what)
                .or_insert_with(|| promised.outcome(what)),
        );
    };
    for (action, count) in &replay.acknowledged {
        of(*action, &|outcome| outcome.acknowledged += count);
    }
    for (_, name) in names
        .iter()
        .filter(|(_, name)| name.acked != Acked::Unknown)
    {
        of(name.by, &|outcome| outcome.verified += 1);
    }
    for ((what, kind), count) in losses {
        of(*what, &|outcome| match kind {
            LossKind::Missing => outcome.lost += count,
            LossKind::Torn | LossKind::WrongSize => outcome.torn += count,
            LossKind::StillThere => outcome.resurrected += count,
        });
    }
    outcomes.into_values().collect()
}

/// Files in the run's own directories that the log does not mention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Foreign {
    pub count: u64,
    /// Path of the first of them.
    pub first: Option<String>,
}

/// Finds files that no entry of the log mentions. Directories are not counted, because the log does
/// not contain the workload's own directories.
pub(crate) fn foreign(
    directories: &[Option<Place>],
    replay: &Replay,
) -> Result<Foreign, VerifyError> {
    let mut found = Foreign::default();
    let mut visited = HashSet::new();
    for place in directories.iter().flatten() {
        if !visited.insert(&place.path) {
            continue;
        }
        // Two locations may share one directory.
        let same: Vec<u32> = (0..)
            .zip(directories)
            .filter(|(_, other)| other.as_ref().is_some_and(|other| other.path == place.path))
            .map(|(other, _)| other)
            .collect();
        let is_known = |path: &[u8]| {
            let mentions = |location: &u32| replay.mentions(&(*location, path.to_owned()));
            same.iter().any(mentions)
        };
        let mut pending = vec![(Vec::new(), Arc::clone(&place.held))];
        while let Some((above, directory)) = pending.pop() {
            let visit = visit(&*directory, &above, &is_known, &mut found, place);
            let inner = visit.map_err(|errno| {
                let path = place.path.join(OsStr::from_bytes(&above));
                VerifyError::system("list", &path, errno)
            })?;
            for name in inner {
                // A directory that cannot be opened is a loss of its files, which are named.
                if let Ok(opened) = directory.open(&name) {
                    pending.push((joined(&above, &name), opened));
                }
            }
        }
    }
    Ok(found)
}

/// Counts the unmentioned files of one directory, and returns the names of its subdirectories.
fn visit(
    directory: &dyn Directory,
    above: &[u8],
    is_known: &dyn Fn(&[u8]) -> bool,
    found: &mut Foreign,
    place: &Place,
) -> Result<Vec<Vec<u8>>, Errno> {
    let mut listed = Vec::new();
    directory.list(&mut |entry| {
        listed.push(entry.name.to_owned());
        Ok(())
    })?;
    let mut inner = Vec::new();
    for name in listed {
        let path = joined(above, &name);
        if (above.is_empty() && names::is_mark(&name)) || is_known(&path) {
            continue;
        }
        match directory.facts_of(&name) {
            Ok(facts) if facts.kind == EntryKind::Directory => inner.push(name),
            Ok(_) => {
                found.count += 1;
                let path = place.path.join(OsStr::from_bytes(&path));
                found
                    .first
                    .get_or_insert(path.to_string_lossy().into_owned());
            }
            Err(_) => {}
        }
    }
    Ok(inner)
}

fn joined(above: &[u8], name: &[u8]) -> Vec<u8> {
    match above.is_empty() {
        true => name.to_owned(),
        false => [above, b"/", name].concat(),
    }
}
