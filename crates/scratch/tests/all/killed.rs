//! After the maker was killed, everything that it made is found by its manifest and removed.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use scratch::{Made, MadeState, MakeSpec, MakeStage, MakeStop, find};
use testkit::Assert;

use crate::support::{Scene, can_make, free_in, is_root};

const SPEC: &str = "POSTMARK_MADE_SPEC";
const STAGE: &str = "POSTMARK_MADE_STAGE";

/// Helper process of the tests below, not a test. The process makes a file system. Then the process
/// stops at a stage, or saves and restores states in a loop.
#[test]
fn maker() {
    let (Ok(spec), Ok(stage)) = (std::env::var(SPEC), std::env::var(STAGE)) else {
        return;
    };
    let spec: MakeSpec = spec.parse().unwrap();
    let mut stdout = std::io::stdout();
    let mut tell = || {
        stdout.write_all(b"reached\n").unwrap();
        stdout.flush().unwrap();
    };
    let mut made = Made::make_with(
        &spec,
        "to be killed",
        MakeStop::default(),
        &mut |reached, _| {
            if format!("{reached:?}") == stage {
                tell();
                std::thread::sleep(Duration::from_secs(600));
            }
        },
    )
    .unwrap();
    tell();
    loop {
        fs::write(made.directory().join("file"), "text").unwrap();
        made.save("state").unwrap();
        made.restore("state").unwrap();
        made.remake().unwrap();
    }
}

/// Starts the helper process `maker`, waits until it reports the stage, and returns it.
pub fn started(spec: &MakeSpec, stage: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["killed::maker", "--exact", "--nocapture"])
        .env(SPEC, spec.to_string())
        .env(STAGE, stage)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    stage.assert(
        output
            .lines()
            .any(|line| line.unwrap().ends_with("reached")),
    );
    child
}

fn killed_at_each_stage(scene: &Scene, spec: &MakeSpec) {
    if !is_root() || !can_make(spec) {
        return;
    }
    let stages = [
        MakeStage::Manifest,
        MakeStage::Images,
        MakeStage::LoopDevices,
        MakeStage::Formatted,
        MakeStage::Mounted,
        MakeStage::Ready,
    ];
    for stage in stages {
        let mut maker = started(spec, &format!("{stage:?}"));
        let [active] = &find(scene.path()).unwrap()[..] else {
            panic!("{stage:?}: one is found");
        };
        assert_eq!(
            active.state,
            MadeState::Active {
                process: Some(maker.id())
            }
        );
        let of_living = find(scene.path()).unwrap().remove(0).remove();
        assert_eq!(
            of_living.left.len(),
            1,
            "what is in use is left alone: {of_living:?}"
        );
        of_living.assert(
            of_living.left[0]
                .why
                .starts_with("in use by its maker (process "),
        );
        maker.kill().unwrap();
        maker.wait().unwrap();
        let remove = || {
            let mut found = free_in(scene.path());
            assert_eq!(found.len(), 1, "{stage:?}");
            let found = found.remove(0);
            assert_eq!(found.state, MadeState::Abandoned, "{stage:?}");
            assert_eq!(found.name.as_deref(), Some("to be killed"));
            assert_eq!(found.spec.as_deref(), Some(&*spec.to_string()));
            found.remove()
        };
        let began = Instant::now();
        let mut removed = remove();
        // A process that another test has just started holds the lock on the journal's directory
        // for a moment, because it inherits the descriptor.
        while removed.left.iter().any(|left| left.why.ends_with("in use"))
            && began.elapsed() < Duration::from_secs(20)
        {
            removed = remove();
        }
        assert_eq!(removed.left, [], "{stage:?}");
        assert_eq!(scene.left(), [] as [&str; 0], "{stage:?}");
    }
}

#[test]
fn clean_removes_ext4_and_journal_of_maker_killed_at_any_stage() {
    let (scene, elsewhere) = (Scene::new(), Scene::new());
    let spec = scene.spec(&format!(
        "ext4?size=32MiB&journal=8MiB&fullness=50&journal-in={}",
        elsewhere.path().display()
    ));
    killed_at_each_stage(&scene, &spec);
    assert_eq!(elsewhere.left(), [] as [&str; 0]);
}

#[test]
fn clean_removes_overlay_of_maker_killed_at_any_stage() {
    let scene = Scene::new();
    let spec = scene.spec("overlay?size=32MiB");
    killed_at_each_stage(&scene, &spec);
}

#[test]
fn clean_removes_tmpfs_of_maker_killed_at_any_stage() {
    let scene = Scene::new();
    let spec = scene.spec("tmpfs?size=8MiB");
    killed_at_each_stage(&scene, &spec);
}

/// The cleaner of nilfs2 is a process that outlives the maker and keeps the file system busy.
#[test]
fn clean_removes_nilfs2_of_maker_killed_at_any_stage() {
    let scene = Scene::new();
    let spec = scene.spec("nilfs2?size=160MiB");
    killed_at_each_stage(&scene, &spec);
}

