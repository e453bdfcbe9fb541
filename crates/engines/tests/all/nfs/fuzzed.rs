//! Randomly corrupted replies: the client's parsers must return, and must not panic.
//! (`fuzz/fuzz_targets/replies.rs` tests this for longer.)

use nfs_client::{PROCEDURES, examine_reply, examine_stream};
use proptest::prelude::*;

use super::files::{Files, NFS, Whims};
use super::server::marked;
use super::wire::{In, Out};

/// Valid replies, one for each kind of result.
fn replies() -> Vec<Vec<u8>> {
    let mut files = Files::default();
    let root = Out::default().bytes(&[&b"test"[..], &2_u64.to_be_bytes(), b"x"].concat());
    let named = |name: &[u8]| root.clone().bytes(name);
    let sattr = Out::default().u64(0).u64(0).u64(0);
    let mut call = |procedure, arguments: Out| {
        let results = files.perform(NFS, procedure, &mut In(&arguments.0), Whims::default());
        Out::default()
            .u32(7)
            .u32(1)
            .u32(0)
            .u32(0)
            .u32(0)
            .u32(0)
            .then(results)
            .0
    };
    let made = call(8, named(b"f").u32(1).then(sattr.clone()));
    let file = Out(made[32..][..20].to_vec());
    vec![
        made,
        call(1, root.clone()),
        call(3, named(b"f")),
        call(7, file.clone().u64(0).u32(4).u32(0).bytes(b"text")),
        call(6, file.clone().u64(0).u32(100)),
        call(21, file.clone().u64(0).u32(0)),
        call(9, named(b"d").then(sattr.clone())),
        call(10, named(b"l").then(sattr).bytes(b"f")),
        call(16, root.clone().u64(0).u64(0).u32(4096)),
        call(17, root.clone().u64(0).u64(0).u32(4096).u32(4096)),
        call(14, named(b"f").then(named(b"g"))),
        call(18, root.clone()),
        call(19, root),
    ]
}

/// The seeds of the fuzz target. Each seed consists of the number of a procedure that parses the
/// reply, the size of pieces, and the reply as a record. The reply arrives in pieces of that size.
fn seeds() -> Vec<Vec<u8>> {
    let seed = |reply: &Vec<u8>| {
        let reads = |procedure: &usize| examine_reply(*procedure, reply).is_ok();
        let procedure = (0..PROCEDURES).find(reads).expect("one of them reads it");
        [&[procedure as u8, 100], &marked(reply)[..]].concat()
    };
    replies().iter().map(seed).collect()
}

#[test]
fn stored_fuzz_seeds_equal_generated_seeds() {
    let directory =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/replies");
    for (number, seed) in seeds().into_iter().enumerate() {
        let path = directory.join(number.to_string());
        if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(&path, &seed).unwrap();
        }
        assert_eq!(
            std::fs::read(&path).unwrap(),
            seed,
            "{} (POSTMARK_WRITE_GOLDEN=1 writes it)",
            path.display()
        );
    }
}

#[test]
fn valid_replies_are_parsed() {
    let read =
        |reply: &Vec<u8>| (0..PROCEDURES).any(|procedure| examine_reply(procedure, reply).is_ok());
    assert!(replies().iter().all(read));
}

#[test]
fn replies_are_decoded_from_streams() {
    for reply in replies() {
        let stream = marked(&reply).repeat(3);
        for piece in [1, 5, 4096] {
            assert_eq!(examine_stream(0, &stream, piece).unwrap().0, 3);
        }
        assert!(examine_stream(0, &[0x7f; 8], 8).is_err());
    }
}

proptest! {
    #[test]
    fn corrupted_replies_cause_no_panic(
        which in 0_usize..13,
        procedure in 0..PROCEDURES,
        changes in prop::collection::vec((0_usize..400, any::<u8>()), 0..6),
        length in 0_usize..600,
    ) {
        let mut reply = replies().swap_remove(which);
        for (at, byte) in changes {
            if let Some(place) = reply.get_mut(at) {
                *place = byte;
            }
        }
        reply.truncate(length);
        // A parser never returns more content than the reply contains.
        if let Ok(found) = examine_reply(procedure, &reply) {
            prop_assert!(found <= reply.len());
        }
    }

    #[test]
    fn random_bytes_cause_no_panic(procedure in 0..PROCEDURES,
        reply in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok((records, contents)) = examine_stream(procedure, &reply, 7) {
            prop_assert!(4 * records + contents <= reply.len());
        }
        let head = [0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0];
        let _ = examine_reply(procedure, &reply);
        let _ = examine_reply(procedure, &[&head[..], &reply].concat());
    }
}
