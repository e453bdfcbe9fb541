//! A round, from its location to its verdict.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::io::{ErrorKind, Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::choice::{Cleaning, Incident, Round};
use super::dice::Dice;
use super::guests::Guests;
use crate::process::{Started, output};

/// A run that goes on for so long after its event does not end.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The name of the mark that a run leaves.
const MANIFEST: &str = ".postmark-manifest.json";
/// What begins the name of a run's own directory.
const PREFIX: &str = "postmark-";
/// So many files that should not be there are named.
const NAMED_MAX: usize = 5;
/// Where a run may keep a little of its state.
pub const SHARED_MEMORY: &str = "/dev/shm";

/// What a round came to.
#[derive(Debug, Default)]
pub struct Ended {
    /// What is not as it should be.
    pub problems: Vec<String>,
    /// What was done, in order.
    pub log: Vec<String>,
    pub was_killed: bool,
    /// Files of the run that `clean` has left, each named.
    pub left: u64,
    pub guests: u64,
}

/// Performs a round in a directory that is not there yet, and removes it.
pub fn round(
    ours: &Path,
    scene: &Path,
    is_slow: bool,
    dice: &mut Dice,
) -> Result<Ended, Box<dyn Error>> {
    let round = Round::choose(dice, is_slow);
    fs::create_dir(scene)?;
    let mut performance = Performance {
        ours,
        scene: scene.to_owned(),
        mail: scene.join("mail"),
        elsewhere: scene.join("elsewhere"),
        round,
        guests: Guests::default(),
        ended: Ended::default(),
        mounts: Vec::new(),
        structure: BTreeSet::new(),
        to_clean: Vec::new(),
        told: String::new(),
    };
    let performed = performance.perform(dice);
    let mut ended = std::mem::take(&mut performance.ended);
    ended.guests = performance.guests.all().len() as u64;
    if !ended.problems.is_empty() {
        ended.log.push(format!("what is there:\n{}", listed(scene)));
    }
    // Mounts go first.
    drop(performance);
    fs::remove_dir_all(scene)
        .map_err(|error| format!("cannot remove {}: {error}", scene.display()))?;
    performed.map(|()| ended)
}

struct Performance<'a> {
    ours: &'a Path,
    scene: PathBuf,
    /// The location of the run.
    mail: PathBuf,
    /// Outside of it: what links lead to.
    elsewhere: PathBuf,
    round: Round,
    guests: Guests,
    ended: Ended,
    mounts: Vec<Mount>,
    /// What the round itself has made, and is neither a guest nor a run's.
    structure: BTreeSet<PathBuf>,
    /// Where runs may have left something.
    to_clean: Vec<PathBuf>,
    /// What the run and `clean` have said, on both streams.
    told: String,
}

/// Something that is mounted until this goes.
struct Mount(PathBuf);

