//! Tests that the list of operations is consistent, and that the published table agrees with the
//! list.

use engine::{Action, Bytes, OperationKind, Part, Step, When};

const PATH: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/reference/operations.md"
);
const BEGIN: &str = "cargo test -p engine -->\n";
const END: &str = "<!-- End of the list of operations. -->";

fn step(part: &Part) -> String {
    let mut text = part.step.name().to_owned();
    if !part.remark.is_empty() {
        text = format!("{text} ({})", part.remark);
    }
    match part.when {
        When::Always | When::Kept => text,
        When::Synced => format!("[{text}]"),
    }
}

fn table() -> String {
    let mut table = "| operation | in a mix | calls, issued → completed | bytes | needs \
                     |\n|---|---|---|---|---|\n"
        .to_owned();
    for kind in OperationKind::ALL {
        let words: Vec<String> = Action::operations()
            .filter(|action| action.performs() == Some(kind))
            .map(|action| format!("`{}`", action.name()))
            .collect();
        let steps: Vec<String> = kind.steps().iter().map(step).collect();
        let cells = [
            kind.name(),
            if words.is_empty() {
                "–"
            } else {
                &words.join(", ")
            },
            &steps.join(", "),
            kind.bytes().name(),
            kind.needs().name(),
        ];
        table += &format!("| {} |\n", cells.join(" | "));
    }
    table
}

#[test]
fn documented_table_agrees_with_list_of_operations() {
    let text = std::fs::read_to_string(PATH).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (documented, behind) = rest.split_once(END).unwrap();
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        std::fs::write(PATH, [before, BEGIN, &table(), END, behind].concat()).unwrap();
    }
    assert_eq!(documented, table());
}

#[test]
fn list_of_operations_is_consistent() {
    for kind in OperationKind::ALL {
        let steps = kind.steps();
        let has = |wanted: &[Step]| steps.iter().any(|part| wanted.contains(&part.step));
        let syncs = steps.iter().any(|part| part.when == When::Synced);
        assert_eq!(
            kind.changes(),
            syncs,
            "'{kind}' syncs if it changes something"
        );
        // The few bytes of a lock file do not count as contents.
        let writes = has(&[Step::Write]) && kind != OperationKind::LockFile;
        assert_eq!(kind.bytes() == Bytes::Written, writes, "{kind}");
        assert_eq!(
            kind.bytes() == Bytes::Read,
            has(&[Step::Read, Step::Map]),
            "{kind}"
        );
        // `OpenMissing` must not close a file, because its name does not exist.
        assert_eq!(
            has(&[Step::Open]) && kind != OperationKind::OpenMissing,
            has(&[Step::Close]),
            "what '{kind}' opens it closes"
        );
    }
}

#[test]
fn actions_have_consistent_numbers_and_names() {
    for (number, action) in Action::ALL.iter().enumerate() {
        assert_eq!(*action as usize, number, "{action:?}");
        assert_eq!(action.performs().is_none(), *action == Action::Nothing);
        assert_eq!(
            Action::of_mix(action.name()),
            action.is_asked_for().then_some(*action)
        );
        assert!(!action.is_asked_for() || action.comes_as()[0].performs().is_some());
    }
}
