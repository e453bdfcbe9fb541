//! Load sweeps and steady states, with the real program on a pool in memory.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;
use testkit::{Assert, Shows};

use crate::original::{answer, directory, json, ours, say, split, strace};

fn of_words(words: &str, at: &Path) -> Value {
    json(&split(words), at)
}

#[test]
fn rate_sweep_finds_the_saturation_rate() {
    let Some(strace) = strace() else { return };
    let at = directory();
    // strace delays each rename by 20 ms, which limits the rate to 50 per second without using the
    // processor. At this low rate, few load levels suffice to find the saturation rate.
    let slow =
        "-f --seccomp-bpf -o /dev/null -e trace=renameat2 -e inject=renameat2:delay_exit=20000";
    let words = "run --quiet --mix rename=1 --files 200 --size 1KiB --sweep 30,60 --warm-up 200ms \
                 --for 10s --format json";
    let words = [split(slow), vec![ours().to_str().unwrap()], split(words)].concat();
    let words: Vec<&OsStr> = words.into_iter().map(OsStr::new).collect();
    let said = say(strace, &words, at.path(), b"", &[]);
    assert_eq!(
        said.code,
        Some(0),
        "{}",
        String::from_utf8_lossy(&said.errors)
    );
    let report: Value = serde_json::from_slice(&said.output).unwrap();
    let sweep = &report["summary"]["sweep"];
    let sweep_steps = sweep["sweep_steps"].as_array().unwrap();
    assert_eq!(sweep_steps[0]["load"]["rate"], 30.0);
    assert_eq!(sweep_steps[0]["holds"], true, "{sweep}");
    assert_eq!(
        sweep_steps[1]["holds"], false,
        "nobody does 60 a second: {sweep}"
    );
    assert!(sweep_steps[1]["waiting"].as_u64().unwrap() > 50, "{sweep}");
    let (highest, beyond) = (
        sweep["limit"]["highest"].as_f64().unwrap(),
        sweep["limit"]["lowest_beyond"].as_f64().unwrap(),
    );
    sweep.assert(30.0 <= highest && highest < beyond && beyond < 60.0);
    assert_eq!(
        report["record"]["actual"]["sweep_steps"]
            .as_array()
            .unwrap()
            .len(),
        sweep_steps.len()
    );
    assert_eq!(
        std::fs::read_dir(at.path()).unwrap().count(),
        0,
        "nothing is left"
    );
}

#[test]
fn worker_sweep_has_a_pool_for_each_load_level() {
    let at = directory();
    let text = answer(
        &split(
            "run --quiet --full --mix read=2,create=1,delete=1 --files 100 --think 2ms --sweep \
             workers=1,2 --warm-up 200ms --for 10s",
        ),
        at.path(),
    );
    text.shows_all(
        "sweep of workers with a pool for each level | each level for 10 s | workers  achieved/s",
    );
    text.does_not_show("\nSaturation ");
    text.does_not_show("is ignored");
    // With a think time of 2 ms, a worker begins at most 500 transactions/s.
    let levels = text.lines().filter_map(|line| {
        // A percentile of too few operations is `-`.
        let words = line.split_whitespace();
        let numbers = words.map(|word| {
            if word == "-" {
                "0".to_owned()
            } else {
                word.replace(',', "")
            }
        });
        let numbers: Option<Vec<f64>> = numbers.map(|word| word.parse().ok()).collect();
        numbers.filter(|numbers| numbers.len() > 2)
    });
    let levels: Vec<_> = levels.map(|numbers| (numbers[0], numbers[1])).collect();
    assert_eq!([levels[0].0, levels[1].0], [1.0, 2.0], "{text}");
    for (workers, rate) in levels.into_iter().take(2) {
        assert!(rate > 0.0 && rate <= 500.0 * workers, "{text}");
    }
    // `Elapsed` is the duration of all load levels: 10 s each, and the time for their pools.
    let elapsed = text
        .lines()
        .find_map(|line| line.strip_prefix("Elapsed: "))
        .unwrap();
    let elapsed: f64 = elapsed.split(' ').next().unwrap().parse().unwrap();
    assert!((19.5..40.0).contains(&elapsed), "{elapsed}");
    text.shows("p99, µs");
    text.does_not_show("\n  Latency ");
    assert_eq!(
        std::fs::read_dir(at.path()).unwrap().count(),
        0,
        "nothing is left"
    );
}

#[test]
fn report_shows_rounds_and_their_steadiness() {
    let at = directory();
    let words = "run --quiet --mix read=1 --files 200 --size 1KiB --rate 2000 --arrivals constant \
                 --steady snia --round 1s --for 8s --warm-up 300ms";
    let report = of_words(words, at.path());
    let found = &report["summary"]["phases"][1]["steady"];
    let rounds = found["rounds"].as_array().unwrap();
    assert!((5..=8).contains(&rounds.len()), "{found}");
    // With constant arrivals, the rate is steady unless the machine stalls.
    assert_eq!(found["is_steady"], true, "{found}");
    let measured = report["summary"]["phases"][1]["transactions"]["count"]
        .as_u64()
        .unwrap();
    assert!(
        (9_000..=11_000).contains(&measured),
        "five rounds of 2,000: {measured}"
    );
    let text = answer(&split(&format!("{words} --full")), at.path());
    text.shows_all(
        "Steady      STEADY by the rule snia after | rounds, transactions/s | until steady | \
         Requested 2,000/s (constant arrivals); achieved",
    );
}
