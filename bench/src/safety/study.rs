//! A round of a study: file systems that it makes, among a user's files with the names of what it
//! makes, in a directory for images that the user changes while it goes on.
//!
//! After the study's end and `clean` every guest is as it was, all that is left of the study is
//! named, and once the user has put the own files away, `clean` leaves no directory, mount or loop
//! device.

use std::error::Error;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::dice::Dice;
use super::guests::Guests;
use super::perform::{Ended, PATIENCE, SHARED_MEMORY, entries, last_of, listed};
use crate::process::Started;

/// What begins the name of a made directory.
const PREFIX: &str = "postmark-made-";
/// A program that a killed study had started may hold its manifest for so long.
const HELD_FOR: Duration = Duration::from_secs(20);
/// The names of what is made in it, and some that only look like them.
const NAMES: [&str; 9] = [
    "image",
    "journal",
    "mount",
    "below",
    "saved-cell-0-image",
    "saved-cell-0-journal",
    "saved-holiday",
    "saved-",
    ".postmark-made.json",
];

/// What a user does to the made directory while the study goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Nothing,
    /// Moves it away, and makes another one of its name, with own files.
    Exchange,
    /// Moves it away, and that is all.
    Move,
    /// Puts own files into it.
    Guests,
    /// Moves an image away, and puts an own file in its place.
    ExchangeImage,
}

/// How the study ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    ByItself,
    Signals(&'static [Signal]),
}

#[derive(Debug)]
struct StudyRound {
    words: Vec<String>,
    change: Change,
    change_after: Duration,
    end: End,
    end_after: Duration,
    cleans_twice: bool,
    guests_after: bool,
}

impl StudyRound {
    fn choose(images: &Path, other: &Path, has_loops: bool, dice: &mut Dice) -> Self {
        let kinds: &[&str] = match has_loops {
            true => &[
                "ext4?size=16MiB",
                "ext4?size=24MiB&journal=8MiB",
                "ext2?size=16MiB",
                "overlay?size=16MiB",
                "tmpfs?size=8MiB",
            ],
            false => &["tmpfs?size=8MiB", "tmpfs?size=16MiB"],
        };
        let mut targets = Vec::new();
        for kind in [dice.one(kinds), dice.one(kinds)] {
            let fullness = if dice.once_in(4) { "&fullness=40" } else { "" };
            targets.push(format!(
                "one{}=make:{kind}{fullness}&in={}",
                targets.len(),
                images.display()
            ));
        }
        if dice.once_in(2) {
            targets[1] = format!("there={}", other.display());
        }
        let transactions = dice.between(200, 20_000);
        let mut words: Vec<String> = format!(
            "study --quiet-time 0s --no-twin --blocks {} --set files=60 --set size=1..3000 --set \
             no-overhead=true --set transactions={transactions}",
            dice.between(1, 2)
        )
        .split(' ')
        .map(str::to_owned)
        .collect();
        if has_loops && dice.once_in(3) && targets[1].contains("make:") {
            words.extend(["--axis".to_owned(), "age=1,2".to_owned()]);
        }
        for target in targets {
            words.extend(["--target".to_owned(), target]);
        }
        let end = dice.one(&[
            End::ByItself,
            End::Signals(&[Signal::KILL]),
            End::Signals(&[Signal::KILL]),
            End::Signals(&[Signal::KILL]),
            End::Signals(&[Signal::INT]),
            End::Signals(&[Signal::TERM]),
            End::Signals(&[Signal::TERM, Signal::INT]),
        ]);
        Self {
            words,
            change: dice.one(&[
                Change::Nothing,
                Change::Exchange,
                Change::Exchange,
                Change::Move,
                Change::Guests,
                Change::Guests,
                Change::ExchangeImage,
            ]),
            change_after: dice.up_to(Duration::from_millis(800)),
            end,
            end_after: dice.up_to(Duration::from_millis(800)),
            cleans_twice: dice.once_in(3),
            guests_after: dice.once_in(2),
        }
    }
}

