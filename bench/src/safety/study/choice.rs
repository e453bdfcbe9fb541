//! The choices for a round of a study.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::draws::Draws;

/// A user's change to the directory of a scratch file system during the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Nothing,
    /// Moves the directory away, and creates another one of the same name with user files.
    Exchange,
    Move,
    /// Puts user files into the directory.
    UserFiles,
    /// Moves an image away, and replaces it by a user file.
    ExchangeImage,
}

/// How the study ends: without a signal, or by one or two signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    ByItself,
    Signals(&'static [Signal]),
}

#[derive(Debug)]
pub(super) struct StudyRound {
    pub(super) words: Vec<String>,
    pub(super) change: Change,
    pub(super) change_after: Duration,
    pub(super) end: End,
    pub(super) end_after: Duration,
    pub(super) cleans_twice: bool,
    pub(super) user_files_after: bool,
}

impl StudyRound {
    pub(super) fn choose(images: &Path, other: &Path, has_loops: bool, dice: &mut Draws) -> Self {
        let targets = targets(images, other, has_loops, dice);
        let transactions = dice.between(200, 20_000);
        let mut words: Vec<String> = format!(
            "study --quiet-time 0s --no-twin --blocks {} --files 60 --size 1..3000 \
             --no-overhead --transactions {transactions}",
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
                Change::UserFiles,
                Change::UserFiles,
                Change::ExchangeImage,
            ]),
            change_after: dice.up_to(Duration::from_millis(800)),
            end,
            end_after: dice.up_to(Duration::from_millis(800)),
            cleans_twice: dice.once_in(3),
            user_files_after: dice.once_in(2),
        }
    }
}

/// The study's targets: two scratch file systems, or one and an existing directory.
fn targets(images: &Path, other: &Path, has_loops: bool, dice: &mut Draws) -> Vec<String> {
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
    targets
}