#[test]
fn clean_removes_files_of_maker_killed_at_any_moment() {
    let (scene, elsewhere) = (Scene::new(), Scene::new());
    let spec = scene.spec(&format!(
        "ext4?size=32MiB&journal=8MiB&journal-in={}",
        elsewhere.path().display()
    ));
    if !is_root() || !can_make(&spec) {
        return;
    }
    for moment in 0..8u64 {
        let mut maker = started(&spec, "none");
        std::thread::sleep(Duration::from_millis(moment * 23));
        maker.kill().unwrap();
        maker.wait().unwrap();
        // `clean` in the directory of either part must remove both parts.
        let directory = if moment % 2 == 0 {
            scene.path()
        } else {
            elsewhere.path()
        };
        let found = free_in(directory);
        assert_eq!(found.len(), 1);
        for found in found {
            let removed = found.remove();
            assert_eq!(removed.left, []);
        }
        assert_eq!([scene.left(), elsewhere.left()].concat(), [] as [&str; 0]);
    }
}

#[test]
fn directory_with_an_incomplete_manifest_is_removed() {
    let scene = Scene::new();
    // The process ID 4194305 is above the maximum process ID of Linux, so no process has it.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let [empty, cut] = [0, 1].map(|number| {
        scene
            .path()
            .join(format!("postmark-made-{now}-4194305-{number}"))
    });
    for directory in [&empty, &cut] {
        fs::create_dir(directory).unwrap();
    }
    fs::write(cut.join(".postmark-made.json"), "{\"format\":\"post").unwrap();
    let found = find(scene.path()).unwrap();
    assert_eq!(found.len(), 2);
    for found in found {
        assert_eq!(found.state, MadeState::Unfinished);
        assert_eq!(found.remove().left, []);
    }
}

#[test]
fn directories_with_similar_names_or_manifests_are_kept() {
    let scene = Scene::new();
    let directory = |name: &str| {
        let path = scene.path().join(name);
        fs::create_dir(&path).unwrap();
        path
    };
    let manifest =
        |path: &Path, text: &str| fs::write(path.join(".postmark-made.json"), text).unwrap();
    // A directory whose name does not have the form `postmark-made-SECOND-PROCESS-N`, and a file
    // whose name has this form.
    let other = directory("postmark-made-of-somebody");
    fs::write(scene.path().join("postmark-made-1-4194305-9"), "a file").unwrap();
    let text = |format: u32, id: &str| {
        format!(
            "{{\"format\":\"postmark-made-{format}\",\"id\":\"{id}\",\"process\":4194305,\
             \"part\":\"file-system\",\"name\":\"n\",\"spec\":\"make:ext4\",\
             \"directory\":{{\"inode\":1,\"born\":null}},\"other\":null}}\n\
             {{\"intended\":\"image\"}}\n"
        )
    };
    let copied = directory("postmark-made-1-4194305-2");
    manifest(&copied, &text(2, "1-4194305-2"));
    let older = directory("postmark-made-1-4194305-3");
    manifest(&older, &text(1, "1-4194305-3"));
    fs::write(older.join("image"), "").unwrap();
    let newer = directory("postmark-made-1-4194305-4");
    manifest(&newer, "{\"format\":\"postmark-made-3\"}\n");
    // Two directories with a user's files and without a manifest. The name of the second one
    // contains the time of its creation.
    let foreign = directory("postmark-made-1-4194305-5");
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let full = directory(&format!("postmark-made-{now}-4194305-5"));
    fs::write(full.join("image"), "of somebody").unwrap();
    fs::write(foreign.join("a file"), "of somebody").unwrap();
    let linked = directory("postmark-made-1-4194305-6");
    std::os::unix::fs::symlink("/etc/passwd", linked.join(".postmark-made.json")).unwrap();

    let open = directory("postmark-made-1-4194305-7");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let of_others = directory("postmark-made-1-4194305-8");
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&of_others, Some(65_534), None).unwrap();
    } else {
        fs::remove_dir(&of_others).unwrap();
    }

    let found = find(scene.path()).unwrap();
    assert_eq!(found.len(), 7);
    for (found, expected) in found.into_iter().zip([
        "the manifest was written for another directory: this one is a copy",
        "the manifest was written by another version",
        "the manifest is not one of this version",
        "it was not made when its name says",
        "the manifest cannot be opened",
        "other users can write to the directory",
        "it has files, and no whole manifest",
    ]) {
        let removed = found.remove();
        assert!(removed.left[0].why.starts_with(expected), "{removed:?}");
    }
    assert!(
        [copied, older.clone(), newer, linked]
            .iter()
            .all(|path| path.join(".postmark-made.json").symlink_metadata().is_ok())
    );
    assert!(other.is_dir() && foreign.join("a file").exists());
    assert!(older.join("image").exists() && full.join("image").exists());
    for entry in fs::read_dir(scene.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap()
        } else {
            fs::remove_file(path).unwrap()
        }
    }
}
