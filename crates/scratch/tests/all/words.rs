//! Parses words such as `make:ext4?size=4GiB` into specs, and formats specs as such words.

use std::path::Path;

use scratch::{DEFAULT_SIZE_BYTES, ExternalJournal, FileSystemKind, KEYS, MakeSpec};
use testkit::table;

fn parsed(word: &str) -> MakeSpec {
    word.parse()
        .unwrap_or_else(|error| panic!("{word}: {error}"))
}

#[test]
fn word_with_all_keys_is_parsed() {
    let spec = parsed(
        "make:ext4?size=4GiB&mount=noatime,data=journal&mkfs=-I \
         256&journal=128MiB&journal-in=/dir&in=/images&discard&direct&fullness=50",
    );
    assert_eq!(
        spec,
        MakeSpec {
            kind: FileSystemKind::Ext4,
            size_bytes: 4 << 30,
            mkfs_words: vec!["-I".into(), "256".into()],
            mount_options: vec!["noatime".into(), "data=journal".into()],
            directory: "/images".into(),
            journal: Some(ExternalJournal {
                size_bytes: 128 << 20,
                directory: Some("/dir".into()),
            }),
            discard: true,
            direct: true,
            fullness_percent: Some(50),
        }
    );
    assert_eq!(spec.journal_directory(), Some(Path::new("/dir")));
}

#[test]
fn each_key_of_the_table_is_parsed_and_has_its_example_and_default() {
    for key in KEYS {
        assert!(key.example.starts_with(key.name), "{key:?}");
        assert_eq!(key.example.contains('='), key.value.is_some(), "{key:?}");
        let needed = match key.name {
            "journal-in" => "journal=128MiB&",
            _ => "",
        };
        let word = format!("make:ext4?{needed}{}", key.example);
        assert_ne!(parsed(&word), parsed("make:ext4"), "{word} changes nothing");
        assert_eq!(parsed(&word).to_string(), word);
    }
    let default = |name| KEYS.iter().find(|key| key.name == name).unwrap().default;
    let size = format!("make:ext4?size={}", default("size"));
    assert_eq!(parsed(&size).size_bytes, DEFAULT_SIZE_BYTES);
    assert_eq!(Path::new(default("in")), parsed("make:ext4").directory);
}

/// Each line contains a word, and the text of the spec that is parsed from the word.
const CANONICAL: &str = "
    make:tmpfs | make:tmpfs
    make:ext4? | make:ext4
    make:ext4?size=2GiB&in=/var/tmp | make:ext4
    make:xfs?mount=noatime&size=4G | make:xfs?size=3906250KiB&mount=noatime
    make:xfs?size=1000000001 | make:xfs?size=1000000001
    make:ext3?journal-in=/a&journal=8MiB&in=/a | make:ext3?in=/a&journal=8MiB
    make:ext4?fullness=90%&direct | make:ext4?direct&fullness=90
    make:ext4?in=/a%26b%25c%2526 | make:ext4?in=/a%26b%25c%2526
";

#[test]
fn canonical_word_omits_defaults() {
    for [word, canonical] in table(CANONICAL) {
        let spec = parsed(word);
        assert_eq!(spec.to_string(), canonical);
        assert_eq!(parsed(canonical), spec);
    }
    let padded = parsed("make:btrfs?mkfs=  -m   single ");
    assert_eq!(padded.to_string(), "make:btrfs?mkfs=-m single");
    assert_eq!(
        parsed("make:ext4?in=/a%26b%25c%2526").directory,
        Path::new("/a&b%c%26")
    );
}

#[test]
fn mkfs_options_that_affect_only_the_image_are_accepted() {
    for word in [
        "make:ext4?mkfs=-I 256 -E stride=4 -Eresize=8G -O ^has_journal,extent -qF -m0 -Nq -L -d",
        "make:ext3?mkfs=-j -J size=8 -T news -b 1024",
        "make:xfs?mkfs=-i size=512 -d agcount=4 -l size=64m -m crc=1,reflink=0 -n size=8192 -K",
        "make:btrfs?mkfs=-m single --data=dup --csum xxhash --nodiscard -O no-holes -qn 16k",
        "make:f2fs?mkfs=-O extra_attr -o 5 -w 4096 -i",
        "make:nilfs2?mkfs=-B 16 -b 1024",
        "make:overlay?mkfs=-I 512",
    ] {
        parsed(word);
    }
}

