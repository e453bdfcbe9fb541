use std::time::Duration;

use engines::PathBuffer;
use workload::{Action, Mix, Workload};

use super::entry::{Line, read};
use super::*;

fn request(ack_log: &Path, workers: u32) -> RunSpec {
    let workload = Workload {
        workers: Workers::Private { workers },
        ..Mix::default().into()
    };
    let location = PathBuf::from("/proc");
    RunSpec {
        ack_log: Some(ack_log.to_owned()),
        ..RunSpec::classic(workload, vec![location], Place::OwnDirectory)
    }
}

/// Logs the creations of `files` files, and acknowledges all but the last creation.
fn works(mut log: Log, files: u64) {
    let mut buffer = PathBuffer::new(0, b"/proc/".to_vec()).unwrap();
    for number in 1..=files {
        let intent = Intent {
            action: Action::Create,
            number,
            file: number,
            ..Intent::NOTHING
        };
        let name = buffer.with(|to| to.extend(number.to_string().as_bytes()));
        let operation = Operation::Create { name, content: &[] };
        let entered = log.begins(&intent, &operation).unwrap();
        let looks = Operation::Stat { name, bytes: None };
        let not_entered = log.begins(&intent, &looks).unwrap();
        log.acknowledges(not_entered);
        if number < files {
            log.acknowledges(entered);
        }
    }
}

fn lines(path: &Path) -> Vec<Line> {
    let mut lines = Vec::new();
    let whole = read(path, &fs::read(path).unwrap()[..], &mut |line| {
        lines.push(line);
        Ok(())
    });
    assert!(whole.unwrap());
    lines
}

#[test]
fn workers_share_one_ack_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ack_log");
    // `/proc` is never on the file system of the log, so the log is accepted.
    let ack_log = AckLog::open(&request(&path, 4), &["/proc".into()])
        .unwrap()
        .unwrap();
    thread::scope(|scope| {
        for worker in 0..4 {
            let log = ack_log.log(worker);
            scope.spawn(move || works(log, 50));
        }
    });
    drop(ack_log);
    let lines = lines(&path);
    assert_eq!(lines.len(), 1 + 4 * (50 + 49) + 1);
    assert_eq!(lines.last(), Some(&Line::Ended));
    let mut replay = replay::Replay::new(true);
    for line in &lines {
        match line {
            Line::Begun(entry) => {
                assert!(
                    entry
                        .path
                        .starts_with(format!("w{}/", entry.worker).as_bytes())
                );
                replay.begins(entry.clone()).unwrap();
            }
            Line::Acknowledged { worker, sequence } => {
                replay.acknowledges(*worker, *sequence).unwrap()
            }
            _ => {}
        }
    }
    assert_eq!(
        (replay.acknowledged[&Action::Create], replay.in_flight()),
        (4 * 49, 4)
    );
}

#[test]
fn operation_is_on_disk_before_it_is_issued() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ack_log");
    let ack_log = AckLog::open(&request(&path, 1), &["/proc".into()])
        .unwrap()
        .unwrap();
    let mut log = ack_log.log(0);
    let intent = Intent {
        action: Action::Delete,
        ..Intent::NOTHING
    };
    let mut buffer = PathBuffer::new(0, Vec::new()).unwrap();
    for number in 1..20 {
        let name = buffer.with(|to| to.extend(number.to_string().as_bytes()));
        let entered = log.begins(&intent, &Operation::Delete { name }).unwrap();
        let lines = lines(&path);
        // The log consists of the header, two lines for each completed operation, and the entry of
        // the operation that is about to be issued.
        assert_eq!(lines.len() as u64, 2 * number);
        assert!(matches!(&lines[lines.len() - 1], Line::Begun(entry) if entry.sequence == number));
        log.acknowledges(entered);
    }
    // Dropping the log neither waits for a worker that hangs nor logs that all workers have ended.
    drop(ack_log);
    assert!(matches!(lines(&path).last(), Some(Line::Begun(_))));
    drop(log);
    let lines = lines(&path);
    assert!(matches!(
        lines[lines.len() - 2..],
        [Line::Acknowledged { sequence: 19, .. }, Line::Ended]
    ));
}

#[test]
fn end_is_logged_after_the_last_worker_ends() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ack_log");
    let ack_log = AckLog::open(&request(&path, 2), &["/proc".into()])
        .unwrap()
        .unwrap();
    // The first worker ends before the second one begins.
    drop(ack_log.log(0));
    let log = ack_log.log(1);
    assert_eq!(lines(&path).len(), 1);
    drop(log);
    assert_eq!(lines(&path)[1..], [Line::Ended]);
    ack_log.over(7);
    assert_eq!(lines(&path)[1..], [Line::Ended, Line::Over { removed: 7 }]);
    drop(ack_log);
    assert_eq!(lines(&path).len(), 3);
}

#[test]
fn ack_log_that_exists_or_is_on_the_file_system_of_the_run_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ack_log");
    let asked = request(&path, 1);
    let beside = [directory.path().to_owned()];
    let said = check(&asked, &beside).unwrap_err().to_string();
    assert!(said.contains("use a file on another file system"), "{said}");
    assert!(!path.exists());
    fs::write(&path, "mine").unwrap();
    for said in [
        check(&asked, &["/proc".into()]).unwrap_err(),
        AckLog::open(&asked, &["/proc".into()]).unwrap_err(),
    ] {
        assert!(said.to_string().contains("the file exists"), "{said}");
    }
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    let nowhere = request(&directory.path().join("none/ack_log"), 1);
    let said = check(&nowhere, &["/proc".into()]).unwrap_err().to_string();
    assert!(said.contains("in an existing directory"), "{said}");
    let none = RunSpec {
        ack_log: None,
        ..asked
    };
    assert!(check(&none, &beside).is_ok());
    assert!(AckLog::open(&none, &beside).unwrap().is_none());
}

#[test]
fn write_error_of_the_ack_log_is_reported() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        println!("skipped: there is no /dev/full");
        return;
    }
    let shared = Arc::new(Shared {
        path: full.to_owned(),
        workers: 1,
        state: Mutex::default(),
        wanted: Condvar::new(),
        advanced: Condvar::new(),
    });
    let of_writer = Arc::clone(&shared);
    let file = fs::OpenOptions::new().write(true).open(full).unwrap();
    let mut file = Destination::of(file).unwrap();
    let writer = thread::spawn(move || of_writer.write_all(&mut file));
    let failed = shared.commit(Some(b"A 0 1")).unwrap_err();
    assert_eq!((&failed.path[..], failed.step), ("/dev/full", "write"));
    assert!(failed.message.contains("No space left"), "{failed:?}");
    assert_eq!(failed.errno, Some(28));
    writer.join().unwrap();
    // A commit does not wait for a writer that has ended.
    thread::sleep(Duration::from_millis(1));
    assert!(shared.commit(Some(b"A 0 2")).is_err());
}