impl Mount {
    fn new(words: &[&str], point: &Path) -> Result<Self, Box<dyn Error>> {
        output(Command::new("mount").args(words).arg(point))?;
        Ok(Self(point.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Also when a signal has come, and also where somebody still has it open.
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(&self.0)
            .stderr(Stdio::null())
            .status();
    }
}

impl Performance<'_> {
    fn perform(&mut self, dice: &mut Dice) -> Result<(), Box<dyn Error>> {
        self.log(format!("{:?}", self.round));
        self.set_the_scene(dice)?;
        let mut run = self.start()?;
        self.until_the_moment(&mut run)?;
        if self.round.guests_during {
            self.guests.told_by_contents = !self.round.face.is_prompt();
            for _ in 0..dice.between(1, 3) {
                let directory = self.a_directory_of_the_run(dice);
                self.guest_called_as_the_runs(&directory, dice)?;
            }
            self.guests.told_by_contents = false;
            std::thread::sleep(dice.up_to(Duration::from_millis(30)));
        }
        self.event(&run, dice)?;
        self.end_of_run(&mut run)?;
        if self.round.guests_after {
            self.guests_after(dice)?;
        }
        let code = self.clean_as_chosen(dice)?;
        self.judge(code)
    }

    fn log(&mut self, line: impl Into<String>) {
        self.ended.log.push(line.into());
    }

    fn problem(&mut self, what: impl Into<String>) {
        self.ended.problems.push(what.into());
    }

    fn make_structure(&mut self, path: &Path) -> std::io::Result<()> {
        fs::create_dir(path)?;
        self.structure.insert(path.to_owned());
        Ok(())
    }

    /// The location, with a user's files in it.
    fn set_the_scene(&mut self, dice: &mut Dice) -> Result<(), Box<dyn Error>> {
        let (mail, elsewhere) = (self.mail.clone(), self.elsewhere.clone());
        self.make_structure(&mail)?;
        self.make_structure(&elsewhere)?;
        self.to_clean.push(mail.clone());
        self.guests.make_file(&elsewhere.join("file"), dice)?;
        if self.round.event == Incident::LazyUnmount {
            // What is beneath the mount point.
            for _ in 0..dice.below(4) {
                self.guest_called_as_the_runs(&mail, dice)?;
            }
            let real = self.scene.join("real");
            self.guests.rebase(&mail, &self.scene.join("beneath"));
            self.make_structure(&real)?;
            let mount = Mount::new(&["--bind", &real.to_string_lossy()], &mail)?;
            self.mounts.push(mount);
        }
        for _ in 0..dice.between(1, 6) {
            let name = self.near_name(dice);
            let path = mail.join(&name);
            let made = if name.starts_with(PREFIX) || name.len() <= 4 && dice.once_in(3) {
                self.guests.make_directory(&path, dice)?
            } else {
                self.guests.make(&path, &elsewhere, dice)?
            };
            self.log_guest("before the run", made);
        }
        Ok(())
    }

    fn log_guest(&mut self, when: &str, made: Option<String>) {
        if let Some(made) = made {
            self.log(format!("guest, {when}: {made}"));
        }
    }

    /// A name that is nearly one of ours, and that no run of these uses.
    fn near_name(&self, dice: &mut Dice) -> String {
        let number = dice.between(1, self.round.face.numbers);
        match dice.below(10) {
            0 => format!("0{number}"),
            1 => format!("{number}.bak"),
            2 => "0".to_owned(),
            3 => format!("{MANIFEST}.bak"),
            4 => format!("{MANIFEST}.{number}"),
            5 => format!("{PREFIX}2026-01-{:02}", dice.between(1, 28)),
            6 => PREFIX.to_owned(),
            7 => dice.one(&["s999", "w0", "w1", "s"]).to_owned(),
            8 => "9999999999".to_owned(),
            _ => dice.one(&["letter", "cur", "tmp", "mbox"]).to_owned(),
        }
    }

    /// A guest with a name that a run gives to its files, or as near to one as can be, in a
    /// directory.
    fn guest_called_as_the_runs(
        &mut self,
        directory: &Path,
        dice: &mut Dice,
    ) -> Result<(), Box<dyn Error>> {
        let number = dice.between(1, self.round.face.numbers + 50);
        let name = match dice.below(8) {
            0 => self.near_name(dice),
            1 => dice.one(&["s0", "w0", "s1"]).to_owned(),
            2 => format!("{number:016}"),
            _ => number.to_string(),
        };
        let path = directory.join(&name);
        let elsewhere = self.elsewhere.clone();
        let made =
            if name.starts_with(PREFIX) || name.len() == 2 && !name.starts_with(char::is_numeric) {
                self.guests.make_directory(&path, dice)?
            } else {
                self.guests.make(&path, &elsewhere, dice)?
            };
        self.log_guest("called as the run's", made);
        Ok(())
    }

    fn start(&mut self) -> Result<Started, Box<dyn Error>> {
        let mut command = Command::new(self.ours);
        command
            .args(&self.round.face.words)
            .current_dir(&self.scene);
        match self.round.face.commands.clone() {
            Some(commands) => {
                let commands = format!("set location {}\n{commands}", self.mail.display());
                let mut input = tempfile::tempfile()?;
                input.write_all(commands.as_bytes())?;
                input.rewind()?;
                self.log(format!("the prompt is given:\n{commands}"));
                command.stdin(input);
            }
            None => {
                command.arg("--target").arg(&self.mail).stdin(Stdio::null());
                self.log(format!(
                    "postmark {} --target {}",
                    self.round.face.words.join(" "),
                    self.mail.display()
                ));
            }
        }
        let started = Started::new(&mut command)?;
        Ok(started)
    }

    fn until_the_moment(&mut self, run: &mut Started) -> Result<(), Box<dyn Error>> {
        let began = Instant::now();
        if self.round.event != Incident::Nothing && self.round.moment.after_mark {
            while run.ended()?.is_none() && began.elapsed() < PATIENCE && !self.is_marked() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        std::thread::sleep(self.round.moment.after);
        self.log(format!(
            "{:.3} s after its start:",
            began.elapsed().as_secs_f64()
        ));
        Ok(())
    }

    fn is_marked(&self) -> bool {
        !self.run_directories(&self.mail).is_empty()
    }

    /// Directories with a run's mark: a location, and those in it.
    fn run_directories(&self, location: &Path) -> Vec<PathBuf> {
        let inner = entries(location).into_iter().filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(PREFIX)
        });
        let all = std::iter::once(location.to_owned()).chain(inner);
        all.filter(|path| is_file(&path.join(MANIFEST))).collect()
    }

