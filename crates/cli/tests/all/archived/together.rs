//! Two processes write to an archive at the same time, while a third one reads it.

use std::sync::atomic::{AtomicBool, Ordering};

use verdict::State;

use super::{Home, LITTLE, open};

const EACH: usize = 12;

#[test]
fn two_processes_can_write_to_an_archive_at_once() {
    let home = Home::new();
    // The archive does not exist yet, so both processes try to create it.
    let targets = ["one", "other"].map(|name| home.test_dir.directory(name));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = targets
            .iter()
            .map(|target| {
                let home = &home;
                scope.spawn(move || {
                    for _ in 0..EACH {
                        let mut command = home.command("");
                        command.args(LITTLE.split(' ')).arg("--target").arg(target);
                        home.end(command).code(0);
                    }
                })
            })
            .collect();
        let home = &home;
        let is_over = &is_over;
        let reader = scope.spawn(move || {
            let mut most = 0;
            while !is_over.load(Ordering::Relaxed) {
                let listed = home.answer("list --format csv").lines().count();
                assert!(listed >= most, "{listed} after {most}");
                most = listed.max(most);
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
    // If a run waited too long for the archive, its record is in a file beside the archive. `list`
    // adds this record.
    home.answer("list");
    let entries = home.entries();
    assert_eq!(entries.len(), 2 * EACH);
    assert!(
        entries
            .iter()
            .all(|entry| entry.headline.state == State::Complete)
    );
    let archive = open(&home.archive());
    archive.check().unwrap();
    for entry in &entries {
        assert_eq!(
            archive
                .record(entry.number.unwrap())
                .unwrap()
                .actual
                .phases
                .len(),
            3
        );
    }
}
