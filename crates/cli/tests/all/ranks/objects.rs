//! Ranks on object storage: both ranks use a prefix of one bucket.

use std::ffi::OsStr;

use record::Outcome;
use rustix::process::Signal;

use super::Job;
use super::hosts::record;
use crate::s3::store::Store;
use crate::support::Running;

const MIX: &str = "--mix create=3,read=4,replace=1,delete=3,stat=2,rename=1,list=1 --files 40";

#[test]
fn ranks_verify_each_others_objects() {
    let Some(job) = Job::new() else {
        return;
    };
    for store in Store::all() {
        for more in ["", "--neighbour 1", "--writers 1 --readers 1"] {
            let mut command = job.launch(2);
            let options = format!("{MIX} --transactions 200 --depth 4 --verify {more}");
            job.asked(&mut command, OsStr::new(&store.url()), &options);
            store.set_environment(&mut command);
            let ended = Running::run_to_end(command, job.test_dir.path());
            let record = record(&ended.code(0).output);
            let actual = &record.actual;
            ended.assert(actual.outcome == Outcome::Complete, "it did not complete");
            ended.assert(actual.errors.is_empty(), "there are errors");
            assert!(actual.clean_up.is_none(), "{ended}");
        }
        assert_eq!(store.keys(), [""; 0], "{}", store.name());
    }
}

#[test]
fn objects_of_killed_ranks_are_cleaned() {
    let Some(job) = Job::new() else {
        return;
    };
    let Some(store) = Store::versitygw() else {
        return;
    };
    let mut command = job.launch(2);
    let options = format!("{MIX} --for 60s --depth 4");
    job.asked(&mut command, OsStr::new(&store.url()), &options);
    store.set_environment(&mut command);
    let mut running = Running::start(command, job.test_dir.path());
    running.until("that both ranks make objects", |_| store.keys().len() > 60);
    for rank in 0..2 {
        job.send(rank, Signal::KILL);
    }
    job.ends_early(running, 2);
    crate::support::wait_until_unchanged(|| store.keys());
    assert!(store.keys().len() > 1);
    store.postmark(&["clean", &store.url()]).code(0);
    assert_eq!(store.keys(), [""; 0]);
}
