//! Tests the parsers on files copied from real kernels: unchanged, in pairs of an earlier and a
//! later file, and with random changes. The fuzz target `messages` starts from the same files.

use std::path::Path;

use proptest::prelude::*;

use crate::counted::count;

fn captures() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let entries = std::fs::read_dir(directory).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let captures: Vec<Vec<u8>> = paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect();
    assert!(captures.len() > 10);
    captures
}

#[test]
fn readings_of_real_files_and_their_differences_are_consistent() {
    let captures = captures();
    for earlier in &captures {
        count(earlier);
        for later in &captures {
            count(&[earlier, &b"\0"[..], later].concat());
        }
    }
}

/// A change to one line of a text.
#[derive(Clone, Debug)]
enum Change {
    Byte(u8),
    Twice,
    Missing,
    Number(u128),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<u8>().prop_map(Change::Byte),
        Just(Change::Twice),
        Just(Change::Missing),
        any::<u128>().prop_map(Change::Number),
        any::<u8>().prop_map(|number| Change::Number(number.into())),
    ]
}

fn changed(text: &[u8], changes: &[(prop::sample::Index, Change)]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    for (place, change) in changes {
        let at = place.index(lines.len());
        match change {
            Change::Byte(byte) => {
                let within = place.index(lines[at].len());
                lines[at][within] = *byte;
            }
            Change::Twice => lines.insert(at, lines[at].clone()),
            Change::Missing if lines.len() > 1 => drop(lines.remove(at)),
            Change::Missing => {}
            Change::Number(number) => {
                let line = String::from_utf8_lossy(&lines[at]).into_owned();
                let mut words: Vec<&str> = line.split(' ').collect();
                let number = number.to_string();
                let within = place.index(words.len());
                words[within] = &number;
                lines[at] = (words.join(" ") + "\n").into_bytes();
            }
        }
    }
    lines.concat()
}

proptest! {
    #[test]
    fn readings_of_changed_files_are_consistent(
        index in any::<prop::sample::Index>(),
        earlier in prop::collection::vec((any::<prop::sample::Index>(), change()), 0..4),
        later in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..8),
    ) {
        let captures = captures();
        let text = &captures[index.index(captures.len())];
        count(&[&changed(text, &earlier), &b"\0"[..], &changed(text, &later)].concat());
    }

    #[test]
    fn random_bytes_give_consistent_readings(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        count(&bytes);
    }
}
