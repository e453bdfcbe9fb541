//! Which file is the archive, and whose it is: by an option, the environment, or the user's data.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use archive::Owner;
use nix::unistd::User as Account;

use super::place::{ArchivePlace, LOOK_MAX};
use record::Record;

use crate::error::Error;
use crate::user::User;

/// What is said in the place of a file where nothing is to be archived.
const NONE: &str = "none";
/// The archive that is meant where none is said.
const VARIABLE: &str = "POSTMARK_ARCHIVE";

/// Where a run is to be archived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Nowhere, as was asked.
    Nowhere,
    /// There.
    At(ArchivePlace),
    /// Nobody has asked for an archive, and none can be had: why.
    Unknown(String),
}

impl Chosen {
    /// The archive, where there is one.
    pub fn place(&self) -> Option<&ArchivePlace> {
        match self {
            Self::At(place) => Some(place),
            Self::Nowhere | Self::Unknown(_) => None,
        }
    }
}

/// What the environment says of where the archive is.
struct Surroundings {
    /// `POSTMARK_ARCHIVE`.
    archive: Option<OsString>,
    /// `XDG_DATA_HOME`, where it is of the user who is meant.
    data: Option<OsString>,
    /// `HOME`.
    home: Option<OsString>,
    /// Whose process this is.
    user: u32,
    /// Who has called a program of root's by sudo.
    invoker: Option<Owner>,
}

impl Surroundings {
    fn read() -> Self {
        // What is empty says nothing.
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let number = |name: &str| variable(name)?.to_str()?.parse().ok();
        // Nobody's where that cannot be read.
        let user = std::fs::metadata("/proc/self").map_or(u32::MAX, |facts| facts.uid());
        let invoker = || {
            Some(Owner {
                user: number("SUDO_UID")?,
                group: number("SUDO_GID")?,
            })
        };
        let invoker = (user == 0).then(invoker).flatten();
        let invoker = invoker.filter(|owner| owner.user != 0);
        // Under sudo it may be root's own, where nothing is the invoker's.
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

/// Whose a directory is; of one that is not there, the nearest above it that is. One whose file
/// system does not answer is nobody's.
fn holder(directory: &Path) -> Option<u32> {
    let directory = directory.to_owned();
    let facts = runner::within(LOOK_MAX, move || {
        directory
            .ancestors()
            .find_map(|above| std::fs::metadata(above).ok())
    });
    facts.ok().flatten().map(|facts| facts.uid())
}

/// Whether what is said in the place of a file says that nothing is to be archived.
pub fn is_none(said: &Path) -> bool {
    // A file of that name is ./none.
    said.as_os_str() == NONE
}

/// The archive that is meant.
///
/// # Errors
/// Where what was asked for is no file.
fn chosen(said: Option<&Path>) -> Result<Chosen, Error> {
    find(said, Surroundings::read(), &home_of)
}

/// The archive of a run, which does not wait for a file system that does not answer.
///
/// # Errors
/// Where what was asked for is no file, or lies on such a file system.
pub fn chosen_for_run(said: Option<&Path>) -> Result<Chosen, Error> {
    let chosen = chosen(said)?;
    let Chosen::At(place) = &chosen else {
        return Ok(chosen);
    };
    let path = place.path.clone();
    // What it answers is looked at when the archive is opened.
    match runner::within(LOOK_MAX, move || drop(std::fs::metadata(path))) {
        Ok(()) => Ok(chosen),
        Err(why) if place.is_asked => Err(place.unanswered("look at", why).into()),
        Err(why) => Ok(Chosen::Unknown(
            place.unanswered("look at", why).to_string(),
        )),
    }
}

/// The directory of the archive that is meant; where there is to be none, that of the user's.
///
/// # Errors
/// Where neither can be found.
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

/// The archive that is meant by a command that is about one.
///
/// # Errors
/// Where there is to be none.
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
    // Others than absolute ones are to be ignored, by the XDG Base Directory Specification 0.8.
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

/// The home of a user by the database of users.
fn home_of(user: u32) -> Option<PathBuf> {
    let found = Account::from_uid(user.into()).ok()??;
    Some(found.dir).filter(|home| home.is_absolute())
}

/// The record of a run by its name in the archive that is asked for; in the user's where none is,
/// or where nothing new is to be archived.
///
/// # Errors
/// Where there is no such archive or run, or it cannot be read.
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
    fn what_is_said_goes_before_the_environment_and_that_before_the_data_folder() {
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
    fn under_sudo_it_is_the_invoking_users() {
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
    fn a_directory_that_is_not_there_is_its_holders() {
        let ours = rustix::process::getuid().as_raw();
        let scene = tempfile::tempdir().unwrap();
        assert_eq!(holder(&scene.path().join("not/there")), Some(ours));
        assert_eq!(holder(Path::new("/proc/1/nowhere")), Some(0));
    }

    #[test]
    fn homes_are_found_by_number() {
        assert_eq!(home_of(0), Some(PathBuf::from("/root")));
        assert_eq!(home_of(u32::MAX - 7), None);
    }
}
