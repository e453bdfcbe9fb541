//! Studies that are killed or interrupted, and then continued.

use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;
use testkit::{Random, number_of};

use super::{LITTLE, Lab, until_measured};

/// Random numbers for the times of the kills, from a seed that is printed.
fn moments() -> Random {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let seed = number_of("POSTMARK_SEED", now.as_nanos() as u64);
    println!("POSTMARK_SEED={seed}");
    Random(seed)
}

#[test]
fn study_continues_after_three_kills() {
    let Some(lab) = Lab::rooted() else { return };
    let mut moments = moments();
    let words = format!(
        "study {LITTLE} --blocks 2 --no-twin --axis workers=1,2 --axis files=40,60 --target {} \
         --target {} --target a",
        lab.made("tmpfs", "16MiB"),
        lab.made("ext4", "32MiB"),
    )
    .replace("--files 50 ", "");
    let mut words = words.as_str();
    for kill in 0..3 {
        let began = Instant::now();
        let mut running = lab.start(words);
        // A study can be continued only after its first run is archived.
        until_measured(&mut running, ", run ");
        let one = began.elapsed();
        // Waits for a random time, at most three times as long as the first run took.
        std::thread::sleep(
            one.min(Duration::from_secs(1))
                .mul_f64(moments.unit() * 3.0),
        );
        let ended = running.kill();
        ended.signal(Signal::KILL.as_raw());
        println!("kill {kill}: {} runs are there", lab.complete().len());
        words = "study --resume";
        // A study can be continued whether or not `clean` has removed its file systems.
        if kill == 1 {
            let cleaned = lab.cleans();
            lab.is_clean(&[], &cleaned);
        }
    }
    let ended = lab.shows("study --resume");
    ended.ends("0 | runs of this study are in the archive already");
    lab.is_complete(2, 12);
    let cleaned = lab.cleans();
    lab.is_clean(&[], &cleaned);
    // The study is complete, so `--resume` performs no further run.
    let before = lab.listed().len();
    let again = lab.shows("study --resume");
    again.code(0);
    assert_eq!(lab.listed().len(), before, "{again}");
    lab.is_clean(&[], &again);
}

#[test]
fn interrupted_study_removes_its_file_systems_and_continues() {
    let Some(lab) = Lab::rooted() else { return };
    let study = format!(
        "study {LITTLE} --blocks 3 --target {} --target {} --target b",
        lab.made("tmpfs", "16MiB"),
        lab.made("ext4", "32MiB")
    );
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let words = match signal {
            Signal::INT => study.as_str(),
            _ => "study --resume",
        };
        let mut running = lab.start(words);
        until_measured(
            &mut running,
            match signal {
                Signal::INT => "block 1 of 3, run 2",
                _ => "block 2 of 3, run 2",
            },
        );
        running.send(signal);
        let ended = running.finish();
        let id = lab.complete()[0].0.study.clone();
        let archive = lab.archive.display();
        ended.code(code).shows(&format!(
            "'postmark study --resume {id} --archive {archive}' continues this study"
        ));
        lab.is_clean(&[], &ended);
    }
    let before = lab.complete().len();
    let ended = lab.shows("study --resume");
    ended.code(0).shows(&format!(
        "{before} runs of this study are in the archive already"
    ));
    lab.is_complete(3, 4);
    lab.is_clean(&[], &ended);
}

#[test]
fn study_interrupted_in_its_first_run_continues() {
    let lab = Lab::new();
    let mut running =
        lab.start("study --quiet-time 0s --blocks 1 --files 50 --for 3s --target a --target b");
    running.until("its first run", |_| !lab.listed().is_empty());
    running.send(Signal::INT);
    let ended = running.finish();
    ended.code(130).shows("continues this study");
    assert!(lab.complete().is_empty());
    lab.is_clean(&[], &ended);
    let mut running = lab.start("study --resume");
    running.until("its run", |_| lab.listed().len() == 2);
    running.send(Signal::INT);
    running.finish().code(130).shows("continues this study");
}