    /// Any directory in which the run has files.
    fn a_directory_of_the_run(&self, dice: &mut Dice) -> PathBuf {
        let mut all = Vec::new();
        for directory in self.run_directories(&self.mail) {
            all.extend(self.directories_below(&directory));
            all.push(directory);
        }
        if all.is_empty() {
            return self.mail.clone();
        }
        all[dice.below(all.len() as u64) as usize].clone()
    }

    fn directories_below(&self, directory: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for path in entries(directory) {
            let is_directory = fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_dir());
            if is_directory && !self.is_guest(&path) {
                found.extend(self.directories_below(&path));
                found.push(path);
            }
        }
        found
    }

    fn is_guest(&self, path: &Path) -> bool {
        self.guests.all().iter().any(|guest| guest.path == path)
    }

    fn event(&mut self, run: &Started, dice: &mut Dice) -> Result<(), Box<dyn Error>> {
        let event = self.round.event;
        self.log(format!("{event:?}"));
        match event {
            Incident::Nothing => {}
            Incident::Kill => run.signal(Signal::KILL),
            Incident::Interrupt => run.signal(Signal::INT),
            Incident::Terminate => run.signal(Signal::TERM),
            Incident::Exchange => self.exchange(dice)?,
            Incident::MountOver => self.mount_over(dice)?,
            Incident::LazyUnmount => {
                self.mounts.clear();
                // What was the location is at its own path from now on, and what was beneath it is
                // there.
                self.guests.rebase(&self.mail, &self.scene.join("real"));
                self.guests.rebase(&self.scene.join("beneath"), &self.mail);
                self.to_clean.push(self.scene.join("real"));
            }
        }
        Ok(())
    }

    /// Renames a directory away, and puts another one in its place with a user's files in it.
    fn exchange(&mut self, dice: &mut Dice) -> Result<(), Box<dyn Error>> {
        let inner = self
            .run_directories(&self.mail)
            .into_iter()
            .find(|path| *path != self.mail);
        let there = match inner {
            Some(inner) if self.round.of_run_directory => inner,
            _ => self.mail.clone(),
        };
        let mut away = there.clone().into_os_string();
        away.push(".old");
        let away = PathBuf::from(away);
        let prepared = self.scene.join("prepared");
        fs::create_dir(&prepared)?;
        let is_prepared = dice.once_in(2);
        if is_prepared {
            self.several_guests(&prepared, dice)?;
        }
        match fs::rename(&there, &away) {
            Ok(()) => {}
            // The run has ended, and its directory has gone.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.structure.insert(prepared);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        self.guests.rebase(&there, &away);
        fs::rename(&prepared, &there)?;
        self.guests.rebase(&prepared, &there);
        self.log(format!("{} is now {}", there.display(), away.display()));
        if !is_prepared {
            self.several_guests(&there, dice)?;
        }
        // The user has renamed the one and made the other: they may stay, even where the run had
        // made it.
        self.structure.extend([there.clone(), away.clone()]);
        if there == self.mail {
            self.to_clean.push(away);
        }
        Ok(())
    }

    /// So many that some have the numbers of files of the run.
    fn several_guests(&mut self, directory: &Path, dice: &mut Dice) -> Result<(), Box<dyn Error>> {
        for _ in 0..dice.between(1, 12) {
            self.guest_called_as_the_runs(directory, dice)?;
        }
        Ok(())
    }

    fn mount_over(&mut self, dice: &mut Dice) -> Result<(), Box<dyn Error>> {
        let over = self.scene.join("over");
        self.make_structure(&over)?;
        if self.round.over_tmpfs {
            let mount = Mount::new(&["-t", "tmpfs", "-o", "size=64m", "postmark-bench"], &over)?;
            self.mounts.push(mount);
        }
        self.several_guests(&over, dice)?;
        let mount = Mount::new(&["--bind", &over.to_string_lossy()], &self.mail)?;
        self.mounts.push(mount);
        Ok(())
    }

    fn end_of_run(&mut self, run: &mut Started) -> Result<(), Box<dyn Error>> {
        let began = Instant::now();
        let ended = run.end_within(PATIENCE)?;
        let [output, errors] = run.streams()?;
        self.told.push_str(&output);
        self.told.push_str(&errors);
        self.log(format!(
            "the run ended after {:.3} s: {ended:?}; it said: {}",
            began.elapsed().as_secs_f64(),
            last_of(&errors)
        ));
        let Some(status) = ended else {
            run.signal(Signal::KILL);
            run.end_within(PATIENCE)?;
            self.problem(format!(
                "the run went on for {} s after the event",
                PATIENCE.as_secs()
            ));
            return Ok(());
        };
        self.ended.was_killed = status.signal().is_some();
        let is_allowed = match self.round.event {
            Incident::Kill if status.signal() == Some(Signal::KILL.as_raw()) => true,
            // Before it has taken its signals for itself.
            Incident::Interrupt if status.signal() == Some(Signal::INT.as_raw()) => true,
            Incident::Terminate if status.signal() == Some(Signal::TERM.as_raw()) => true,
            Incident::Nothing if !self.round.guests_during => status.code() == Some(0),
            Incident::Interrupt => matches!(status.code(), Some(0..=2 | 130)),
            Incident::Terminate => matches!(status.code(), Some(0..=2 | 143)),
            Incident::Nothing
            | Incident::Kill
            | Incident::Exchange
            | Incident::MountOver
            | Incident::LazyUnmount => {
                matches!(status.code(), Some(0..=2))
            }
        };
        if !is_allowed {
            self.problem(format!(
                "the run ended with {status}:\n{}",
                last_of(&(output.clone() + &errors))
            ));
        }
        self.no_panic(&errors);
        Ok(())
    }

    fn no_panic(&mut self, errors: &str) {
        if errors.contains("panicked at") {
            self.problem(format!("a panic:\n{errors}"));
        }
    }

    /// A user makes files where the run was, some in the place of the run's own.
    fn guests_after(&mut self, dice: &mut Dice) -> Result<(), Box<dyn Error>> {
        let elsewhere = self.elsewhere.clone();
        for mut location in self.to_clean.clone() {
            if self.round.event == Incident::MountOver {
                // The same by the path that it has when all is over.
                location = self.scene.join("over");
            }
            let run_directories = self.run_directories(&location);
            let mut all: Vec<PathBuf> = run_directories
                .iter()
                .flat_map(|path| self.directories_below(path))
                .collect();
            all.extend(run_directories);
            all.push(location);
            for _ in 0..dice.between(1, 4) {
                let directory = all[dice.below(all.len() as u64) as usize].clone();
                if !dice.once_in(2) {
                    self.guest_called_as_the_runs(&directory, dice)?;
                    continue;
                }
                // A manifest in the making is called like it.
                let is_manifest = |path: &PathBuf| {
                    let name = path.file_name().unwrap_or_default();
                    name.to_string_lossy().starts_with(MANIFEST)
                };
                let is_runs =
                    |path: &PathBuf| is_file(path) && !is_manifest(path) && !self.is_guest(path);
                let files: Vec<PathBuf> = entries(&directory).into_iter().filter(is_runs).collect();
                if files.is_empty() {
                    continue;
                }
                let path = files[dice.below(files.len() as u64) as usize].clone();
                fs::remove_file(&path)?;
                let made = self.guests.make(&path, &elsewhere, dice)?;
                self.log_guest("in the place of a file of the run", made);
            }
        }
        Ok(())
    }

    /// Calls `clean` as this round has it. The greatest exit status of the last time.
    fn clean_as_chosen(&mut self, dice: &mut Dice) -> Result<u8, Box<dyn Error>> {
        match self.round.cleaning {
            Cleaning::Once => {}
            Cleaning::Twice => {
                self.clean_all()?;
            }
            Cleaning::BesideARun => {
                let words = "run --quiet --no-overhead --no-sync-phases --storage posix --files \
                             20 --transactions 20 --target";
                let mut command = Command::new(self.ours);
                command
                    .args(words.split(' '))
                    .arg(&self.mail)
                    .stdin(Stdio::null());
                let mut beside = Started::new(&mut command)?;
                std::thread::sleep(dice.up_to(Duration::from_millis(20)));
                self.clean_all()?;
                let status = beside.end_within(PATIENCE)?;
                let [_, errors] = beside.streams()?;
                self.log(format!(
                    "the run beside clean: {status:?}: {}",
                    last_of(&errors)
                ));
                if status.and_then(|status| status.code()) != Some(0) {
                    self.problem(format!(
                        "the run beside clean ended with {status:?}: {}",
                        last_of(&errors)
                    ));
                }
                self.no_panic(&errors);
            }
        }
        let code = self.clean_all()?;
        if self.round.event != Incident::MountOver {
            return Ok(code);
        }
        // What was beneath the mount point; what was mounted stays at its own path.
        self.mounts.pop();
        Ok(self.clean_all()?.max(code))
    }

    /// Cleans wherever a run was, kept pools included.
    fn clean_all(&mut self) -> Result<u8, Box<dyn Error>> {
        let mut code = 0;
        for location in self.to_clean.clone() {
            let (text, of_location) = self.clean(&location)?;
            code = code.max(of_location);
            if text.contains("--reuse") {
                for directory in self.run_directories(&location) {
                    code = code.max(self.clean(&directory)?.1);
                }
            }
        }
        Ok(code)
    }

    /// What `clean` says on its streams, and its exit status.
    fn clean(&mut self, path: &Path) -> Result<(String, u8), Box<dyn Error>> {
        let mut command = Command::new(self.ours);
        let mut clean = Started::new(command.arg("clean").arg(path).stdin(Stdio::null()))?;
        let ended = clean.end_within(PATIENCE)?;
        let [output, errors] = clean.streams()?;
        self.log(format!(
            "clean {}: {ended:?}\n{output}{errors}",
            path.display()
        ));
        self.no_panic(&errors);
        let code = match ended.and_then(|ended: ExitStatus| ended.code()) {
            Some(code @ (0 | 1)) => code as u8,
            _ => {
                self.problem(format!(
                    "clean {} ended with {ended:?}: {errors}",
                    path.display()
                ));
                1
            }
        };
        let text = output + &errors;
        self.told.push_str(&text);
        Ok((text, code))
    }

    /// All is over: what is there is what should be.
    fn judge(&mut self, code: u8) -> Result<(), Box<dyn Error>> {
        for difference in self.guests.differences() {
            self.problem(format!("a guest is not as it was: {difference}"));
        }
        let rest = self.rest();
        let files: Vec<&PathBuf> = rest
            .files
            .iter()
            .filter(|path| !is_manifest(path))
            .collect();
        self.ended.left = files.len() as u64;
        for path in files.iter().take(NAMED_MAX) {
            if !self.ended.was_killed {
                self.problem(format!(
                    "{} is left of a run that was not killed",
                    path.display()
                ));
            } else if !self.has_named(path) {
                self.problem(format!(
                    "{} is left of the run, and nobody has named it",
                    path.display()
                ));
            }
        }
        if files.len() as u64 > self.round.face.workers {
            self.problem(format!(
                "{} files are left of a run of {} workers",
                files.len(),
                self.round.face.workers
            ));
        }
        // A directory of the run's in which a guest lies cannot be removed; its name is told, and
        // the user does so.
        for path in &rest.directories {
            if !self
                .guests
                .all()
                .iter()
                .any(|guest| guest.path.starts_with(path))
                && files.is_empty()
            {
                self.problem(format!(
                    "{} is left, and holds nothing of a user's",
                    path.display()
                ));
            } else if !self.has_named(path) {
                self.problem(format!(
                    "{} is left, and nobody has named it",
                    path.display()
                ));
            }
        }
        let has_manifest = rest.files.iter().any(|path| is_manifest(path));
        if !files.is_empty() && !has_manifest {
            self.problem(
                "files of the run are left, and its manifest is gone: they can never be cleaned",
            );
        }
        if !rest.files.is_empty() {
            if code == 0 {
                self.problem(format!("clean ended with 0 and left {:?}", rest.files));
            }
            self.finish_by_hand(&rest)?;
        }
        self.no_state();
        Ok(())
    }

    /// Whether the run or `clean` has said that this stays. Where the directory was renamed since,
    /// by the name that it had.
    fn has_named(&self, path: &Path) -> bool {
        let path = path
            .strip_prefix(&self.scene)
            .unwrap_or(path)
            .to_string_lossy();
        let mut parts = path.splitn(2, '/');
        let (first, rest) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        let is_location = matches!(first, "mail.old" | "real" | "over");
        let named = |name: &str| {
            self.told.lines().any(|line| {
                line.contains(&format!("{name}:"))
                    || line.contains("more: for reasons like those above")
            })
        };
        named(&format!("/{path}"))
            || named(&format!("/{}", path.replace(".old/", "/")))
            || is_location && named(&format!("/mail/{rest}"))
    }

    /// Puts away what is left and named, and every guest; then `clean` is to finish.
    fn finish_by_hand(&mut self, rest: &Rest) -> Result<(), Box<dyn Error>> {
        let aside = self.scene.join("aside");
        self.make_structure(&aside)?;
        for path in rest.files.iter().filter(|path| !is_manifest(path)) {
            fs::remove_file(path)?;
        }
        let mut count = 0;
        for path in self
            .guests
            .all()
            .iter()
            .map(|guest| guest.path.clone())
            .collect::<Vec<_>>()
        {
            // A directory's own go with it, and have another path then.
            if self.is_in_a_guest(&path) || path.starts_with(&self.elsewhere) {
                continue;
            }
            count += 1;
            let to = aside.join(count.to_string());
            match fs::rename(&path, &to) {
                Ok(()) => self.guests.rebase(&path, &to),
                Err(error) => self.log(format!("{} cannot be put away: {error}", path.display())),
            }
        }
        let code = self.clean_all()?;
        let rest = self.rest();
        if code != 0 || !rest.is_empty() {
            self.problem(format!(
                "clean does not finish after all that was in the way was put away: status {code}, \
                 left {rest:?}"
            ));
        }
        for difference in self.guests.differences() {
            self.problem(format!(
                "a guest is not as it was, after the second clean: {difference}"
            ));
        }
        Ok(())
    }

    fn is_in_a_guest(&self, path: &Path) -> bool {
        let above = path.parent();
        let is_above = |guest: &super::guests::Guest| {
            guest.is_directory() && above.is_some_and(|above| above.starts_with(&guest.path))
        };
        self.guests.all().iter().any(is_above)
    }

    /// What is in the scene and is neither a guest nor the round's own.
    fn rest(&self) -> Rest {
        let guests: BTreeSet<&Path> = self
            .guests
            .all()
            .iter()
            .map(|guest| guest.path.as_path())
            .collect();
        let mut rest = Rest::default();
        self.add_rest(&self.scene, &guests, &mut rest);
        rest
    }

    fn add_rest(&self, directory: &Path, guests: &BTreeSet<&Path>, rest: &mut Rest) {
        for path in entries(directory) {
            let is_known = guests.contains(path.as_path()) || self.structure.contains(&path);
            let is_directory = fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_dir());
            if is_directory {
                self.add_rest(&path, guests, rest);
            }
            if !is_known {
                if is_directory {
                    rest.directories.push(path);
                } else {
                    rest.files.push(path);
                }
            }
        }
    }

    /// Nothing of the runs of this round stays in shared memory.
    fn no_state(&mut self) {
        for path in entries(Path::new(SHARED_MEMORY)) {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if name.starts_with(PREFIX) {
                self.problem(format!("{} stays", path.display()));
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// What should not be there.
#[derive(Debug, Default)]
struct Rest {
    files: Vec<PathBuf>,
    directories: Vec<PathBuf>,
}

impl Rest {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.directories.is_empty()
    }
}

fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == MANIFEST)
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file())
}

/// The paths in a directory; none where it is not there.
pub fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    paths
}

/// The last lines of a text.
pub fn last_of(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

/// A tree in words, up to a hundred names.
pub fn listed(directory: &Path) -> String {
    let mut lines = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let (Some(path), true) = (waiting.pop(), lines.len() < 100) {
        for path in entries(&path) {
            let facts = fs::symlink_metadata(&path);
            lines.push(format!(
                "{} {}",
                path.strip_prefix(directory).unwrap_or(&path).display(),
                facts.as_ref().map_or_else(
                    |error| error.to_string(),
                    |facts| {
                        use std::os::unix::fs::MetadataExt;
                        format!(
                            "mode {:o}, owner {}, {} bytes, modified {}.{:09}",
                            facts.mode(),
                            facts.uid(),
                            facts.len(),
                            facts.mtime(),
                            facts.mtime_nsec()
                        )
                    }
                )
            ));
            if facts.is_ok_and(|facts| facts.is_dir()) {
                waiting.push(path);
            }
        }
    }
    lines.truncate(100);
    lines.join("\n")
}