/// Invalid words, each with the beginning of its error message.
const WRONG: &str = "
    ext4 | 'ext4' does not begin with 'make:'
    make:ext5
        | unknown kind of file system 'ext5' (use tmpfs, ext2, ext3, ext4, xfs, btrfs, \
        overlay, f2fs, nilfs2)
    make:ext4?sise=1G | unknown key 'sise' (use size, mkfs,
    make:ext4?size=1G&size=2G | 'size' is given twice
    make:ext4?size | 'size' has no value (write size=VALUE)
    make:ext4?size= | 'size' has no value
    make:ext4?discard=1 | 'discard' takes no value
    make:ext4?size=much | invalid size: 'much' is not a number
    make:xfs?size=299MiB | invalid size of 313524224 bytes for xfs: expected 314572800 to
    make:ext4?size=17TiB | invalid size of 18691697672192 bytes for ext4
    make:ext4?size=0 | invalid size of 0 bytes
    make:btrfs?journal=64MiB
        | btrfs has no 'journal': it has no external journal (leave it out, or use ext3, \
        ext4 or xfs)
    make:ext2?journal=64MiB | ext2 has no 'journal'
    make:ext4?journal=4MiB | invalid journal of 4194304 bytes for ext4: expected 8388608 to
    make:ext4?journal=40001MiB
        | invalid journal of 41944088576 bytes for ext4: expected 8388608 to 41943040000 bytes
    make:xfs?journal=2039MiB
        | invalid journal of 2138046464 bytes for xfs: expected 67108864 to 2136997888 bytes
    make:ext4?journal-in=/tmp | 'journal-in' needs 'journal' (add journal=128MiB)
    make:tmpfs?direct | tmpfs has no 'direct': it lies in memory
    make:tmpfs?mkfs=-q | tmpfs has no 'mkfs'
    make:ext4?fullness=96 | invalid fullness '96': expected a whole percentage from 1 to 95
    make:ext4?fullness=half | invalid fullness 'half'
    make:ext4?in=tmp | invalid in 'tmp': expected an absolute path
    make:ext4?in=/t\u{7}mp | 'in' has a control character
    # Existing devices and files are out of reach.
    make:ext4?mkfs=-J device=/dev/sda | mkfs word 'device=/dev/sda' names a device or a path
    make:ext4?mkfs=/dev/sda | mkfs word '/dev/sda' names a device
    make:ext4?mkfs=-J device=UUID=1 | mkfs word 'device=UUID=1' names a device
    make:xfs?mkfs=-l logdev=loop1 | mkfs word 'logdev=loop1' names a device
    make:ext4?mkfs=-d ..
        | mkfs word '-d' cannot be used: mkfs.ext4 is given only options \
        that touch nothing but the image
    make:ext4?mkfs=-Fd .. | mkfs word '-Fd' cannot be used
    make:ext4?mkfs=-d.. | mkfs word '-d..' cannot be used
    make:ext4?mkfs=-cqvd . | mkfs word '-cqvd' cannot be used
    make:ext4?mkfs=-b 4096 -l blocks | mkfs word '-l' cannot be used
    make:ext3?mkfs=-z undo | mkfs word '-z' cannot be used
    make:ext2?mkfs=elsewhere | mkfs word 'elsewhere' cannot be used
    make:ext4?mkfs=-- journal | mkfs word '--' cannot be used
    make:overlay?mkfs=-d .. | mkfs word '-d' cannot be used
    make:btrfs?mkfs=-r .. | mkfs word '-r' cannot be used
    make:btrfs?mkfs=-Kr .. | mkfs word '-Kr' cannot be used
    make:btrfs?mkfs=--rootdir=.. | mkfs word '--rootdir=..' cannot be used
    make:btrfs?mkfs=--rootdir .. | mkfs word '--rootdir' cannot be used
    make:btrfs?mkfs=--rootd .. | mkfs word '--rootd' cannot be used
    make:btrfs?mkfs=--subvol=x | mkfs word '--subvol=x' cannot be used
    make:btrfs?mkfs=-m single loop1 | mkfs word 'loop1' cannot be used
    make:xfs?mkfs=-p .. | mkfs word '-p' cannot be used
    make:xfs?mkfs=-qp proto | mkfs word '-qp' cannot be used
    make:xfs?mkfs=-c options=x | mkfs word '-c' cannot be used
    make:xfs?mkfs=-d name=x | mkfs word 'name=x' names a device
    make:f2fs?mkfs=-c loop1 | mkfs word '-c' cannot be used
    make:nilfs2?mkfs=-X | mkfs word '-X' cannot be used
    make:ext4?mount=journal_path=x
        | mount option 'journal_path=x' cannot be used: it names a device
    make:btrfs?mount=device=/dev/sda | mount option 'device=/dev/sda' cannot be used
    make:ext4?mount=remount | mount option 'remount' cannot be used: it changes another mount
    make:ext4?mount=noatime,ro | mount option 'ro' cannot be used: files are made on the target
    make:tmpfs?mount=size=1G
        | mount option 'size=1G' cannot be used: the size is that of the key 'size'
    make:overlay?mount=lowerdir=x | mount option 'lowerdir=x' cannot be used
    make:ext4?mount=noatime,,ro | mount option '' cannot be used
";

#[test]
fn errors_state_the_problem_and_the_fix() {
    for [word, expected] in table(WRONG) {
        let error = word.parse::<MakeSpec>().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{word}: {error}");
    }
}
