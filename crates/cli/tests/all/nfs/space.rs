//! Runs on an NFS export that has little free space.

use super::ganesha::Ganesha;
use super::{LIMIT, about, start, tell, within};

/// Options of a run that needs more space than the small export has.
const TOO_MUCH: &str = "--mix append=1,read=1 --files 100 --size 60000 --append-size 60000 \
                        --size-max 10MiB --transactions 1000";

#[test]
fn free_space_is_checked_before_the_run() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let ended = within(start(&ganesha, &ganesha.url("small"), TOO_MUCH), LIMIT);
    tell(ended.errors.trim());
    ended.code(2).shows("free");
    assert_eq!(own(&ganesha), Vec::<std::ffi::OsString>::new());
}

/// The server reports lack of space in the reply of WRITE or of COMMIT. The run ends with a
/// message. Its files are removed by the run, or by `clean` afterwards.
#[test]
fn lack_of_space_is_reported_by_write_or_commit() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    for options in [
        "",
        "--depth 8",
        "--durability fsync --depth 8",
        "--durability o-dsync",
    ] {
        let options = format!("{TOO_MUCH} --no-space-check {options}");
        let ended = within(start(&ganesha, &ganesha.url("small"), &options), LIMIT);
        ended.ends("1 | No space left on device | WRITE | \"partial\":true");
        if !own(&ganesha).is_empty() {
            about(&ganesha, &["clean", &ganesha.url("small")]).code(0);
        }
        assert_eq!(own(&ganesha), Vec::<std::ffi::OsString>::new(), "{ended}");
    }
}

/// The names of run directories in the small export.
fn own(ganesha: &Ganesha) -> Vec<std::ffi::OsString> {
    let names = crate::support::names(&ganesha.small(""))
        .unwrap()
        .into_iter();
    names.filter(|name| name != "lost+found").collect()
}
