//! How far a run is, on standard error: a bar where that is a terminal, a line now and then where
//! it is not.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::ui::problem::{show, tell};
use crate::ui::terminal;
use crate::ui::width;
use document::sanitize::sanitize;
use document::units::counted;
use record::{Load, Phase, SliceMeter, Stalled};
use runner::{Event, Events, Progress, Second, Stage};

/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// So many seconds are drawn beside the rate.
const SECONDS_DRAWN: usize = 24;

/// See the module's text.
pub struct Display {
    bar: Option<ProgressBar>,
    quiet: bool,
    began: Instant,
    said: Instant,
    /// What was done in the last second that is known, in lines of their own.
    second: String,
    /// How many operations were done in each of the last seconds of the phase.
    operations: VecDeque<u64>,
    /// Which step of a sweep goes on, and its load; nothing where none is climbed.
    sweep_step: String,
}

impl Display {
    /// A display, or none where it is to be quiet.
    pub fn new(quiet: bool) -> Self {
        let bar = (!quiet && terminal::is_users(&std::io::stderr()) && terminal::obeys_escapes())
            .then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10)));
        Self {
            bar,
            quiet,
            began: Instant::now(),
            said: Instant::now(),
            second: String::new(),
            operations: VecDeque::new(),
            sweep_step: String::new(),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = self.bar.as_ref().filter(|bar| !bar.is_finished()) {
            bar.finish_and_clear();
        }
    }

    fn begin(&mut self, stage: Stage, progress: Progress) {
        self.began = Instant::now();
        self.said = self.began;
        self.second.clear();
        self.operations.clear();
        if stage == Stage::CleanUp && !self.quiet {
            self.tell(
                "removing the files of the run. A second signal stops the removal; 'postmark \
                 clean' removes the rest.",
            );
        }
        if let Some(bar) = &self.bar {
            bar.set_style(style(progress.total.is_some()));
            bar.set_message("");
            bar.set_length(progress.total.unwrap_or(0));
            bar.set_position(0);
            bar.reset();
            bar.set_prefix(name(stage));
        }
    }

    /// Tells something above the bar.
    fn tell(&self, what: impl std::fmt::Display) {
        match &self.bar {
            Some(bar) => bar.suspend(|| tell(what)),
            None => tell(what),
        }
    }

    /// How many were completed a second, since the stage began.
    fn rate(&self, progress: Progress) -> f64 {
        progress.completed as f64 / self.began.elapsed().as_secs_f64().max(1e-9)
    }

    fn line(&mut self, stage: Stage, progress: Progress, is_end: bool) {
        if self.quiet || self.bar.is_some() || (!is_end && self.said.elapsed() < LINE_EVERY) {
            return;
        }
        self.said = Instant::now();
        let seconds = self.began.elapsed().as_secs_f64();
        if !counts(stage) {
            return show(format_args!("{}: {seconds:.1} s", name(stage)));
        }
        let rate = self.rate(progress);
        let (of, left) = match progress.total {
            Some(total) if !is_end => {
                let done = progress.done as f64 / seconds.max(1e-9);
                let left = total.saturating_sub(progress.done) as f64 / done.max(1e-9);
                (format!(" of {total}"), format!(", {left:.0} s left"))
            }
            _ => (String::new(), String::new()),
        };
        show(format_args!(
            "{}: {}{of} in {seconds:.1} s, {rate:.0} per second{left}",
            name(stage),
            if is_end {
                progress.completed
            } else {
                progress.done
            }
        ));
    }
}

/// Fits into 80 columns with counts of ten million.
const WITH_TOTAL: &str =
    "{prefix:12} [{bar:14}] {percent:>3}% {human_pos}/{human_len} {eta} left {msg}";
const WITHOUT_TOTAL: &str = "{prefix:12} {human_pos} {elapsed} {msg}";

/// The same without the bar: fits into 60.
const NARROW: &str = "{prefix:12} {percent:>3}% {human_pos}/{human_len} {eta} left {msg}";
/// What a bar needs, in characters.
const BAR_WIDTH: usize = 80;

fn style(has_total: bool) -> ProgressStyle {
    let is_narrow = width::columns(&std::io::stderr()).is_some_and(|columns| columns < BAR_WIDTH);
    let template = match (has_total, is_narrow) {
        (true, false) => WITH_TOTAL,
        (true, true) => NARROW,
        (false, _) => WITHOUT_TOTAL,
    };
    // The templates are ours and a test looks at them; the library's own bar is better than none.
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::MakeDirectories | Stage::RemoveDirectories => "directories",
        Stage::Phase(phase) => phase.name(),
        Stage::Take => "take",
        Stage::PhaseSync => "sync",
        Stage::FreeSpace => "free space",
        Stage::Warm => "warm",
        Stage::Cool => "cool",
        Stage::Check => "check",
        Stage::CheckAcross => "check of other ranks",
        Stage::CleanUp => "clean up",
    }
}

/// A line for all operations of a second and one for each kind: how many, the 99th percentile of
/// their latencies, how many failed; with those of the last seconds as blocks.
fn lines(second: &Second, operations: &VecDeque<u64>) -> String {
    let mut all = SliceMeter::default();
    for (_, meter) in &second.meters {
        all.operations = all.operations.saturating_add(meter.operations);
        all.failed = all.failed.saturating_add(meter.failed);
        all.latency.merge(&meter.latency);
    }
    let drawn = report::terminal::line(operations.iter().map(|operations| *operations as f64));
    let mut lines = line("all", &all);
    lines.push_str("  ");
    lines.push_str(&drawn);
    lines.extend(
        second
            .meters
            .iter()
            .map(|(action, meter)| line(action.name(), meter)),
    );
    lines
}