/// Performs a round in a directory that is not there yet, and removes it.
pub fn round(
    ours: &Path,
    scene: &Path,
    has_loops: bool,
    dice: &mut Dice,
) -> Result<Ended, Box<dyn Error>> {
    fs::create_dir(scene)?;
    let [images, elsewhere, other, aside] =
        ["images", "elsewhere", "other", "aside"].map(|name| scene.join(name));
    for path in [&images, &elsewhere, &other, &aside] {
        fs::create_dir(path)?;
    }
    let mut performance = StudyPerformance {
        ours,
        round: StudyRound::choose(&images, &other, has_loops, dice),
        scene: scene.to_owned(),
        images,
        elsewhere,
        other,
        aside,
        guests: Guests::default(),
        ended: Ended::default(),
        users: Vec::new(),
        told: String::new(),
    };
    let performed = performance.perform(dice);
    let mut ended = std::mem::take(&mut performance.ended);
    ended.guests = performance.guests.all().len() as u64;
    if !ended.problems.is_empty() {
        ended.log.push(format!("what is there:\n{}", listed(scene)));
    }
    performed?;
    // What a failed round has left is in the way of the next one.
    let mounts = fs::read("/proc/self/mounts")?;
    let mounts = String::from_utf8_lossy(&mounts);
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    for point in points.filter(|point| Path::new(point).starts_with(scene)) {
        let _ = Command::new("umount")
            .args(["--lazy", point])
            .stderr(Stdio::null())
            .status();
    }
    fs::remove_dir_all(scene)
        .map_err(|error| format!("cannot remove {}: {error}", scene.display()))?;
    Ok(ended)
}

struct StudyPerformance<'a> {
    ours: &'a Path,
    scene: PathBuf,
    images: PathBuf,
    elsewhere: PathBuf,
    /// A target that the study does not make.
    other: PathBuf,
    /// Where the user puts own files away.
    aside: PathBuf,
    round: StudyRound,
    guests: Guests,
    ended: Ended,
    /// Directories that the user has made or moved, and an image that was moved.
    users: Vec<PathBuf>,
    told: String,
}

