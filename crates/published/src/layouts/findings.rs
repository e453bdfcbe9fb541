//! Sentences about the differences between systems in a paper, and whether a study confirms or
//! contradicts these differences. Results that a table already contains are omitted. All sentences
//! are computed from the numbers of the paper and of the study.

use super::ratios::{self, compared};
use super::results::{LayoutResults, StudiedWork};
use crate::cells::distinct;
use crate::compare_run::WHOLE_SYSTEMS;
use crate::compare_tables::amount;
use crate::source::Figure;

/// Returns sentences about confirmed and contradicted differences, or one sentence that explains
/// that the paper contains no results for the study's works.
pub fn sentences(results: &LayoutResults) -> Vec<String> {
    if results.published().next().is_none() {
        return vec![none(results)];
    }
    let mut items = scaled(results);
    items.extend(ratios::summary(results));
    items.extend(compared_with(results));
    items.extend(times_as_fast(results));
    items.extend(without_cache(results));
    items.extend(without_counterpart(results));
    items
}

fn none(results: &LayoutResults) -> String {
    let works: Vec<String> = results.works.iter().map(StudiedWork::label).collect();
    format!(
        "The source '{}' has no results of {} ('postmark published show {}' lists its \
         configurations).",
        results.source,
        works.join(", "),
        results.source
    )
}

/// Returns sentences about workloads that are smaller than the published ones or differ in another
/// way.
fn scaled(results: &LayoutResults) -> Vec<String> {
    let mut items = Vec::new();
    for work in results.works.iter().filter(|work| !work.is_as_published()) {
        let (Some(published), Some(shape)) = (work.published, work.shape) else {
            continue;
        };
        let mut unlike = Vec::new();
        if shape != published {
            unlike.push(format!(
                "{} in place of {}",
                shape.label(),
                published.label()
            ));
        }
        unlike.extend(work.differences.iter().cloned());
        let name = match work.name == shape.label() {
            true => String::new(),
            false => format!("{}: ", work.name),
        };
        items.push(format!(
            "Not the published work: {name}{}. Ratios between systems are compared below; the \
             numbers themselves are not.",
            unlike.join("; ")
        ));
    }
    items
}

/// Names the systems of the study, and for each the system of the paper with which it is compared.
fn compared_with(results: &LayoutResults) -> Option<String> {
    let pair = |ours: usize| {
        let ours = &results.systems[ours];
        let counterpart = ours.counterpart.as_ref()?;
        let is_it = |theirs: usize| results.systems[theirs].name == *counterpart;
        let is_printed = results.published().any(is_it);
        is_printed.then(|| format!("{} with {counterpart}", ours.name))
    };
    let pairs: Vec<String> = results.own().filter_map(pair).collect();
    (!pairs.is_empty()).then(|| format!("Compared: {}.", pairs.join(", ")))
}

/// Returns a sentence on how much faster today's systems are than published ones. The sentence
/// includes only workloads that equal a published one.
fn times_as_fast(results: &LayoutResults) -> Option<String> {
    let mut pairs: Vec<(String, f64, f64)> = Vec::new();
    let speeds = compared(results)
        .into_iter()
        .filter(|figure| *figure != Figure::Messages);
    for figure in speeds {
        for (name, times) in then_and_now(results, figure) {
            match pairs.iter_mut().find(|(known, ..)| *known == name) {
                Some((_, least, most)) => (*least, *most) = (least.min(times), most.max(times)),
                None => pairs.push((name, times, times)),
            }
        }
    }
    if pairs.is_empty() {
        return None;
    }
    let pair = |(name, least, most): &(String, f64, f64)| match [*least, *most].map(amount) {
        [least, most] if least == most => format!("{least} times as fast: {name}"),
        [least, most] => format!("{least} to {most} times as fast: {name}"),
    };
    let pairs: Vec<String> = pairs.iter().map(pair).collect();
    Some(format!(
        "Today's systems and the printed ones: {}. {WHOLE_SYSTEMS}",
        pairs.join("; ")
    ))
}

/// Returns the speedup of each system over the corresponding published system, for each workload
/// that equals a published one.
fn then_and_now(results: &LayoutResults, figure: Figure) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for work in 0..results.works.len() {
        if !results.works[work].is_as_published() {
            continue;
        }
        for variant in results.variants() {
            for (ours, theirs) in results.counterparts(work, figure, variant.as_deref()) {
                let printed = results.printed(work, theirs, figure);
                let Some((now, (then, _))) = results.median(work, ours, figure).zip(printed) else {
                    continue;
                };
                let systems = [ours, theirs].map(|system| &results.systems[system].name);
                let name = format!("{} as {}", systems[0], systems[1]);
                let times = match figure {
                    Figure::Elapsed => then / now,
                    _ => now / then,
                };
                found.push((name, times));
            }
        }
    }
    found
}

/// Explains why an engine in user space sends more messages than the kernel's client in the paper:
/// the engine has no cache.
fn without_cache(results: &LayoutResults) -> Vec<String> {
    let is_measured = |system: usize| {
        let mut works = 0..results.works.len();
        works.any(|work| results.median(work, system, Figure::Messages).is_some())
    };
    let user_space = results
        .own()
        .filter(|system| results.systems[*system].is_user_space && is_measured(*system));
    let why = |system: usize| {
        format!(
            "Why: {} keeps no names, attributes or data on the client. Each operation sends \
             all of its calls and waits for each reply, so its time is that of the server's \
             answers, from its memory or its disk, and of the way there and back. A kernel's \
             client, as the printed one, answers from its cache and sends writes later.",
            results.systems[system].name
        )
    };
    user_space.map(why).collect()
}

fn without_counterpart(results: &LayoutResults) -> Option<String> {
    let has = |name: &str| {
        let mut own = results.own();
        own.any(|ours| results.systems[ours].counterpart.as_deref() == Some(name))
    };
    let published = results.published();
    let mut names = distinct(published.map(|system| results.systems[system].name.as_str()));
    names.retain(|name| !has(name));
    (!names.is_empty()).then(|| {
        format!(
            "Not judged: the study has no counterpart of {} (name one in the study file: \
             counterparts = {{ TARGET = \"{}\" }}).",
            names.join(", "),
            names[0]
        )
    })
}
