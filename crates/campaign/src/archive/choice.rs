//! Chooses the archive file and its owner, by an option, an environment variable, or the user's
//! data directory.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use archive::Owner;
use nix::unistd::User as Account;

use super::place::{ArchivePlace, LOOK_MAX};
use record::Record;

use crate::error::Error;
use crate::user::User;

/// The argument of `--archive` that switches archiving off.
const NONE: &str = "none";
/// Environment variable that names the archive file if the option `--archive` is not given.
const VARIABLE: &str = "POSTMARK_ARCHIVE";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Archiving is switched off.
    Nowhere,
    /// The run is stored in this archive.
    At(ArchivePlace),
    /// No archive was requested, and the default archive cannot be located; contains the reason.
    Unknown(String),
}

impl Chosen {
    /// Returns the chosen archive; `None` if the run is not archived.
    pub fn place(&self) -> Option<&ArchivePlace> {
        match self {
            Self::At(place) => Some(place),
            Self::Nowhere | Self::Unknown(_) => None,
        }
    }
}

/// The environment variables and users that determine the archive.
struct Surroundings {
    /// Value of `POSTMARK_ARCHIVE`.
    archive: Option<OsString>,
    /// Value of `XDG_DATA_HOME`. Under sudo, only if that directory belongs to the invoking user.
    data: Option<OsString>,
    /// Value of `HOME`.
    home: Option<OsString>,
    user: u32,
    /// The user who started this process as root with sudo.
    invoker: Option<Owner>,
}

impl Surroundings {
    fn read() -> Self {
        // An empty variable counts as not set.
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let number = |name: &str| variable(name)?.to_str()?.parse().ok();
        // If the user ID cannot be read, an invalid ID is used, which matches no user.
        let user = std::fs::metadata("/proc/self").map_or(u32::MAX, |facts| facts.uid());
        let invoker = || {
            Some(Owner {
                user: number("SUDO_UID")?,
                group: number("SUDO_GID")?,
            })
        };
        let invoker = (user == 0).then(invoker).flatten();
        let invoker = invoker.filter(|owner| owner.user != 0);
        // Under sudo, `XDG_DATA_HOME` may be root's directory instead of the invoking user's.
        let is_meant = |data: &OsString| {
            invoker.is_none_or(|owner| holder(Path::new(data)) == Some(owner.user))
        };
        Self {
            archive: variable(VARIABLE),
            data: variable("XDG_DATA_HOME").filter(is_meant),
            home: variable("HOME"),
            user,
            invoker,
        }
    }
}

/// Returns the owner of a directory. If the directory does not exist, returns the owner of its
/// nearest existing parent. Returns `None` if the file system does not respond.
fn holder(directory: &Path) -> Option<u32> {
    let directory = directory.to_owned();
    let facts = runner::within(LOOK_MAX, move || {
        directory
            .ancestors()
            .find_map(|above| std::fs::metadata(above).ok())
    });
    facts.ok().flatten().map(|facts| facts.uid())
}

/// Whether the argument of `--archive` switches archiving off.
pub fn is_none(said: &Path) -> bool {
    // A user can type `./none` for a file named `none`.
    said.as_os_str() == NONE
}

/// Chooses the archive by the argument of `--archive`, if given.
///
/// # Errors
/// Returns an error if the argument cannot be the path of a file.
fn chosen(said: Option<&Path>) -> Result<Chosen, Error> {
    find(said, Surroundings::read(), &home_of)
}

/// Chooses the archive of a run, without waiting for a file system that does not respond.
///
/// # Errors
/// Returns an error if the argument cannot be the path of a file, or if its file system does not
/// respond.
pub fn chosen_for_run(said: Option<&Path>) -> Result<Chosen, Error> {
    let chosen = chosen(said)?;
    let Chosen::At(place) = &chosen else {
        return Ok(chosen);
    };
    let path = place.path.clone();
    // Only a response is needed, because the archive itself is examined when it is opened.
    match runner::within(LOOK_MAX, move || drop(std::fs::metadata(path))) {
        Ok(()) => Ok(chosen),
        Err(why) if place.is_asked => Err(place.unanswered("look at", why).into()),
        Err(why) => Ok(Chosen::Unknown(
            place.unanswered("look at", why).to_string(),
        )),
    }
}

