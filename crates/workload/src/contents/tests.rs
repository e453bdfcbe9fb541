use std::collections::HashSet;

use proptest::prelude::*;

use super::mismatch::MismatchKind;
use super::*;

const KINDS: [&str; 7] = [
    "text",
    "incompressible",
    "compressible:1",
    "compressible:1.5",
    "compressible:3",
    "compressible:50",
    "compressible:100",
];

fn contents(kind: &str, dedup: f64) -> Contents {
    let spec = ContentSpec {
        kind: kind.parse().unwrap(),
        dedup,
    };
    spec.validate().unwrap();
    Contents::new(&spec, 42, 3)
}

fn filled(contents: &Contents, file: u64, version: u32, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    contents.fill(file, version, offset, &mut bytes);
    bytes
}

fn kind_of(
    contents: &Contents,
    file: u64,
    version: u32,
    offset: u64,
    found: &[u8],
) -> MismatchKind {
    contents
        .check(file, version, offset, found)
        .unwrap_err()
        .kind
}

proptest! {
    #[test]
    fn contents_are_the_same_for_any_split_into_writes(
        file: u64, version: u32, offset in 0_u64..1 << 41, kind in 0_usize..7, dedup in 0_usize..2,
        cuts in prop::collection::vec(0_usize..9_000, 0..6),
    ) {
        let contents = contents(KINDS[kind], if kind == 0 { 1.0 } else { [1.0, 3.0][dedup] });
        let length: usize = cuts.iter().sum();
        let whole = filled(&contents, file, version, offset, length);
        let mut at = 0;
        for cut in cuts {
            let part = filled(&contents, file, version, offset + at as u64, cut);
            prop_assert_eq!(&part, &whole[at..at + cut]);
            prop_assert_eq!(contents.check(file, version, offset + at as u64, &part), Ok(()));
            at += cut;
        }
        prop_assert_eq!(contents.check(file, version, offset, &whole), Ok(()));
    }

    #[test]
    fn every_flipped_byte_is_detected(
        file: u64, version in 0_u32..1 << 23, offset in 0_u64..20_000, length in 1_usize..13_000,
            at: prop::sample::Index,
        flip in 1_u8.., kind in 0_usize..7, dedup in 0_usize..2,
    ) {
        let contents = contents(KINDS[kind], if kind == 0 { 1.0 } else { [1.0, 3.0][dedup] });
        let mut bytes = filled(&contents, file, version, offset, length);
        let at = at.index(length);
        let expected = bytes[at];
        bytes[at] ^= flip;
        let mismatch = contents.check(file, version, offset, &bytes).unwrap_err();
        prop_assert_eq!((mismatch.offset, mismatch.expected, mismatch.found), (offset + at as u64,
            expected, expected ^ flip));
        // A flipped byte that becomes 0 may be reported as zeros, for example if it is the only
        // checked byte.
        if expected != flip {
            prop_assert_eq!(mismatch.kind, MismatchKind::Wrong);
        }
    }

    #[test]
    fn old_contents_are_recognised(
        file: u64, version in 1_u32..1 << 23, back in 1_u32..65, offset in 0_u64..9_000,
            length in 8_usize..20_000,
    ) {
        let contents = contents("incompressible", 1.0);
        let old = version.saturating_sub(back);
        let found = filled(&contents, file, old, offset, length);
        prop_assert_eq!(kind_of(&contents, file, version, offset, &found), MismatchKind::Old {
            version: old });
    }

    #[test]
    fn torn_contents_are_recognised(
        file: u64, version in 1_u32..1 << 23, back in 1_u32..65, offset in 0_u64..9_000,
            length in 16_usize..20_000,
        at: prop::sample::Index, new_first: bool,
    ) {
        let contents = contents("incompressible", 1.0);
        let old = version.saturating_sub(back);
        let (first, second) = if new_first { (version, old) } else { (old, version) };
        let mut found = filled(&contents, file, first, offset, length);
        let at = 8 + at.index(length - 15);
        contents.fill(file, second, offset + at as u64, &mut found[at..]);
        let kind = kind_of(&contents, file, version, offset, &found);
        // If the block contains too few old bytes to identify their version, the kind is not
        // checked.
        let old_begins = if new_first { at } else { 0 };
        let block_left = BLOCK_BYTES - (offset as usize + old_begins) % BLOCK_BYTES;
        if block_left >= 8 {
            prop_assert_eq!(kind, MismatchKind::Torn { version: old });
        }
    }
}

