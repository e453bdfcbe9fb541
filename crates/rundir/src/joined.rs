//! A rank's hold of the directories that the first rank has taken: it works in them, and leaves
//! their removal to that one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::namespace::{Directory, Namespace};
use engine::{Errno, Identity};
use record::CleanUp;

use crate::heartbeat::Life;
use crate::manifest::{FirstRank, KeptPool, Manifest};
use crate::names;
use crate::owned_files::{Landmark, Landmarks, OwnedDirectories, Volumes};
use crate::ownership::Evidence;
use crate::prepare::PrepareError;

/// What was made on another machine is looked for so long: a client of a server may know for some
/// seconds yet that it was not there.
const SHOWN_WITHIN: Duration = Duration::from_secs(5);

/// Directories that the first rank has taken, held by another.
#[derive(Debug)]
pub struct JoinedDirectories {
    all: Vec<JoinedDirectory>,
    life: Life,
}

#[derive(Debug)]
struct JoinedDirectory {
    directory: PathBuf,
    held: Arc<dyn Directory>,
    landmark: Arc<Landmark>,
}

impl JoinedDirectories {
    /// Holds what the first rank has taken, with this rank's own signs of life.
    ///
    /// # Errors
    /// Where these are other directories than those of the first rank, or cannot be used.
    pub fn join(
        namespace: &Arc<dyn Namespace>,
        directories: impl Iterator<Item = (PathBuf, FirstRank)>,
        life: Life,
    ) -> Result<Self, PrepareError> {
        let joined = directories.map(|(directory, first)| join(namespace, &directory, &first));
        let all: Vec<JoinedDirectory> = joined.collect::<Result<_, _>>()?;
        life.lies_in(all.len());
        Ok(Self { all, life })
    }

    /// By what each directory is known again.
    pub fn identities(&self) -> Vec<Option<Identity>> {
        self.all
            .iter()
            .map(|joined| joined.landmark.identity)
            .collect()
    }
}

fn join(
    namespace: &Arc<dyn Namespace>,
    directory: &Path,
    first: &FirstRank,
) -> Result<JoinedDirectory, PrepareError> {
    let began = Instant::now();
    let held = loop {
        match hold(namespace, directory, first) {
            Ok(held) => break held,
            Err(_) if began.elapsed() < SHOWN_WITHIN => {
                std::thread::sleep(Duration::from_millis(50))
            }
            Err(why) => {
                return Err(PrepareError::new(format!(
                    "{} is not the directory that rank 0 on host {} has taken: {why} (use a \
                     --target that all hosts share, under the same path)",
                    directory.display(),
                    first.host
                )));
            }
        }
    };
    let facts = held
        .facts()
        .map_err(|errno| PrepareError::system("examine", directory, errno))?;
    Ok(JoinedDirectory {
        landmark: Arc::new(Landmark {
            namespace: Arc::clone(namespace),
            directory: directory.to_owned(),
            identity: facts.identity,
            held: Arc::clone(&held),
        }),
        directory: directory.to_owned(),
        held,
    })
}

/// The directory, where it has the manifest of the first rank; else what was found.
fn hold(
    namespace: &Arc<dyn Namespace>,
    directory: &Path,
    first: &FirstRank,
) -> Result<Arc<dyn Directory>, String> {
    let held = namespace.open(directory).map_err(|errno| match errno {
        Errno::NOENT => "it does not exist here".to_owned(),
        errno => format!("it cannot be opened: {errno}"),
    })?;
    let found = Manifest::read_beside(&*held)
        .map_err(|why| format!("its manifest ({}) cannot be read: {why}", names::NAME))?;
    match found {
        Some(manifest) if manifest.first_rank() == *first => Ok(held),
        Some(_) => Err("its manifest is of another run".to_owned()),
        None => Err("it has no manifest".to_owned()),
    }
}

impl OwnedDirectories for JoinedDirectories {
    fn landmarks(&self) -> Landmarks {
        Landmarks::new(
            self.all
                .iter()
                .map(|joined| Arc::clone(&joined.landmark))
                .collect(),
        )
    }

    fn leave(&self, _: &Evidence, _: &mut dyn FnMut(u64)) -> CleanUp {
        self.life.end();
        CleanUp::default()
    }

    fn begin_use(&self) -> Result<(), String> {
        Ok(())
    }

    fn life(&self) -> &Life {
        &self.life
    }

    fn keep(&self, _: KeptPool) -> Result<(), String> {
        self.life.end();
        Ok(())
    }

    fn volumes(&self) -> Volumes {
        Volumes::of(
            self.all
                .iter()
                .map(|joined| (joined.landmark.identity, &joined.held)),
        )
    }

    fn held(&self) -> Vec<Arc<dyn Directory>> {
        self.all
            .iter()
            .map(|joined| Arc::clone(&joined.held))
            .collect()
    }

    fn owners(&self) -> Vec<FirstRank> {
        Vec::new()
    }

    fn own_bytes(&self) -> u64 {
        // The first rank looks at the space.
        0
    }

    fn describe(&self) -> String {
        let paths: Vec<String> = self
            .all
            .iter()
            .map(|joined| joined.directory.display().to_string())
            .collect();
        paths.join(", ")
    }
}