/// Returns the directory of the archive. If archiving is switched off, returns the directory of the
/// user's default archive.
///
/// # Errors
/// Returns the reason if no archive can be located.
pub fn directory_of_runs(said: Option<&Path>) -> Result<PathBuf, String> {
    let chosen = match chosen(said) {
        Ok(Chosen::Nowhere) => {
            let surroundings = Surroundings {
                archive: None,
                ..Surroundings::read()
            };
            find(None, surroundings, &home_of)
        }
        chosen => chosen,
    };
    match chosen.map_err(|error| error.to_string())? {
        Chosen::At(place) => {
            let path = std::path::absolute(&place.path).map_err(|error| error.to_string())?;
            Ok(path.parent().map_or(path.clone(), Path::to_owned))
        }
        Chosen::Unknown(why) => Err(why),
        Chosen::Nowhere => Err("there is no archive".to_owned()),
    }
}

/// Chooses the archive for a command that requires an archive.
///
/// # Errors
/// Returns an error if archiving is switched off, or no archive can be located.
pub fn place_of_one(said: Option<&Path>) -> Result<ArchivePlace, Error> {
    let told = match chosen(said)? {
        Chosen::At(place) => return Ok(place),
        Chosen::Unknown(why) => why,
        Chosen::Nowhere => {
            format!(
                "there is no archive, because of --archive {NONE} or {VARIABLE}={NONE} (use \
                 --archive FILE)"
            )
        }
    };
    Err(Error::refused(told))
}

fn find(
    said: Option<&Path>,
    surroundings: Surroundings,
    home_of: &dyn Fn(u32) -> Option<PathBuf>,
) -> Result<Chosen, Error> {
    let said = said
        .map(Path::to_owned)
        .or(surroundings.archive.map(PathBuf::from));
    if let Some(path) = said {
        if path == Path::new("-") {
            let told = "invalid value '-' for --archive: expected the path of a file (./- for a \
                        file with this name), or none";
            return Err(Error::refused(told.to_owned()));
        }
        if is_none(&path) {
            return Ok(Chosen::Nowhere);
        }
        return Ok(Chosen::At(ArchivePlace {
            path,
            owner: None,
            is_asked: true,
        }));
    }
    // The XDG Base Directory Specification 0.8 requires that relative paths are ignored.
    let data = surroundings
        .data
        .map(PathBuf::from)
        .filter(|data| data.is_absolute());
    let home = || match surroundings.invoker {
        Some(owner) => home_of(owner.user),
        None => {
            let home = surroundings
                .home
                .map(PathBuf::from)
                .filter(|home| home.is_absolute());
            home.or_else(|| home_of(surroundings.user))
        }
    };
    let data = data.or_else(|| home().map(|home| home.join(".local/share")));
    let Some(data) = data else {
        let told = "cannot find the archive: neither XDG_DATA_HOME nor HOME names a directory, \
                    and the user has no home directory (use --archive FILE, or --archive none)";
        return Ok(Chosen::Unknown(told.to_owned()));
    };
    Ok(Chosen::At(ArchivePlace {
        path: data.join("postmark/archive.db"),
        owner: surroundings.invoker,
        is_asked: false,
    }))
}

/// Returns the home directory of a user from the user database.
fn home_of(user: u32) -> Option<PathBuf> {
    let found = Account::from_uid(user.into()).ok()??;
    Some(found.dir).filter(|home| home.is_absolute())
}

