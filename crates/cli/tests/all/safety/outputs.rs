//! What a command writes for its user: never over what is there without `--force`, and never over
//! what the command reads.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use faultfs::{Options, Passthrough, RequestKind};

use crate::support::faces::{postmark, program};
use crate::support::running::in_shell;
use crate::support::{Ended, Running, Scene, is_met};

/// Little work, in a directory of its own.
const LITTLE: &str = "run --quiet --files 5 --transactions 5 --no-overhead --target target";

fn say(scene: &Scene, words: &str) -> Ended {
    let mut command = postmark(words);
    command.current_dir(scene.path());
    Running::to_its_end(command, scene.path())
}

fn read(scene: &Scene, name: &str) -> String {
    fs::read_to_string(scene.path().join(name)).unwrap()
}

/// A scene with a target, a configuration file, a histogram and the record of a run; and links to
/// them.
fn scene() -> Scene {
    let scene = Scene::new();
    scene.directory("target");
    let write = |name: &str, text: &str| fs::write(scene.path().join(name), text).unwrap();
    write(
        "c.toml",
        "files = 5\nmix = 'read=1'\nsize = 'histogram@sizes'\n",
    );
    write("sizes", "1..100 1\n");
    write("precious", "mine\n");
    say(&scene, &format!("{LITTLE} --format json --output r.json")).code(0);
    for name in ["c.toml", "sizes", "r.json"] {
        std::os::unix::fs::symlink(name, scene.path().join(format!("link-{name}"))).unwrap();
        fs::hard_link(
            scene.path().join(name),
            scene.path().join(format!("hard-{name}")),
        )
        .unwrap();
    }
    scene
}

#[test]
fn an_output_that_exists_needs_force() {
    let scene = scene();
    for words in [
        format!("{LITTLE} --output precious"),
        format!("{LITTLE} --live precious"),
        format!("{LITTLE} --dry-run --output precious"),
        "show r.json --output precious".to_owned(),
    ] {
        let ended = say(&scene, &words);
        ended.ends("2 | precious: the file exists (use another file | --force");
        ended.assert(read(&scene, "precious") == "mine\n", "it was written to");
        ended.assert(
            fs::read_dir(scene.path().join("target")).unwrap().count() == 0,
            "the target was touched",
        );
        say(&scene, &format!("{words} --force")).code(0);
        ended.assert(read(&scene, "precious") != "mine\n", "--force writes");
        fs::write(scene.path().join("precious"), "mine\n").unwrap();
    }
    // An archive has been there for this one.
    say(&scene, "import r.json --archive a.db").code(0);
    say(&scene, "export --archive a.db --output precious")
        .code(2)
        .says("--force");
    assert_eq!(read(&scene, "precious"), "mine\n");
    say(&scene, "export --archive a.db --output precious --force").code(0);
    assert!(read(&scene, "precious").contains("\"record\""));
}

#[test]
fn an_output_is_never_an_input() {
    let scene = scene();
    let config = read(&scene, "c.toml");
    let record = read(&scene, "r.json");
    let run = "run --quiet --no-overhead --target target --transactions 5";
    let absolute = scene.path().join("target/../c.toml").display().to_string();
    for words in [
        format!("{run} --config c.toml --output c.toml"),
        format!("{run} --config c.toml --output ./c.toml"),
        format!("{run} --config c.toml --output {absolute}"),
        format!("{run} --config c.toml --output link-c.toml"),
        format!("{run} --config link-c.toml --output hard-c.toml"),
        format!("{run} --config c.toml --live c.toml"),
        format!("{run} --config c.toml --dry-run --output c.toml"),
        format!("{run} --config c.toml --output sizes"),
        format!("{run} --config c.toml --live link-sizes"),
        // Also where an option holds over what the file says.
        format!("{run} --config c.toml --size 5 --output hard-sizes"),
        format!("{run} --mix read=1 --size histogram@sizes --output sizes"),
        format!("{run} --mix append=1 --append-size histogram@sizes --output sizes"),
        format!("{run} --like r.json --output r.json"),
        format!("{run} --like hard-r.json --live link-r.json"),
        "show r.json --output r.json".to_owned(),
        "show link-r.json --output hard-r.json --format json".to_owned(),
    ] {
        for force in ["", " --force"] {
            say(&scene, &format!("{words}{force}"))
                .code(2)
                .says("the run reads this file (")
                .says("use another file");
        }
        assert_eq!(
            (
                read(&scene, "c.toml"),
                read(&scene, "sizes"),
                read(&scene, "r.json")
            ),
            (config.clone(), "1..100 1\n".to_owned(), record.clone()),
            "{words}"
        );
    }
    // By way of standard input, too.
    let mut command = postmark("show - --force --output r.json");
    command.current_dir(scene.path());
    let ended = Running::to_its_end(
        in_shell("exec \"$0\" \"$@\" < r.json", &command),
        scene.path(),
    );
    ended.code(2).says("the run reads this file (RUN)");
    assert_eq!(read(&scene, "r.json"), record);
}

#[test]
fn two_outputs_are_two_files() {
    let scene = scene();
    std::os::unix::fs::symlink("precious", scene.path().join("link")).unwrap();
    for words in [
        "--live new --output new",
        "--live ./new --output new",
        "--live precious --output precious --force",
        "--live link --output precious --force",
        "--ack-log new --output new",
        "--ack-log target/../new --live new",
    ] {
        say(&scene, &format!("{LITTLE} {words}"))
            .code(2)
            .says("writes to the same file");
        assert_eq!(read(&scene, "precious"), "mine\n", "{words}");
        assert!(!scene.path().join("new").exists(), "{words}");
    }
    for name in ["c.toml", "./c.toml"] {
        say(
            &scene,
            &format!("run --target target --config c.toml --archive {name}"),
        )
        .code(2)
        .says("the same file");
        say(
            &scene,
            &format!("run --target target --config c.toml --ack-log {name}"),
        )
        .code(2)
        .says("the run reads this file");
    }
}

