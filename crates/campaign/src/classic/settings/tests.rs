use super::*;

fn after(lines: &[(&str, Option<&str>)]) -> PromptSettings {
    let mut settings = PromptSettings::new(Edition::V1_5);
    for (what, argument) in lines {
        let argument = argument.map(str::as_bytes);
        let _ = settings.set(&format!("set {what}"), argument);
    }
    settings
}

#[test]
fn set_size_has_the_same_effect_as_in_debians_postmark() {
    for (argument, low, high) in [
        ("", 500, 10_000),
        ("5", 5, 5),
        (" 5", 5, 5),
        ("10 5", 10, 10),
        ("0 5", 500, 10_000),
        ("-5 5", 500, 10_000),
        ("5 -1", 5, 5),
        ("1k", 1, 1),
        ("1k 2k", 1, 2),
        ("10,20", 10, 10),
        ("5 6 7", 5, 6),
        (" 5  6", 5, 5),
        ("5  60", 5, 60),
        ("5\t60", 5, 5),
        ("4294967297", 1, 1),
        ("2147483648", 500, 10_000),
        ("99999999999 5", 1_215_752_191, 1_215_752_191),
        ("5 4294967396", 5, 100),
        ("+5 +60", 5, 60),
        ("7 abc", 7, 7),
    ] {
        let settings = after(&[("size", Some(argument))]);
        assert_eq!(
            (settings.size_low, settings.size_high),
            (low, high),
            "{argument}"
        );
    }
    let refused = PromptSettings::new(Edition::V1_5).set("set size", None);
    assert!(refused.is_err(), "{refused:?}");
}

#[test]
fn rejected_value_does_not_change_the_setting() {
    let settings = after(&[
        ("number", Some("7")),
        ("number", Some("-1")),
        ("number", None),
    ]);
    assert_eq!(settings.files, 7);
    let settings = after(&[
        ("bias read", Some("3")),
        ("bias read", Some("11")),
        ("bias read", Some("-2")),
        ("bias read", None),
    ]);
    assert_eq!(settings.bias_read, 3);
    assert_eq!(after(&[("bias read", Some("x"))]).bias_read, 0);
}

#[test]
fn set_location_has_the_same_effect_as_in_debians_postmark() {
    for (lines, expected) in [
        (&["x"][..], &[("x", 1)][..]),
        (&["x 5"], &[("x", 5)]),
        (&["x 0"], &[("x", 1)]),
        (&["x -3"], &[("x", 1)]),
        (&["x y 5"], &[("x y", 5)]),
        (&["x  5"], &[("x ", 5)]),
        (&["x 5 "], &[("x 5", 1)]),
        (&["x 5k"], &[("x", 5)]),
        (&[" x"], &[("", 1)]),
        (&[""], &[("", 1)]),
        (&["x\t5"], &[("x\t5", 1)]),
        (&["x", "+y 3"], &[("x", 1), ("y", 3)]),
        (&["+y", "+z", "+y 7"], &[("y", 1), ("z", 1), ("y", 7)]),
        (&["x 2", "+y", "+x 5", "-x"], &[("y", 1), ("x", 5)]),
        (&["a/", "-a"], &[("a/", 1)]),
        (&["+-a"], &[("-a", 1)]),
        (&["a", "--a"], &[("a", 1)]),
        (&["x 3", "-x 3"], &[("x", 3)]),
        (&["x", "+y", "+z 2", "-x"], &[("y", 1), ("z", 2)]),
        (&["x", "-x"], &[]),
        (&["x", "y"], &[("y", 1)]),
    ] {
        let lines: Vec<_> = lines.iter().map(|line| ("location", Some(*line))).collect();
        let locations = after(&lines).locations;
        let found: Vec<_> = locations
            .iter()
            .map(|location| (location.path.to_str().unwrap(), location.weight))
            .collect();
        assert_eq!(found, expected, "{lines:?}");
    }
}

/// The original would cut the path at its last space and report an invalid weight.
#[test]
fn path_with_spaces_needs_no_weight() {
    let settings = after(&[("location", Some("/my disk/mail pool"))]);
    assert_eq!(settings.paths(), [(PathBuf::from("/my disk/mail pool"), 1)]);
    let settings = after(&[("location", Some("/my disk/mail pool 4"))]);
    assert_eq!(settings.paths(), [(PathBuf::from("/my disk/mail pool"), 4)]);
}

#[test]
fn version_1_0_has_one_location_without_weight() {
    let mut settings = PromptSettings::new(Edition::V1_0);
    let mut set = |argument: &[u8]| settings.set("set location", Some(argument));
    assert!(set(b"/a b 5").unwrap().is_some());
    for argument in [&b"+/x"[..], b"-/a b 5"] {
        assert!(set(argument).unwrap_err().contains("has one location"));
    }
    assert_eq!(settings.paths(), [(PathBuf::from("/a b 5"), 1)]);
}

#[test]
fn default_settings_result_in_the_default_workload() {
    for edition in Edition::ALL {
        let expected = Classic {
            edition,
            ..Classic::default()
        };
        assert_eq!(PromptSettings::new(edition).workload(), Ok(expected));
    }
}

#[test]
fn workload_with_impossible_location_is_rejected() {
    for argument in ["", " /mnt", "a\0b"] {
        let settings = after(&[("location", Some(argument))]);
        assert!(settings.workload().is_err(), "{argument:?}");
    }
    let settings = after(&[
        ("location", Some("x 2000000000")),
        ("location", Some("+y 2000000000")),
    ]);
    let wrong = settings.workload().unwrap_err();
    assert!(wrong.contains("their sum is 4000000000"), "{wrong}");
    let settings = after(&[
        ("location", Some("x 2")),
        ("location", Some("+y 3")),
        ("subdirectories", Some("7")),
    ]);
    let workload = settings.workload().unwrap();
    assert_eq!((workload.weights, workload.subdirectories), (vec![2, 3], 7));
}