#[test]
fn every_byte_of_a_small_file_is_checked() {
    for kind in KINDS {
        let contents = contents(kind, 1.0);
        let bytes = filled(&contents, 5, 2, 0, 5_000);
        for at in 0..bytes.len() {
            let mut found = bytes.clone();
            found[at] ^= 0x80;
            let mismatch = contents.check(5, 2, 0, &found).unwrap_err();
            assert_eq!(
                (mismatch.offset, mismatch.kind),
                (at as u64, MismatchKind::Wrong),
                "{kind}"
            );
        }
    }
}

#[test]
fn incorrect_contents_are_identified() {
    for kind in ["incompressible", "compressible:4", "compressible:100"] {
        let contents = contents(kind, 1.0);
        let new = filled(&contents, 7, 900, 0, 20_000);
        let other = filled(&contents, 1 << 47, 3, 0, 20_000);
        assert_eq!(
            kind_of(&contents, 7, 900, 0, &other),
            MismatchKind::OtherFile { file: 1 << 47 }
        );
        let mut found = new.clone();
        found[8_192..12_288].copy_from_slice(&other[8_192..12_288]);
        let mismatch = contents.check(7, 900, 0, &found).unwrap_err();
        assert_eq!(
            (mismatch.offset, mismatch.kind),
            (8_192, MismatchKind::OtherFile { file: 1 << 47 })
        );
        // The block belongs to another file, and to another position in that file.
        found[8_192..12_288].copy_from_slice(&other[..4_096]);
        assert_eq!(
            kind_of(&contents, 7, 900, 0, &found),
            MismatchKind::OtherFile { file: 1 << 47 }
        );
        // The block belongs to this file, but to another position.
        found[8_192..12_288].copy_from_slice(&new[..4_096]);
        assert_eq!(kind_of(&contents, 7, 900, 0, &found), MismatchKind::Wrong);
        // The check compares contents only with the 64 versions before version 900. Version 3 is
        // older, and version 2,000 is newer. Both versions are identified by their stamps.
        for version in [3, 2_000] {
            let old = filled(&contents, 7, version, 0, 20_000);
            assert_eq!(
                kind_of(&contents, 7, 900, 0, &old),
                MismatchKind::Old { version }
            );
            let mut found = new.clone();
            found[4_096..8_192].copy_from_slice(&old[4_096..8_192]);
            assert_eq!(
                kind_of(&contents, 7, 900, 0, &found),
                MismatchKind::Torn { version }
            );
        }
        let mut found = new.clone();
        found[4_096..8_192].fill(0);
        assert_eq!(kind_of(&contents, 7, 900, 0, &found), MismatchKind::Zeros);
        let mut found = new;
        found[4_500..8_192].fill(0);
        let mismatch = contents.check(7, 900, 0, &found).unwrap_err();
        assert_eq!(mismatch.kind, MismatchKind::Zeros);
        assert!((4_500..4_510).contains(&mismatch.offset), "{mismatch}");
        assert_eq!(
            kind_of(&contents, 7, 900, 0, &[0; 20_000]),
            MismatchKind::Zeros
        );
    }
}

#[test]
fn incompressible_and_compressible_blocks_are_unique() {
    for kind in ["incompressible", "compressible:2", "compressible:100"] {
        let spec = ContentSpec {
            kind: kind.parse().unwrap(),
            dedup: 1.0,
        };
        let of_first = Contents::new(&spec, 42, 0);
        let mut seen = HashSet::new();
        let mut blocks = 0;
        for worker in 0..2 {
            let contents = of_first.for_worker(worker);
            for file in 0..40 {
                for version in 0..5 {
                    for block in
                        filled(&contents, file, version, 0, 100 * BLOCK_BYTES).chunks(BLOCK_BYTES)
                    {
                        seen.insert(xxhash_rust::xxh3::xxh3_128(block));
                        blocks += 1;
                    }
                }
            }
        }
        assert_eq!(seen.len(), blocks);
    }
}

#[test]
fn blocks_repeat_at_the_deduplication_ratio() {
    for dedup in [1.5, 2.0, 4.0] {
        let contents = contents("incompressible", dedup);
        let mut seen = HashSet::new();
        for file in 0..2_000 {
            for block in filled(&contents, file, 1, 0, 20 * BLOCK_BYTES).chunks(BLOCK_BYTES) {
                seen.insert(xxhash_rust::xxh3::xxh3_128(block));
            }
        }
        let ratio = 40_000.0 / seen.len() as f64;
        assert!((ratio / dedup - 1.0).abs() < 0.05, "{ratio} for {dedup}");
    }
}

