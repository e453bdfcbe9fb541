//! Locations of the archive: on the device of the target, and under sudo in the data directory of
//! the invoking user.

use std::os::unix::fs::MetadataExt;

use super::{Home, LITTLE, text};
use crate::support::{FileSystem, TestDir, Volume, is_root};

#[test]
fn archive_on_the_target_device_is_reported() {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    let test_dir = TestDir::new();
    let point = test_dir.directory("mounted");
    let home = Home {
        target: test_dir.path().join("mounted/target"),
        test_dir,
    };
    // `_volume` must be dropped before the test directory, which cannot be removed while the file
    // system is mounted.
    let _volume = Volume::new(FileSystem::Ext4, &home.test_dir, &point);
    std::fs::create_dir(&home.target).unwrap();
    let shared = home.test_dir.path().join("mounted/archive.db");
    // Only the first report with this archive contains the note. Later reports contain it only with
    // `--full`.
    let to_shared = format!(
        "{} --archive {}",
        LITTLE.replace("--quiet ", ""),
        text(&shared)
    );
    let note = "is on the target's device";
    home.shows(&to_shared).code(0).shows(note);
    home.shows(&to_shared).code(0).does_not_show(note);
    home.shows(&format!("{to_shared} --full"))
        .code(0)
        .shows(note);
    // The engine `null` does not use the target, so the report does not mention the device.
    let null = LITTLE.replace("posix", "null");
    home.shows(&format!("{null} --archive {}", text(&shared)))
        .code(0)
        .does_not_show("is on the target's");
    home.shows(&format!("{LITTLE} --archive none"))
        .code(0)
        .does_not_show("is on the target's");
}

/// Under sudo, root creates the archive in the data directory of the user who called sudo. Its
/// files belong to that user.
#[test]
fn under_sudo_the_archive_belongs_to_the_invoking_user() {
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
    // No user has the ID in SUDO_UID, so the archive has no default path. The data directory of
    // another user is not used.
    for data in [None, Some(&data)] {
        let mut command = home.command(LITTLE);
        command
            .env_remove("XDG_DATA_HOME")
            .envs(data.map(|data| ("XDG_DATA_HOME", data)))
            .env("SUDO_UID", "4294967001")
            .env("SUDO_GID", "1");
        // The run is performed all the same, because no option names an archive.
        home.end(command)
            .code(0)
            .shows("warning: cannot find the archive")
            .shows("--archive FILE")
            .shows("--output FILE keeps");
    }
}
