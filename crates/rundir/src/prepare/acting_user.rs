//! Determines the user whose rights root uses in a directory of another user.

use std::path::{Path, PathBuf};

use engine::namespace::{Access, ActingUser, Exchanger, Namespace};

use super::error::PrepareError;

/// A directory in which root uses only the rights of another user, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: as root, files are made and removed there as user {}, since {} may rename entries of {} \
        and replace them with links to \
     other files",
    .path.display(), .user.user, .exchanger.who, .exchanger.directory.display()
)]
pub struct OtherUser {
    path: PathBuf,
    user: ActingUser,
    exchanger: Exchanger,
}

/// Returns the other user whose rights are used in all `locations`; `None` if the process's own
/// rights are used. Refuses to run as root in a directory where other users could exploit root's
/// rights. `subdirectories` is the number of subdirectories that a classic run makes.
pub fn other_user(
    namespace: &dyn Namespace,
    locations: &[PathBuf],
    trusts_others: bool,
    subdirectories: u32,
) -> Result<Option<OtherUser>, PrepareError> {
    let mut first: Option<(&PathBuf, Option<OtherUser>)> = None;
    for location in locations {
        let other = other_user_in(namespace, location, trusts_others, subdirectories)?;
        let number = |other: &Option<OtherUser>| other.as_ref().map_or(0, |other| other.user.user);
        match &first {
            None => first = Some((location, other)),
            Some((another, before)) if number(before) != number(&other) => {
                return Err(PrepareError::new(format!(
                    "refuse to run as root in {}: it would be used as user {}, and {} as user \
                     {} (use targets of one user)",
                    location.display(),
                    number(&other),
                    another.display(),
                    number(before)
                )));
            }
            Some(_) => {}
        }
    }
    Ok(first.and_then(|(_, other)| other))
}

fn other_user_in(
    namespace: &dyn Namespace,
    location: &Path,
    trusts_others: bool,
    subdirectories: u32,
) -> Result<Option<OtherUser>, PrepareError> {
    let access = namespace
        .access(location)
        .map_err(|errno| PrepareError::system("examine", location, errno))?;
    let untrusted = |Exchanger { directory, who }, option: &str| {
        PrepareError::new(format!(
            "refuse to run as root in {}: {who} may rename entries of {} and replace them with \
             links to other files (run as that user, use a directory of root, or add {option})",
            location.display(),
            directory.display()
        ))
    };
    match access {
        Access::Own => Ok(None),
        Access::As(_, exchanger) | Access::Refused(exchanger) | Access::Link(exchanger)
            if trusts_others =>
        {
            // Files in a subdirectory are reached through the subdirectory's name. Users who can
            // write the directory may replace the subdirectory.
            match subdirectories > 1 {
                true => Err(untrusted(
                    exchanger,
                    "no subdirectories (--allow-unsafe-target does not cover them)",
                )),
                false => Ok(None),
            }
        }
        Access::As(user, exchanger) => Ok(Some(OtherUser {
            path: location.to_owned(),
            user,
            exchanger,
        })),
        Access::Link(Exchanger { directory, who }) => Err(PrepareError::new(format!(
            "refuse to run as root in {}: {who} may replace a symbolic link on the way, in {} \
             (use the path without symbolic links, or add --allow-unsafe-target)",
            location.display(),
            directory.display()
        ))),
        Access::Refused(exchanger) => Err(untrusted(exchanger, "--allow-unsafe-target")),
    }
}
