//! The keys of words such as `make:ext4?size=4GiB`. Parser, messages and help follow from this
//! table.

use crate::spec::DEFAULT_DIRECTORY;

/// A key of a scratch file system, as help describes it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    /// Form of the value, such as `SIZE`; `None` for a key that takes no value.
    pub value: Option<&'static str>,
    pub default: &'static str,
    /// The key as a user writes it.
    pub example: &'static str,
    pub meaning: &'static str,
}

impl Key {
    const fn new(
        name: &'static str,
        value: &'static str,
        default: &'static str,
        (example, meaning): (&'static str, &'static str),
    ) -> Self {
        Self {
            name,
            value: Some(value),
            default,
            example,
            meaning,
        }
    }

    const fn switch(name: &'static str, meaning: &'static str) -> Self {
        Self {
            name,
            value: None,
            default: "off",
            example: name,
            meaning,
        }
    }
}

/// All keys, in the order of help and messages.
pub const KEYS: [Key; 9] = [
    Key::new(
        "size",
        "SIZE",
        "2GiB",
        ("size=4GiB", "size of image or tmpfs"),
    ),
    Key::new(
        "mkfs",
        "WORDS",
        "none",
        ("mkfs=-I 256", "more words for mkfs"),
    ),
    Key::new(
        "mount",
        "OPTIONS",
        "none",
        ("mount=noatime", "options, with commas"),
    ),
    Key::new(
        "in",
        "DIR",
        DEFAULT_DIRECTORY,
        ("in=/srv", "directory of the image"),
    ),
    Key::new(
        "journal",
        "SIZE",
        "none",
        ("journal=128MiB", "external journal"),
    ),
    Key::new(
        "journal-in",
        "DIR",
        "that of in",
        ("journal-in=/ssd", "directory of its image"),
    ),
    Key::switch("discard", "freed blocks leave image"),
    Key::switch("direct", "image without page cache"),
    Key::new(
        "fullness",
        "PERCENT",
        "none",
        ("fullness=50", "filled before a run (1-95)"),
    ),
];

/// The names of all keys, for messages.
pub(crate) fn names() -> String {
    let names = KEYS.map(|key| key.name);
    let (last, others) = names.split_last().expect("the table has keys");
    format!("{} or {last}", others.join(", "))
}