#[test]
fn compressible_blocks_end_with_equal_bytes() {
    for ratio in [1.0, 2.0, 3.0, 10.0] {
        let contents = contents(&format!("compressible:{ratio}"), 1.0);
        let bytes = filled(&contents, 1, 1, 0, 100 * BLOCK_BYTES);
        // The spaces at the end of each block compress to almost nothing, and the random bytes
        // cannot be compressed.
        let in_runs = bytes
            .windows(2)
            .filter(|pair| pair[0] == FILLER && pair[1] == FILLER)
            .count();
        let measured = bytes.len() as f64 / (bytes.len() - in_runs) as f64;
        assert!(
            (measured / ratio - 1.0).abs() < 0.01,
            "{measured} for {ratio}"
        );
    }
}

#[test]
fn incompressible_contents_do_not_repeat_within_256_kib() {
    let bytes = filled(&contents("incompressible", 1.0), 9, 9, 0, 1 << 18);
    let words: HashSet<&[u8]> = bytes.chunks_exact(8).collect();
    assert_eq!(words.len(), 1 << 15);
}

#[test]
fn text_is_printable_and_equal_in_all_files() {
    let contents = contents("text", 1.0);
    let text = filled(&contents, 1, 1, 0, 600_000);
    assert!(text.iter().all(|byte| (32..=126).contains(byte)));
    assert!((32..=126).all(|byte| text.contains(&byte)));
    assert_eq!(filled(&contents.for_worker(9), 5, 7, 0, 600_000), text);
    assert_eq!(
        kind_of(&contents, 1, 1, 0, &[0; 5_000]),
        MismatchKind::Zeros
    );
    for (kind, apart) in [
        ("text", false),
        ("incompressible", true),
        ("compressible:2", true),
    ] {
        let spec = ContentSpec {
            kind: kind.parse().unwrap(),
            dedup: 1.0,
        };
        assert_eq!(tells_versions_apart(&spec), apart);
    }
}

#[test]
fn contents_never_change() {
    let hash = |kind: &str, dedup| {
        xxhash_rust::xxh3::xxh3_64(&filled(&contents(kind, dedup), 17, 5, 1_000, 100_000))
    };
    assert_eq!(hash("text", 1.0), 9_463_520_327_479_491_703);
    assert_eq!(hash("incompressible", 1.0), 1_498_838_628_800_049_614);
    assert_eq!(hash("compressible:3", 2.0), 1_067_038_524_773_871_000);
}

#[test]
fn content_kinds_parse_and_print() {
    for text in KINDS {
        assert_eq!(text.parse::<ContentKind>().unwrap().to_string(), text);
    }
    for (text, part) in [
        ("", "expected text"),
        ("random", "expected text"),
        ("compressible", "compressible:3"),
        ("compressible:x", "expected 1 to 100"),
        ("compressible:0.5", "expected 1 to 100"),
        ("compressible:101", "expected 1 to 100"),
        ("compressible:NaN", "expected 1 to 100"),
    ] {
        let message = text.parse::<ContentKind>().unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
    let spec = |kind, dedup| ContentSpec { kind, dedup }.validate();
    assert!(
        spec(ContentKind::Text, 2.0).is_err()
            && spec(ContentKind::Text, 0.5).is_err()
            && spec(ContentKind::Incompressible, f64::NAN).is_err()
    );
    assert_eq!(spec(ContentKind::Incompressible, 2.0), Ok(()));
}

#[test]
fn first_bytes_identify_the_owning_worker() {
    for (kind, dedup) in [
        (ContentKind::Text, 1.0),
        (ContentKind::Incompressible, 1.0),
        (ContentKind::Incompressible, 4.0),
        (ContentKind::Compressible { ratio: 100.0 }, 3.0),
    ] {
        let spec = ContentSpec { kind, dedup };
        let contents = Contents::new(&spec, 7, 3);
        let others = Contents::new(&spec, 8, 3);
        for (file, version) in [(1, 0), (5_000, 3), (9, 60)] {
            for length in [1, 23, 24, 64] {
                let mut found = vec![0; length];
                contents.fill(file, version, 0, &mut found);
                let is = contents.beginning(&found);
                let too_short = kind != ContentKind::Text && length < STAMP_BYTES;
                assert!(
                    is == Beginning::Ours || too_short && is == Beginning::TooShort,
                    "{kind} {length}: {is:?}"
                );
                if length == 64 {
                    assert_eq!(
                        others.beginning(&found),
                        Beginning::Others,
                        "{kind} {dedup}"
                    );
                }
            }
        }
        assert_eq!(
            contents.beginning(&[b'm'; 64]),
            Beginning::Others,
            "{kind} {dedup}"
        );
    }
}
