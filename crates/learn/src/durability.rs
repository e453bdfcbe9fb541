//! From observed syncs to a durability policy for each operation.

use std::collections::BTreeMap;

use engine::{Action, Durability, Policies};

use crate::profile::{Profile, Syncs};

/// The policy that most operations of a kind had: a sync counts if at least half of them made it.
pub(crate) fn policy(of: &Syncs) -> Durability {
    let most = |count: u64| count > 0 && count >= of.operations.div_ceil(2);
    match of {
        of if most(of.directory) => Durability::FsyncDirectory,
        of if most(of.file) => Durability::Fsync,
        of if most(of.file + of.data) => Durability::Fdatasync,
        _ => Durability::None,
    }
}

/// The policies of a profile's operations; `None` if no operation syncs.
pub(crate) fn policies(profile: &Profile) -> Option<Policies> {
    let syncs = profile.syncs.as_ref()?;
    let words: BTreeMap<Action, String> = syncs
        .iter()
        .filter(|(action, _)| is_in_mix(profile, **action))
        .map(|(action, of)| (*action, policy(of)))
        .filter(|(_, policy)| *policy != Durability::None)
        .map(|(action, policy)| (action, format!("{}={policy}", action.name())))
        .filter(|(action, word)| is_possible(*action, word))
        .collect();
    let words: Vec<String> = words.into_values().collect();
    // Each of the words is a valid policy, and no action is named twice.
    words.join(",").parse().ok().filter(Policies::sync)
}

fn is_in_mix(profile: &Profile, action: Action) -> bool {
    let mix = profile.mix.as_ref();
    mix.is_some_and(|mix| mix.get(&action).is_some_and(|count| *count > 0))
}

/// Whether this policy of an action has an effect in a mix.
fn is_possible(action: Action, word: &str) -> bool {
    let policies = word.parse::<Policies>();
    policies.is_ok_and(|policies| policies.check(|named| named == action).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_is_the_one_of_most_operations() {
        let of = |operations, data, file, directory| Syncs {
            operations,
            data,
            file,
            directory,
        };
        let profile = Profile {
            mix: Some(BTreeMap::from([
                (Action::Append, 10),
                (Action::Create, 10),
                (Action::Deliver, 10),
                (Action::Rename, 10),
                (Action::Replace, 9),
            ])),
            syncs: Some(BTreeMap::from([
                (Action::Append, of(10, 5, 1, 0)),
                (Action::Create, of(10, 0, 4, 0)),
                (Action::Deliver, of(10, 0, 10, 9)),
                (Action::Rename, of(10, 0, 0, 0)),
                (Action::Replace, of(9, 0, 5, 0)),
            ])),
            ..Profile::default()
        };
        let policies = policies(&profile).unwrap();
        assert_eq!(
            policies.to_string(),
            "append=fdatasync,replace=fsync,deliver=fsync+dir"
        );
        assert_eq!(super::policies(&Profile::default()), None);
    }
}