fn line(name: &str, meter: &SliceMeter) -> String {
    let p99 = meter
        .latency
        .percentile(99.0)
        .map_or_else(|| "-".to_owned(), latency);
    let failed = match meter.failed {
        0 => String::new(),
        failed => format!("  {failed} failed"),
    };
    format!(
        "\n  {name:14} {:>11}/s  p99 {p99:>8}{failed}",
        meter.operations
    )
}

/// The load of a step.
fn loaded(load: Load) -> String {
    match load {
        Load::Closed => "closed loop".to_owned(),
        Load::Rate(rate) => format!("{rate:.1}/s"),
        Load::Workers(workers) => counted(workers.into(), "worker"),
        Load::Ranks(ranks) => counted(ranks.into(), "rank"),
    }
}

/// Short, with the unit that fits.
fn latency(ns: u64) -> String {
    let ns = ns as f64;
    match ns {
        _ if ns < 1e3 => format!("{ns:.0} ns"),
        _ if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        _ if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        _ => format!("{:.1} s", ns / 1e9),
    }
}

/// Whether a stage has anything to count.
fn counts(stage: Stage) -> bool {
    !matches!(stage, Stage::PhaseSync | Stage::FreeSpace)
}

/// Told even where no progress is to be shown: something is wrong.
pub(crate) fn stalled_line(stalled: &Stalled) -> String {
    let who = stalled
        .worker
        .map_or_else(|| "the run".to_owned(), |worker| format!("worker {worker}"));
    format!(
        "{who} is stalled in '{}' of {} for {:.1} s so far",
        sanitize(&stalled.operation),
        sanitize(&stalled.path),
        stalled.ns as f64 / 1e9
    )
}

/// Whether a process tells for the first time that targets are used as another user: a session or a
/// study has many runs.
pub(crate) fn is_first_told() -> bool {
    static TOLD: AtomicBool = AtomicBool::new(false);
    !TOLD.swap(true, Ordering::Relaxed)
}

impl Drop for Display {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Events for Display {
    fn event(&mut self, event: Event) {
        match event {
            // Before anything is drawn.
            Event::OtherUser(other_user) if is_first_told() => tell(other_user),
            Event::OtherUser(_) => {}
            Event::PhaseStarted(stage, progress) => self.begin(stage, progress),
            Event::PhaseProgress(stage, progress) => {
                if let Some(bar) = &self.bar {
                    bar.set_position(progress.done);
                    if counts(stage) {
                        let is_of_sweep_step = stage == Stage::Phase(Phase::Transactions);
                        let sweep_step = if is_of_sweep_step {
                            &self.sweep_step[..]
                        } else {
                            ""
                        };
                        bar.set_message(format!(
                            "{:.0}/s{sweep_step}{}",
                            self.rate(progress),
                            self.second
                        ));
                    }
                }
                self.line(stage, progress, false);
            }
            Event::PhaseEnded(stage, progress, _) | Event::PhaseAborted(stage, progress) => {
                if let Some(bar) = &self.bar {
                    bar.set_position(progress.done);
                }
                self.line(stage, progress, true);
            }
            Event::RecordOpened(_) | Event::PhaseRecorded(_) | Event::RecordMerged(_) => {}
            Event::Second(second) => {
                if self.operations.len() == SECONDS_DRAWN {
                    self.operations.pop_front();
                }
                let done = second.meters.iter().map(|(_, meter)| meter.operations);
                self.operations.push_back(done.fold(0, u64::saturating_add));
                self.second = lines(&second, &self.operations);
            }
            Event::Load(number, load) => {
                self.sweep_step = format!(" step {}: {}", number + 1, loaded(load));
                if !self.quiet && self.bar.is_none() {
                    show(format_args!("step {}: {}", number + 1, loaded(load)));
                }
            }
            Event::Stalled(stalled) => self.tell(stalled_line(&stalled)),
        }
    }
}

#[cfg(test)]
mod tests {
    use record::Action;

    use super::*;

    #[test]
    fn who_is_stalled_is_named() {
        let mut stalled = Stalled {
            worker: Some(3),
            operation: "append".to_owned(),
            path: "/mnt/w3/17".to_owned(),
            ns: 61_200_000_000,
            came_back: false,
        };
        assert_eq!(
            stalled_line(&stalled),
            "worker 3 is stalled in 'append' of /mnt/w3/17 for 61.2 s so far"
        );
        stalled.worker = None;
        stalled.path = "/mnt/\u{1b}[2J\n17".to_owned();
        assert_eq!(
            stalled_line(&stalled),
            "the run is stalled in 'append' of /mnt/\\x1b[2J\\n17 for 61.2 s so far"
        );
    }

    #[test]
    fn a_second_has_all_operations_first_and_the_seconds_before_as_blocks() {
        let meter = |operations: u64, ns: u64| {
            let mut latency = record::Histogram::default();
            (0..operations).for_each(|_| latency.record(ns));
            let latency = latency.take_sparse();
            SliceMeter {
                operations,
                latency,
                ..SliceMeter::default()
            }
        };
        let second = Second {
            phase: Phase::Transactions,
            number: 2,
            meters: vec![
                (Action::Read, meter(990, 1_000)),
                (Action::Create, meter(110, 2_000_000)),
            ],
            machine: None,
        };
        let shown = lines(&second, &VecDeque::from([0, 550, 1_100]));
        let shown: Vec<&str> = shown.lines().collect();
        assert_eq!(
            shown[1],
            "  all                   1100/s  p99   2.0 ms   ▄█"
        );
        assert_eq!(shown[2], "  read                   990/s  p99   1.0 µs");
        assert_eq!(shown.len(), 4);
    }

    #[test]
    fn the_bars_templates_are_understood() {
        for template in [WITH_TOTAL, NARROW, WITHOUT_TOTAL] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