impl StudyPerformance<'_> {
    fn perform(&mut self, dice: &mut Dice) -> Result<(), Box<dyn Error>> {
        self.log(format!("{:?}", self.round));
        // A killed study may have been about to write to what it had just made: files of a user's
        // are not empty.
        self.guests.told_by_contents = true;
        for name in [
            "letter",
            "postmark-made-of-somebody",
            "postmark-made-1-2-3.bak",
            "image",
        ] {
            self.guest(&self.images.join(name), "before the study", dice)?;
        }
        let mut command = Command::new(self.ours);
        command
            .args(&self.round.words)
            .arg("--archive")
            .arg(self.scene.join("archive.db"));
        let mut study = Started::new(command.stdin(Stdio::null()))?;
        let began = Instant::now();
        self.change(&mut study, dice)?;
        let end = self.round.end;
        if let End::Signals(signals) = end {
            std::thread::sleep(self.round.end_after);
            for (at, signal) in signals.iter().enumerate() {
                if at > 0 {
                    std::thread::sleep(dice.up_to(Duration::from_millis(20)));
                }
                study.signal(*signal);
            }
        }
        let ended = study.end_within(PATIENCE)?;
        let [output, errors] = study.streams()?;
        self.log(format!(
            "the study ended after {:.3} s: {ended:?}; it said: {}",
            began.elapsed().as_secs_f64(),
            last_of(&errors)
        ));
        self.hear(&output, &errors);
        let Some(status) = ended else {
            study.signal(Signal::KILL);
            study.end_within(PATIENCE)?;
            self.problem(format!("the study went on for {} s", PATIENCE.as_secs()));
            return Ok(());
        };
        self.ended.was_killed = status.signal().is_some();
        let is_allowed = match end {
            End::ByItself if self.round.change == Change::Nothing => status.code() == Some(0),
            End::ByItself => matches!(status.code(), Some(0..=2)),
            End::Signals(signals) => match status.signal() {
                Some(signal) => signals.iter().any(|sent| sent.as_raw() == signal),
                None => matches!(status.code(), Some(0..=2 | 130 | 143)),
            },
        };
        if !is_allowed {
            self.problem(format!(
                "the study ended with {status}:\n{}",
                last_of(&errors)
            ));
        }
        let is_whole = status.code() == Some(0);
        if is_whole && !self.left().is_empty() {
            self.problem(format!("the study ended with 0 and left {:?}", self.left()));
        }
        if self.round.guests_after {
            for directory in self.made_directories() {
                let name = dice.one(&NAMES);
                self.guest(&directory.join(name), "after the study", dice)?;
            }
        }
        if self.round.cleans_twice {
            self.clean()?;
        }
        let code = self.clean()?;
        self.judge(code)?;
        self.finish_by_hand()
    }

    fn log(&mut self, line: impl Into<String>) {
        self.ended.log.push(line.into());
    }

    fn problem(&mut self, what: impl Into<String>) {
        self.ended.problems.push(what.into());
    }

    fn hear(&mut self, output: &str, errors: &str) {
        if errors.contains("panicked at") {
            self.problem(format!("a panic:\n{errors}"));
        }
        self.told.push_str(output);
        self.told.push_str(errors);
    }

    fn guest(&mut self, path: &Path, when: &str, dice: &mut Dice) -> Result<(), Box<dyn Error>> {
        let elsewhere = self.elsewhere.clone();
        if let Some(made) = self.guests.make(path, &elsewhere, dice)? {
            self.log(format!("guest, {when}: {made}"));
        }
        Ok(())
    }

    /// The directories that the study has made, by their names, and those that the user has moved.
    fn made_directories(&self) -> Vec<PathBuf> {
        let is_made = |path: &PathBuf| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let numbers = name
                .strip_prefix(PREFIX)
                .map(|rest| rest.split('-').all(|part| part.parse::<u64>().is_ok()));
            let is_moved = self.users.contains(path);
            (numbers == Some(true) || is_moved)
                && fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir())
        };
        let mut all = entries(&self.images);
        all.retain(is_made);
        all
    }

    /// The user's change, as soon as there is something to change.
    fn change(&mut self, study: &mut Started, dice: &mut Dice) -> Result<(), Box<dyn Error>> {
        if self.round.change == Change::Nothing {
            return Ok(());
        }
        let began = Instant::now();
        while self.made_directories().is_empty()
            && study.ended()?.is_none()
            && began.elapsed() < PATIENCE
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(self.round.change_after);
        let made = self.made_directories();
        if made.is_empty() {
            return Ok(());
        }
        let directory = made[dice.below(made.len() as u64) as usize].clone();
        self.log(format!(
            "{:?} of {}",
            self.round.change,
            directory.display()
        ));
        match self.round.change {
            Change::Nothing => {}
            Change::Exchange | Change::Move => {
                let old = self.images.join("old");
                if fs::rename(&directory, &old).is_err() {
                    // The study has ended, and has removed it.
                    return Ok(());
                }
                self.users.push(old);
                if self.round.change == Change::Exchange {
                    fs::create_dir(&directory)?;
                    self.users.push(directory.clone());
                    for _ in 0..dice.between(1, 5) {
                        self.guest(
                            &directory.join(dice.one(&NAMES)),
                            "in another directory of the name",
                            dice,
                        )?;
                    }
                }
            }
            Change::Guests => {
                for _ in 0..dice.between(1, 4) {
                    self.guest(
                        &directory.join(dice.one(&NAMES)),
                        "among what is made",
                        dice,
                    )?;
                }
            }
            Change::ExchangeImage => {
                let name = dice.one(&["image", "journal", "saved-cell-0-image"]);
                let moved = self.images.join("moved");
                if fs::rename(directory.join(name), &moved).is_ok() {
                    self.users.push(moved);
                    self.guest(&directory.join(name), "in the place of what was made", dice)?;
                }
            }
        }
        Ok(())
    }

    /// Cleans wherever something of the study may be; the greatest exit status.
    fn clean(&mut self) -> Result<u8, Box<dyn Error>> {
        let mut code = 0;
        let mut places = vec![self.images.clone(), self.other.clone()];
        // A user knows where a directory was moved to.
        places.extend(
            self.users
                .iter()
                .filter(|path| path.ends_with("old") && path.is_dir())
                .cloned(),
        );
        for place in places {
            let began = Instant::now();
            loop {
                let mut command = Command::new(self.ours);
                let mut clean =
                    Started::new(command.arg("clean").arg(&place).stdin(Stdio::null()))?;
                let ended = clean.end_within(PATIENCE)?;
                let [output, errors] = clean.streams()?;
                if output.contains("in use by its maker") && began.elapsed() < HELD_FOR {
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                }
                self.log(format!(
                    "clean {}: {ended:?}\n{output}{errors}",
                    place.display()
                ));
                self.hear(&output, &errors);
                match ended.and_then(|ended| ended.code()) {
                    Some(of_place @ (0 | 1)) => code = code.max(of_place as u8),
                    _ => {
                        self.problem(format!(
                            "clean {} ended with {ended:?}: {errors}",
                            place.display()
                        ));
                        code = 1;
                    }
                }
                break;
            }
        }
        Ok(code)
    }

    /// What is in the directory for images and is no guest: paths in it, mounts, and loop devices.
    fn left(&self) -> Vec<String> {
        let is_guest = |path: &Path| {
            self.guests
                .all()
                .iter()
                .any(|guest| path.starts_with(&guest.path))
        };
        let mut left = Vec::new();
        let mut waiting = vec![self.images.clone()];
        while let Some(directory) = waiting.pop() {
            for path in entries(&directory) {
                let is_directory = fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_dir());
                if is_directory && !is_guest(&path) {
                    waiting.push(path.clone());
                }
                if !is_guest(&path) && !self.users.contains(&path) {
                    left.push(path.display().to_string());
                }
            }
        }
        let images = self.images.display().to_string();
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        left.extend(
            mounts
                .lines()
                .filter(|line| line.contains(&images))
                .map(str::to_owned),
        );
        for device in entries(Path::new("/sys/block")) {
            let backing = fs::read_to_string(device.join("loop/backing_file")).unwrap_or_default();
            if backing.contains(&images) {
                left.push(format!("{} over {}", device.display(), backing.trim()));
            }
        }
        left
    }

    fn judge(&mut self, code: u8) -> Result<(), Box<dyn Error>> {
        for difference in self.guests.differences() {
            self.problem(format!("a guest is not as it was: {difference}"));
        }
        let left = self.left();
        // Those directories are named in which something is left; the manifest is there with it.
        self.ended.left = left.len() as u64;
        for directory in self.made_directories() {
            let has_ours = left
                .iter()
                .any(|path| path.contains(&directory.display().to_string()));
            if has_ours && code == 0 {
                self.problem(format!("clean ended with 0 and left {left:?}"));
            }
            let name = directory
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if has_ours && !self.told.contains(&format!("/{name}")) {
                self.problem(format!(
                    "{} is left, and nobody has named it",
                    directory.display()
                ));
            }
        }
        if left
            .iter()
            .any(|line| line.contains(" over ") || line.contains("/mount "))
        {
            self.problem(format!("mounts or loop devices are left: {left:?}"));
        }
        Ok(())
    }

    /// The user puts all own files away and removes the own directories: then `clean` removes the
    /// rest.
    fn finish_by_hand(&mut self) -> Result<(), Box<dyn Error>> {
        let inner: Vec<PathBuf> = self
            .guests
            .all()
            .iter()
            .map(|guest| guest.path.clone())
            .collect();
        let mut count = 0;
        let images = self.images.clone();
        for path in inner.iter().filter(|path| path.starts_with(&images)) {
            // What lies in a directory of the user's goes with it.
            let above = path.ancestors().skip(1);
            if above
                .into_iter()
                .any(|above| inner.iter().any(|guest| guest == above))
            {
                continue;
            }
            count += 1;
            let to = self.aside.join(count.to_string());
            match fs::rename(path, &to) {
                Ok(()) => self.guests.rebase(path, &to),
                // A guest that is gone was told of.
                Err(error) => self.log(format!("{} cannot be put away: {error}", path.display())),
            }
        }
        for path in self.users.clone() {
            match fs::symlink_metadata(&path) {
                Ok(facts) if facts.is_dir() && !path.ends_with("old") => fs::remove_dir_all(&path)?,
                Ok(facts) if facts.is_file() => fs::remove_file(&path)?,
                _ => {}
            }
        }
        let code = self.clean()?;
        let mut left = self.left();
        left.extend(
            entries(&self.images)
                .iter()
                .map(|path| path.display().to_string()),
        );
        if code != 0 || !left.is_empty() {
            self.problem(format!(
                "clean does not finish after all that was in the way was put away: status {code}, \
                 left {left:?}"
            ));
        }
        for difference in self.guests.differences() {
            self.problem(format!(
                "a guest is not as it was, after the last clean: {difference}"
            ));
        }
        // Signs of life of runs on a file system that is gone: nobody needs them.
        for path in entries(Path::new(SHARED_MEMORY)) {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if name.starts_with("postmark-") {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}
