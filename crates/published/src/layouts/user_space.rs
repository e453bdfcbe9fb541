//! What a column of NFS in user space says beside a printed one: how many messages each transaction
//! takes where no client caches anything, what more files do to that, and how long it takes. Every
//! number is computed; the reasons are of the client.

use document::units::grouped;

use super::results::{LayoutResults, StudiedWork};
use crate::compare_run::amount;
use crate::source::Figure;

/// Messages that differ by no more than this share are the same.
const SAME: f64 = 0.01;
/// Calls for a file that is made before the transactions and deleted after them: CREATE, WRITE,
/// REMOVE. Files of the published works fit into one WRITE, and nothing commits them.
const CALLS_OF_A_FILE: f64 = 3.0;

/// What holds of the column, as sentences; empty where the study has none.
pub fn sentences(results: &LayoutResults) -> Vec<String> {
    let columns = results
        .own()
        .filter(|system| results.systems[*system].is_user_space);
    columns
        .flat_map(|system| of_system(results, system))
        .collect()
}

fn of_system(results: &LayoutResults, system: usize) -> Vec<String> {
    let name = &results.systems[system].name;
    let counterpart = results.published().find(|theirs| {
        results.systems[system].counterpart.as_ref() == Some(&results.systems[*theirs].name)
    });
    let mut sentences = Vec::new();
    let mut messages = Vec::new();
    for (number, work) in results.works.iter().enumerate() {
        let Some(here) = results.median(number, system, Figure::Messages) else {
            continue;
        };
        let printed = |figure| Some(results.printed(number, counterpart?, figure)?.0);
        let printed_messages = printed(Figure::Messages).filter(|_| work.is_as_published());
        let mut words = vec![format!(
            "{} messages of the whole run here",
            grouped(here.round() as u64)
        )];
        words.extend(of_each(work, here));
        if let Some(there) = printed_messages {
            words.push(format!(
                "{} printed, {} times as many here",
                grouped(there.round() as u64),
                amount(here / there)
            ));
        }
        let seconds = results.median(number, system, Figure::Elapsed);
        words.extend(seconds.map(|seconds| format!("{} s", amount(seconds))));
        let printed_seconds = printed(Figure::Elapsed).filter(|_| work.is_as_published());
        words.extend(printed_seconds.map(|seconds| format!("printed {} s", amount(seconds))));
        sentences.push(format!("{name} at {}: {}.", work.name, words.join("; ")));
        messages.push((work, here, printed_messages));
    }
    sentences.extend(growth(name, &messages));
    if !sentences.is_empty() {
        sentences.push(format!(
            "Why: {name} keeps no names, attributes or data on the client. Each operation sends \
             all of its calls and waits for each reply, so its time is that of the server's \
             answers, from its memory or its disk, and of the way there and back. A kernel's \
             client, as the printed one, answers from its cache and sends writes later."
        ));
    }
    sentences
}

/// For each transaction of a work whose number of them is known.
fn of_each(work: &StudiedWork, messages: f64) -> Option<String> {
    let transactions = work.shape?.transactions;
    (transactions > 0)
        .then(|| format!("{:.2} for each transaction", messages / transactions as f64))
}

/// How many more files explain that there are more messages; nothing where they do not.
fn of_files(
    first: &(&StudiedWork, f64, Option<f64>),
    last: &(&StudiedWork, f64, Option<f64>),
) -> Option<u64> {
    let files = |work: &StudiedWork| work.shape.map(|shape| shape.files);
    let more = files(last.0)?.checked_sub(files(first.0)?)?;
    let expected = first.1 + CALLS_OF_A_FILE * more as f64;
    ((last.1 / expected - 1.0).abs() <= SAME).then_some(more)
}

/// What more files do to the messages, here and in print.
fn growth(name: &str, messages: &[(&StudiedWork, f64, Option<f64>)]) -> Option<String> {
    let ([first, .., last], true) = (messages, messages.len() > 1) else {
        return None;
    };
    let transactions = |work: &StudiedWork| work.shape.map(|shape| shape.transactions);
    if transactions(first.0) != transactions(last.0) {
        return None;
    }
    let here = last.1 / first.1;
    let printed = first.2.zip(last.2).map(|(first, last)| {
        let times = amount(last / first);
        format!(", {times} times in print")
    });
    let same = match of_files(first, last) {
        Some(files) => format!(
            " The difference is the larger pool itself: CREATE, WRITE and REMOVE for each of {} \
             more files. To the transactions the size of the pool makes no difference, as nothing \
             is cached.",
            grouped(files)
        ),
        None => String::new(),
    };
    Some(format!(
        "{name}, messages at {} over those at {}: {} times here{}.{same}",
        last.0.name,
        first.0.name,
        amount(here),
        printed.unwrap_or_default()
    ))
}
