//! Filler files occupy the requested fraction of a file system's usable space.

use scratch::{Made, MakeSpec};
use system::Space;

use crate::support::{Scene, can_make, is_root};

fn filled(spec: &MakeSpec, tolerance_percent: f64) {
    if !is_root() || !can_make(spec) {
        return;
    }
    let mut made = Made::make(
        &MakeSpec {
            fullness_percent: Some(10),
            ..spec.clone()
        },
        "filled",
    )
    .unwrap();
    for percent in [10, 50, 90] {
        made.set_fullness(Some(percent)).unwrap();
        made.remake().unwrap();
        let reached = *made.facts().fullness_percent.known().unwrap();
        let there = 100.0
            * Space::read(&made.directory())
                .and_then(|space| space.fill_fraction())
                .into_known()
                .unwrap();
        for found in [reached, there] {
            assert!(
                (found - f64::from(percent)).abs() <= tolerance_percent,
                "{percent}: {reached} and {there}"
            );
        }
        assert_eq!(
            std::fs::read_dir(made.directory()).unwrap().count(),
            0,
            "the target is empty"
        );
    }
    // A saved state includes the filler files.
    let has_states = spec.kind.has_image();
    if has_states {
        made.save("full").unwrap();
    }
    made.set_fullness(None).unwrap();
    made.remake().unwrap();
    let fraction = |made: &Made| {
        Space::read(&made.directory())
            .and_then(|space| space.fill_fraction())
            .into_known()
            .unwrap()
    };
    assert!(fraction(&made) < 0.3, "{}", fraction(&made));
    made.set_fullness(Some(90)).unwrap();
    if has_states {
        made.restore("full").unwrap();
    } else {
        made.remake().unwrap();
    }
    assert!(
        (100.0 * fraction(&made) - 90.0).abs() <= tolerance_percent,
        "{}",
        fraction(&made)
    );
    assert!(made.set_fullness(Some(100)).is_err());
    made.remove().unwrap();
}

#[test]
fn ext2_is_filled_to_the_requested_level() {
    let scene = Scene::new();
    filled(&scene.spec("ext2?size=64MiB"), 1.0);
}

#[test]
fn ext4_is_filled_to_the_requested_level() {
    let scene = Scene::new();
    filled(&scene.spec("ext4?size=256MiB"), 1.0);
}

#[test]
fn xfs_is_filled_to_the_requested_level() {
    let scene = Scene::new();
    filled(&scene.spec("xfs?size=300MiB"), 1.0);
}

#[test]
fn btrfs_is_filled_to_the_requested_level() {
    let scene = Scene::new();
    // Btrfs divides its space into chunks for data and for metadata. The usable space changes with
    // each new chunk, so the tolerance is larger.
    filled(&scene.spec("btrfs?size=512MiB"), 3.0);
}

#[test]
fn tmpfs_is_filled_to_the_requested_level() {
    let scene = Scene::new();
    filled(&scene.spec("tmpfs?size=64MiB"), 1.0);
}

#[test]
fn overlay_is_filled_to_the_requested_level() {
    let scene = Scene::new();
    filled(&scene.spec("overlay?size=64MiB"), 1.0);
}