/// Reads the record of the run with this name from the archive `asked`. If `asked` is `None` or
/// switches archiving off, reads from the user's default archive.
///
/// # Errors
/// Returns an error if the archive or the run does not exist or cannot be read.
pub fn record_called(word: &str, asked: Option<&Path>, user: User) -> Result<Record, Error> {
    let archive = place_of_one(asked.filter(|path| !is_none(path)))?.open(false, user)?;
    let number = archive.called(word)?.number;
    Ok(archive.record(number.unwrap_or_default())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings() -> Surroundings {
        Surroundings {
            archive: None,
            data: None,
            home: Some("/home/me".into()),
            user: 7,
            invoker: None,
        }
    }

    fn path(said: Option<&str>, surroundings: Surroundings) -> Option<(String, Option<Owner>)> {
        let home_of = |user: u32| (user == 1000).then(|| PathBuf::from("/home/invoker"));
        match find(said.map(Path::new), surroundings, &home_of).unwrap() {
            Chosen::At(place) => Some((place.path.display().to_string(), place.owner)),
            Chosen::Nowhere | Chosen::Unknown(_) => None,
        }
    }

    fn is_unknown(surroundings: Surroundings) -> bool {
        matches!(
            find(None, surroundings, &|_| None).unwrap(),
            Chosen::Unknown(_)
        )
    }

    fn is_asked(said: Option<&str>, surroundings: Surroundings) -> bool {
        match find(said.map(Path::new), surroundings, &|_| None).unwrap() {
            Chosen::At(place) => place.is_asked,
            Chosen::Nowhere | Chosen::Unknown(_) => false,
        }
    }

    #[test]
    fn option_overrides_variable_and_both_override_the_data_directory() {
        let with_variable = || Surroundings {
            archive: Some("/v.db".into()),
            data: Some("/data".into()),
            ..surroundings()
        };
        assert_eq!(
            path(Some("/s.db"), with_variable()),
            Some(("/s.db".to_owned(), None))
        );
        assert_eq!(
            path(None, with_variable()),
            Some(("/v.db".to_owned(), None))
        );
        assert_eq!(path(Some("none"), with_variable()), None);
        assert_eq!(
            path(Some("./none"), with_variable()),
            Some(("./none".to_owned(), None))
        );
        let variable_none = Surroundings {
            archive: Some("none".into()),
            ..surroundings()
        };
        assert_eq!(path(None, variable_none), None);
        let data = Surroundings {
            data: Some("/data".into()),
            ..surroundings()
        };
        assert_eq!(
            path(None, data),
            Some(("/data/postmark/archive.db".to_owned(), None))
        );
        let home = "/home/me/.local/share/postmark/archive.db";
        assert_eq!(path(None, surroundings()), Some((home.to_owned(), None)));
        let relative = Surroundings {
            data: Some("data".into()),
            ..surroundings()
        };
        assert_eq!(path(None, relative), Some((home.to_owned(), None)));
        let nothing = Surroundings {
            home: None,
            ..surroundings()
        };
        assert!(is_unknown(nothing));
        assert!(is_asked(Some("/s.db"), surroundings()) && is_asked(None, with_variable()));
        assert!(!is_asked(None, surroundings()));
        let a_service = Surroundings {
            home: None,
            user: 1000,
            ..surroundings()
        };
        let home = "/home/invoker/.local/share/postmark/archive.db";
        assert_eq!(path(None, a_service), Some((home.to_owned(), None)));
        assert!(find(Some(Path::new("-")), surroundings(), &|_| None).is_err());
    }

    #[test]
    fn sudo_uses_the_invoking_users_archive() {
        let invoker = Some(Owner {
            user: 1000,
            group: 100,
        });
        let under_sudo = || Surroundings {
            home: Some("/root".into()),
            invoker,
            ..surroundings()
        };
        let place = "/home/invoker/.local/share/postmark/archive.db";
        assert_eq!(path(None, under_sudo()), Some((place.to_owned(), invoker)));
        assert_eq!(
            path(Some("/s.db"), under_sudo()),
            Some(("/s.db".to_owned(), None))
        );
        let unknown = Surroundings {
            invoker: Some(Owner { user: 7, group: 7 }),
            ..surroundings()
        };
        assert!(is_unknown(unknown), "root's is not taken instead");
    }

    #[test]
    fn missing_directory_gets_the_owner_of_its_nearest_existing_parent() {
        let ours = rustix::process::getuid().as_raw();
        let scene = tempfile::tempdir().unwrap();
        assert_eq!(holder(&scene.path().join("not/there")), Some(ours));
        assert_eq!(holder(Path::new("/proc/1/nowhere")), Some(0));
    }

    #[test]
    fn home_directory_is_read_from_the_user_database() {
        assert_eq!(home_of(0), Some(PathBuf::from("/root")));
        assert_eq!(home_of(u32::MAX - 7), None);
    }
}
