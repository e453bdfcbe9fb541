//! Where the archive lies: on the target's device, and under sudo.

use std::os::unix::fs::MetadataExt;

use super::{Home, LITTLE, text};
use crate::support::{FileSystem, TestDir, Volume, is_root};

/// An archive on the target's own file system is told of in the report.
#[test]
fn a_shared_device_is_told() {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let point = test_dir.directory("mounted");
    let home = Home {
        target: test_dir.path().join("mounted/target"),
        test_dir,
    };
    // Gone before the scene, which cannot be removed with it.
    let _volume = Volume::new(FileSystem::Ext4, &home.test_dir, &point);
    std::fs::create_dir(&home.target).unwrap();
    let shared = home.test_dir.path().join("mounted/archive.db");
    home.shows(&format!("{LITTLE} --archive {}", text(&shared)))
        .code(0)
        .shows("is on the target's device");
    // Nothing is touched there.
    let null = LITTLE.replace("posix", "null");
    home.shows(&format!("{null} --archive {}", text(&shared)))
        .code(0)
        .does_not_show("is on the target's");
    home.shows(&format!("{LITTLE} --archive none"))
        .code(0)
        .does_not_show("is on the target's");
}

/// What root's program makes in the data folder of who has called it is theirs.
#[test]
fn under_sudo_it_is_the_invoking_users() {
    if !is_root() {
        return;
    }
    let home = Home::new();
    let (user, group) = (12_345, 54_321);
    let data = home.test_dir.directory("data");
    std::os::unix::fs::chown(&data, Some(user), Some(group)).unwrap();
    let mut command = home.command(LITTLE);
    command
        .env("SUDO_UID", user.to_string())
        .env("SUDO_GID", group.to_string());
    home.end(command).code(0);
    for path in [home.archive(), home.archive().parent().unwrap().to_owned()] {
        let facts = std::fs::metadata(&path).unwrap();
        assert_eq!(
            (facts.uid(), facts.gid()),
            (user, group),
            "{}",
            path.display()
        );
    }
    // A user whom nobody knows has no home, and a data folder of another's is not theirs.
    for data in [None, Some(&data)] {
        let mut command = home.command(LITTLE);
        command
            .env_remove("XDG_DATA_HOME")
            .envs(data.map(|data| ("XDG_DATA_HOME", data)))
            .env("SUDO_UID", "4294967001")
            .env("SUDO_GID", "1");
        // The run goes on, as nobody has asked for an archive.
        home.end(command)
            .code(0)
            .shows("warning: cannot find the archive")
            .shows("--archive FILE")
            .shows("--output FILE keeps");
    }
}
