//! Shows the progress of a run on standard error: a bar on a terminal; a line every few seconds on
//! a terminal without escape sequences, or if lines are requested; otherwise nothing.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::ui::problem::{show, tell};
use crate::ui::terminal;
use crate::ui::width;
use document::sanitize::sanitize;
use document::units::{self, counted};
use record::{Load, Phase, SliceMeter, Stalled};
use runner::{Event, Events, Progress, Second, Stage};

/// Interval between progress lines within a phase, if no bar is drawn.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// A phase that takes less than this prints no line at its end, unless lines are requested.
const LINE_FROM: Duration = Duration::from_secs(1);
/// Number of seconds that the small chart of the rate covers.
const SECONDS_DRAWN: usize = 24;

pub struct Display {
    bar: Option<ProgressBar>,
    lines: Lines,
    quiet: bool,
    began: Instant,
    said: Instant,
    /// Operations and latencies of the latest second, as lines of text below the bar.
    second: String,
    /// Number of operations in each of the latest seconds, for the chart.
    operations: VecDeque<u64>,
    /// A line of text below the bar: number and load of the sweep's current load level, and the
    /// remaining time of the sweep. Empty without a load sweep.
    sweep_step: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    None,
    /// Only lines of phases that take at least [`LINE_FROM`].
    Long,
    All,
}

impl Display {
    /// `quiet` suppresses the progress, but not warnings about stalled workers.
    pub fn new(quiet: bool) -> Self {
        let is_shown = !quiet && terminal::is_users(&std::io::stderr());
        let bar = (is_shown && terminal::obeys_escapes()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            bar.with_style(style(false))
        });
        let lines = match is_shown && bar.is_none() {
            true => Lines::Long,
            false => Lines::None,
        };
        Self {
            bar,
            lines,
            quiet,
            began: Instant::now(),
            said: Instant::now(),
            second: String::new(),
            operations: VecDeque::new(),
            sweep_step: String::new(),
        }
    }

    /// Prints the lines of all phases instead of a bar, unless the display is quiet.
    #[must_use]
    pub fn verbose(mut self) -> Self {
        if !self.quiet {
            self.bar = None;
            self.lines = Lines::All;
        }
        self
    }

    /// Removes the bar.
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
                "removing the files of the run. A second signal ends the program without a \
                 report; 'postmark clean' then removes the rest.",
            );
        }
        if let Some(bar) = &self.bar {
            // A total of 0 means that the total is not known in advance.
            let total = progress.total.filter(|total| *total > 0);
            // Each of these calls may draw the bar, so the name comes first and the style last.
            bar.set_prefix(name(stage));
            bar.set_message("");
            bar.set_length(total.unwrap_or(0));
            bar.set_position(0);
            bar.reset();
            bar.set_style(style(total.is_some()));
        }
    }

    /// Prints a message above the bar.
    fn tell(&self, what: impl std::fmt::Display) {
        match &self.bar {
            Some(bar) => bar.suspend(|| tell(what)),
            None => tell(what),
        }
    }

    /// Shows the load level or the phase of the workload that begins.
    fn level(&mut self, told: &str) {
        if self.lines != Lines::None {
            show(told);
        }
        self.sweep_step = format!("\n  {told}");
    }

    /// Average number of completed operations per second since the phase started.
    fn rate(&self, progress: Progress) -> f64 {
        progress.completed as f64 / self.began.elapsed().as_secs_f64().max(1e-9)
    }

    fn line(&mut self, stage: Stage, progress: Progress, is_end: bool) {
        let is_brief = self.lines == Lines::Long && self.began.elapsed() < LINE_FROM;
        if self.lines == Lines::None
            || (!is_end && self.said.elapsed() < LINE_EVERY)
            || (is_end && is_brief)
        {
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

/// Template of the bar if the total is known. The bar fits into 80 columns with counts of up to ten
/// million.
const WITH_TOTAL: &str =
    "{prefix:12} [{bar:14}] {percent:>3}% {human_pos}/{human_len} {eta} left {msg}";
const WITHOUT_TOTAL: &str = "{prefix:12} {human_pos} {elapsed} {msg}";

/// Template for terminals narrower than [`BAR_WIDTH`]: without the drawn bar, it fits into 60
/// columns.
const NARROW: &str = "{prefix:12} {percent:>3}% {human_pos}/{human_len} {eta} left {msg}";
/// Minimum width of a terminal for [`WITH_TOTAL`], in characters.
const BAR_WIDTH: usize = 80;

fn style(has_total: bool) -> ProgressStyle {
    let is_narrow = width::columns(&std::io::stderr()).is_some_and(|columns| columns < BAR_WIDTH);
    let template = match (has_total, is_narrow) {
        (true, false) => WITH_TOTAL,
        (true, true) => NARROW,
        (false, _) => WITHOUT_TOTAL,
    };
    // A unit test parses the templates, so the fallback is never used.
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

/// Formats a second: a line for all operations and one for each kind, with count, p99 latency and
/// failures. The first line also contains a chart of the latest seconds.
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

/// Describes a load level that begins, and the remaining time of its sweep.
fn load_line(number: u32, load: Load, left: Option<Duration>) -> String {
    let load = match load {
        Load::Closed => "closed loop".to_owned(),
        Load::Rate(rate) => format!("{} transactions/s offered", units::rate(Some(rate))),
        Load::Workers(workers) => counted(workers.into(), "worker"),
        Load::Ranks(ranks) => counted(ranks.into(), "rank"),
        Load::Phase(number) => format!("phase {}", number + 1),
    };
    let left = left.map_or_else(String::new, |left| {
        let left = units::duration(left.as_secs_f64());
        format!(" (the sweep ends in at most {left})")
    });
    format!("level {}: {load}{left}", number + 1)
}

/// Formats a latency in the largest unit in which it is at least 1.
fn latency(ns: u64) -> String {
    let ns = ns as f64;
    match ns {
        _ if ns < 1e3 => format!("{ns:.0} ns"),
        _ if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        _ if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        _ => format!("{:.1} s", ns / 1e9),
    }
}

/// Whether the progress of a stage is a number of items. Syncing and freeing space have only a
/// duration.
fn counts(stage: Stage) -> bool {
    !matches!(stage, Stage::PhaseSync | Stage::FreeSpace)
}

/// The warning about a stalled worker. It is printed even with `--quiet`, because the run may never
/// end.
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

/// Returns `true` only on the first call in this process. A session or a study has many runs, and
/// must print the warning about another user of the target only once.
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
            // No bar is drawn yet, so the message needs no `suspend`.
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
            Event::Load(number, load, left) => self.level(&load_line(number, load, left)),
            Event::WorkloadPhase(number, name) => {
                self.level(&format!("phase {}: {name}", number + 1));
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
    fn stalled_line_names_the_worker() {
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
    fn first_line_of_a_second_shows_all_operations_and_a_chart() {
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
    fn load_level_shows_the_remaining_time_of_the_sweep() {
        let left = Some(Duration::from_secs(250));
        for (load, left, line) in [
            (
                Load::Rate(1_112.4),
                left,
                "level 3: 1,112 transactions/s offered (the sweep ends in at most 250 s)",
            ),
            (
                Load::Closed,
                Some(Duration::from_secs(1_500)),
                "level 3: closed loop (the sweep ends in at most 25 min)",
            ),
            (Load::Ranks(4), None, "level 3: 4 ranks"),
        ] {
            assert_eq!(load_line(2, load, left), line);
        }
    }

    #[test]
    fn bar_templates_are_valid() {
        for template in [WITH_TOTAL, NARROW, WITHOUT_TOTAL] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
