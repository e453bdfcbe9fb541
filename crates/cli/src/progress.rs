//! How far a run is, on standard error: a bar where that is a terminal, a line now and then where it is not.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use runner::{Event, Events, Progress, Stage};

/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// See the module's text.
pub struct Display {
    bar: Option<ProgressBar>,
    quiet: bool,
    began: Instant,
    said: Instant,
}

impl Display {
    /// A display, or none where it is to be quiet.
    pub fn new(quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal())
            .then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10)));
        Self {
            bar,
            quiet,
            began: Instant::now(),
            said: Instant::now(),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn begin(&mut self, stage: Stage, progress: Progress) {
        self.began = Instant::now();
        self.said = self.began;
        if let Some(bar) = &self.bar {
            bar.set_style(style(progress.total.is_some()));
            bar.set_length(progress.total.unwrap_or(0));
            bar.set_position(0);
            bar.reset();
            bar.set_prefix(name(stage));
        }
    }

    fn line(&mut self, stage: Stage, progress: Progress, is_end: bool) {
        if self.quiet || self.bar.is_some() || (!is_end && self.said.elapsed() < LINE_EVERY) {
            return;
        }
        self.said = Instant::now();
        let seconds = self.began.elapsed().as_secs_f64();
        let rate = progress.done as f64 / seconds.max(1e-9);
        let (of, left) = match progress.total {
            Some(total) if !is_end => {
                let left = total.saturating_sub(progress.done) as f64 / rate.max(1e-9);
                (format!(" of {total}"), format!(", {left:.0} s left"))
            }
            _ => (String::new(), String::new()),
        };
        // Progress that nobody can read is not worth stopping for.
        let _ = writeln!(
            std::io::stderr(),
            "{}: {}{of} in {seconds:.1} s, {rate:.0} per second{left}",
            name(stage),
            progress.done
        );
    }
}

fn style(has_total: bool) -> ProgressStyle {
    let template = if has_total {
        "{prefix:22} [{bar:24}] {percent:>3}% {pos}/{len} {per_sec:>14} {eta:>4} left"
    } else {
        "{prefix:22} {pos} {per_sec}"
    };
    // The template is ours and is looked at by a test; the library's own bar is better than none.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::MakeDirectories => "make directories",
        Stage::Phase(phase) => match phase {
            workload::Phase::Prepare => "prepare (files)",
            workload::Phase::Transactions => "transactions",
            workload::Phase::Delete => "delete (files)",
        },
        Stage::RemoveDirectories => "remove directories",
        Stage::CleanUp => "clean up (files)",
    }
}

impl Events for Display {
    fn event(&mut self, event: Event) {
        match event {
            Event::Began(stage, progress) => self.begin(stage, progress),
            Event::Going(stage, progress) => {
                if let Some(bar) = &self.bar {
                    bar.set_position(progress.done);
                }
                self.line(stage, progress, false);
            }
            Event::Ended(stage, progress, _) | Event::Broken(stage, progress) => {
                if let Some(bar) = &self.bar {
                    bar.set_position(progress.done);
                }
                self.line(stage, progress, true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bars_templates_are_understood() {
        for template in ["{prefix:22} [{bar:24}] {percent:>3}% {pos}/{len} {per_sec:>14} {eta:>4} left", "{prefix:22} {pos} {per_sec}"] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