#[test]
fn a_dangling_link_is_called_what_it_is() {
    let scene = scene();
    std::os::unix::fs::symlink("nowhere", scene.path().join("dangling")).unwrap();
    for words in ["--output dangling", "--live dangling --force"] {
        say(&scene, &format!("{LITTLE} {words}"))
            .code(2)
            .says("dangling: the symbolic link points to nowhere, which does not exist")
            .says("remove the link");
    }
    assert!(!scene.path().join("nowhere").exists());
}

/// Devices and pipes hold nothing, and what was opened for the program was chosen by whoever opened
/// it.
#[test]
fn devices_and_descriptors_need_no_force() {
    let scene = scene();
    let path = |name: &str| scene.path().join(name);
    say(
        &scene,
        &format!("{LITTLE} --output /dev/null --live /dev/null"),
    )
    .code(0);
    say(&scene, &format!("{LITTLE} --output -"))
        .code(0)
        .says(" transactions/s ");
    say(&scene, &format!("{LITTLE} --output /dev/stdout"))
        .code(0)
        .says(" transactions/s ");
    let to_file = |script: &str, words: &str| {
        let mut command = postmark(words);
        command.current_dir(scene.path());
        Running::to_its_end(in_shell(script, &command), scene.path())
    };
    // What stands there already stays.
    for (script, words) in [
        ("exec \"$0\" \"$@\" >> precious", "--output /dev/stdout"),
        ("exec \"$0\" \"$@\" 3>> precious", "--output /dev/fd/3"),
        (
            "exec \"$0\" \"$@\" 3>> precious",
            "--live /proc/self/fd/3 --output /dev/null",
        ),
    ] {
        fs::write(path("precious"), "mine\n").unwrap();
        to_file(script, &format!("{LITTLE} {words}")).code(0);
        // A run that is shorter than a second has no lines of seconds.
        let told = if words.contains("--live") {
            ""
        } else {
            " transactions/s "
        };
        let text = read(&scene, "precious");
        assert!(
            text.starts_with("mine\n") && text.contains(told),
            "{words}: {text}"
        );
    }
    // And what is read is not written to by this way either.
    let config = read(&scene, "c.toml");
    let ended = to_file(
        "exec \"$0\" \"$@\" 3>> c.toml",
        "run --target target --config c.toml --output /dev/fd/3",
    );
    ended.code(2).says("the run reads this file (--config)");
    assert_eq!(read(&scene, "c.toml"), config);
}

/// The file of a run that is refused later is removed again, and only that one.
#[test]
fn a_refused_run_removes_no_file_of_others() {
    let scene = scene();
    say(
        &scene,
        "run --quiet --files 5 --target nowhere --output new --live lines",
    )
    .code(2);
    assert!(!Path::exists(&scene.path().join("new")) && !scene.path().join("lines").exists());
    say(
        &scene,
        "run --quiet --files 5 --target nowhere --output precious --force",
    )
    .code(2);
    assert_eq!(read(&scene, "precious"), "mine\n");
}

/// The classic prompt appends, as the original does; but not to the file that it is reading.
#[test]
fn the_prompt_does_not_write_into_what_it_reads() {
    let scene = scene();
    let text = "set number 5\nset transactions 5\nset location target\nrun .pmrc\nshow \
                ./.pmrc\nrun report\n";
    fs::write(scene.path().join(".pmrc"), text).unwrap();
    let script = "run script\nshow .pmrc\nquit\n";
    fs::write(scene.path().join("script"), script).unwrap();
    let mut command = Running::command(program());
    command.current_dir(scene.path());
    let ended = Running::to_its_end(in_shell("exec \"$0\" < script", &command), scene.path());
    ended.ends(
        "0 | '.pmrc': commands are being read from it | 'script': commands are being read from it",
    );
    assert_eq!(read(&scene, "script"), script);
    // When it has been read, it is a file like others.
    assert!(
        read(&scene, ".pmrc").starts_with(text) && read(&scene, ".pmrc").len() > text.len(),
        "{ended}"
    );
    assert!(read(&scene, "report").contains("Time:"), "{ended}");
}

/// The file system of an output hangs when the run was refused: that is told before its `close` is
/// waited for.
#[test]
fn an_output_that_hangs_keeps_no_refusal() {
    let possible = faultfs::is_possible();
    if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
        return;
    }
    let scene = scene();
    let (backing, point) = (scene.directory("backing"), scene.directory("point"));
    for option in ["--output", "--live"] {
        let mounted = Passthrough::mount(&backing, &point, Options::default()).unwrap();
        mounted.stall_at(RequestKind::Flush);
        let mut command = postmark(LITTLE);
        // Where the acknowledgement log is, is looked at when all outputs are open.
        command
            .args([
                "--mix",
                "read=1",
                "--ack-log",
                "precious",
                option,
                "point/report",
            ])
            .current_dir(scene.path());
        let running = Running::start(command, &backing);
        let began = Instant::now();
        while !running.errors().contains("precious: the file exists")
            && began.elapsed() < Duration::from_secs(30)
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        let told = running.errors();
        // What waits for it can only end with it.
        drop(mounted);
        running.finish().code(2);
        assert!(
            told.contains("precious: the file exists"),
            "{option}: {told}"
        );
        assert_eq!(fs::read_dir(&backing).unwrap().count(), 0, "{option}");
    }
}
