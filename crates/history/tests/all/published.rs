//! What was published, against what `workload` plans: which edition made a row.

use std::collections::BTreeMap;

use history::editions::{Finding, Made};
use history::source::Figure;
use history::{Library, Row, Unit};
use workload::{Classic, ClassicStream, Edition, Phase, Stream};

fn library() -> Library {
    Library::read().unwrap()
}

/// Every row with data read and data written, and the edition that made it, by the ratio that `workload` plans.
const MADE_BY: [(&str, &str); 12] = [
    (
        "paper-1",
        "UFS=1.0 TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0",
    ),
    (
        "paper-2",
        "UFS=1.0 TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0",
    ),
    (
        "paper-3",
        "TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0",
    ),
    (
        "paper-4",
        "FAT=1.0 NTFS/R0=neither NTFS/R5=1.0 CIFS/F330=1.0 CIFS/F630=1.0",
    ),
    ("paper-5", "NTFS/R0=1.0 NTFS/R5=1.0 CIFS/F330=1.0 CIFS/F630=1.0"),
    ("paper-6", "NTFS/R0=1.0 NTFS/R5=1.0 CIFS/F330=1.0 CIFS/F630=1.0"),
    ("paper-session", "Session=1.0"),
    (
        "mail-page-1",
        "UFS=1.0 TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0 PPro+SOFT=1.0 P3/Linux=1.0 P3+DPT=1.0 \
         2xP3+UFS=1.0 2xP3+SOFT=1.0 2xP3+MFS=1.0 U5+UFS=1.0 U5+Log=1.0 U5+TMPFS=1.0 PBG3/HFS+=1.5 PBG3/MFS=1.5 \
         PBG4/HFS+=1.5 PBG4/MFS=1.5 Compaq+UFS=1.5 Compaq+Soft=1.5",
    ),
    (
        "mail-page-2",
        "UFS=1.0 TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0 PPro+SOFT=1.0 P3/Linux=1.0 P3+DPT=1.0 \
         2xP3+UFS=1.0 2xP3+SOFT=1.0 2xP3+MFS=1.0 U5+UFS=1.0 U5+Log=1.0 U5+TMPFS=1.0 PBG3/HFS+=1.5 PBG3/MFS=1.5 \
         PBG4/HFS+=1.5 PBG4/MFS=1.5 Compaq+UFS=1.5 Compaq+Soft=1.5",
    ),
    (
        "mail-page-3",
        "TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0 PPro+SOFT=1.0 P3/Linux=1.0 P3+DPT=1.0 \
         2xP3+UFS=1.0 2xP3+SOFT=neither 2xP3+MFS=1.0 U5+UFS=1.0 U5+Log=1.0 U5+TMPFS=1.0 PBG3/HFS+=1.5 PBG3/MFS=1.5 \
         PBG4/HFS+=1.5 PBG4/MFS=1.5 Compaq+UFS=1.5 Compaq+Soft=1.5",
    ),
    (
        "mail-page-4",
        "P3/Linux=1.0 2xP3+UFS=1.0 2xP3+SOFT=1.0 2xP3+MFS=1.0 U5+UFS=1.0 U5+Log=1.0 U5+TMPFS=1.0 PBG3/HFS+=1.5 \
         PBG3/MFS=1.5 PBG4/HFS+=1.5 PBG4/MFS=1.5 Compaq+UFS=1.5 Compaq+Soft=1.5",
    ),
    ("lfs-sessions", "LFS=1.5 ext3=1.5"),
];

fn by_table(findings: &[Finding]) -> BTreeMap<&str, Vec<&Finding>> {
    let mut tables: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        tables.entry(&finding.table).or_default().push(finding);
    }
    tables
}

#[test]
fn every_row_has_its_edition() {
    let findings = library().findings().unwrap();
    let tables = by_table(&findings);
    let mut wrong = Vec::new();
    assert_eq!(tables.len(), MADE_BY.len(), "{:?}", tables.keys());
    for (table, expected) in MADE_BY {
        let found: Vec<String> = tables[table]
            .iter()
            .map(|finding| format!("{}={}", finding.column, finding.made.in_short()))
            .collect();
        if found.join(" ") != expected {
            for finding in &tables[table] {
                wrong.push(format!(
                    "{table} {}: {:?} printed {} in {:?}, planned {:?}",
                    finding.column,
                    finding.made,
                    finding.printed_ratio,
                    finding.ratio,
                    finding
                        .planned
                        .iter()
                        .map(|one| (one.edition.name(), one.subdirectories, one.ratio))
                        .collect::<Vec<_>>()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rows_that_fit_neither_edition_are_named_with_a_cause() {
    let library = library();
    let findings = library.findings().unwrap();
    let mut neither = Vec::new();
    for finding in &findings {
        let Made::Neither { cause } = &finding.made else {
            assert!(finding.misprints.is_empty(), "{finding:?}");
            continue;
        };
        assert_ne!(cause, "no cause is known", "{} {}", finding.table, finding.column);
        neither.push((finding.table.as_str(), finding.system.as_str()));
        // The two rates ask for different times: that is what fitting neither means.
        for asked in &finding.asked {
            assert!(!asked.by_data_read.meets(asked.by_data_written), "{finding:?}");
        }
        assert_eq!(finding.asked.len(), 2);
    }
    assert_eq!(
        neither,
        [
            ("paper-1", "tmpfs"),
            ("paper-2", "tmpfs"),
            ("paper-3", "tmpfs"),
            ("paper-4", "ntfs-r0"),
            ("mail-page-1", "tmpfs"),
            ("mail-page-2", "tmpfs"),
            ("mail-page-3", "tmpfs"),
            ("mail-page-3", "2xp3-soft"),
        ]
    );
    // And every cause in the data is of such a row.
    let causes: Vec<(&str, &str)> = library
        .sources
        .iter()
        .flat_map(|source| &source.tables)
        .flat_map(|table| {
            table
                .causes
                .iter()
                .map(|cause| (table.name.as_str(), cause.system.as_str()))
        })
        .collect();
    assert_eq!(causes, neither);
}

#[test]
fn rows_whose_times_contradict_one_another_are_known() {
    let findings = library().findings().unwrap();
    let impossible = |finding: &&Finding| finding.asked.iter().any(|asked| asked.is_impossible());
    let told: Vec<(&str, &str)> = findings
        .iter()
        .filter(impossible)
        .map(|finding| (finding.table.as_str(), finding.column.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("paper-1", "TMPFS"),
            // 41 transactions a second; 61 would agree.
            ("paper-6", "NTFS/R0"),
            ("mail-page-1", "TMPFS"),
        ]
    );
}

/// Megabytes of edition 1.0, taken for some of 1,024 kilobytes: as printed, two of them would contradict their transactions.
#[test]
fn rates_that_were_converted_wrongly_are_known() {
    let findings = library().findings().unwrap();
    let told: Vec<String> = findings
        .iter()
        .filter(|finding| !finding.converted.is_empty())
        .map(|finding| {
            let cells = finding.converted.iter();
            let cells: Vec<String> = cells.map(|one| format!("{} {}", one.printed, one.meant)).collect();
            format!("{} {}: {}", finding.table, finding.column, cells.join(", "))
        })
        .collect();
    assert_eq!(
        told,
        [
            "mail-page-1 P3+DPT: 6092.8 5950, 6236.16 6090",
            "mail-page-1 2xP3+SOFT: 1495.04 1460, 1525.76 1490",
            "mail-page-1 2xP3+MFS: 5488.64 5360, 5611.52 5480",
            "mail-page-1 U5+TMPFS: 6328.32 6180, 6471.68 6320",
            "mail-page-2 U5+TMPFS: 1126.4 1100, 2048 2000",
            "mail-page-3 U5+TMPFS: 1679.36 1640, 2324.48 2270",
            "mail-page-4 2xP3+MFS: 3471.36 3390, 4802.56 4690",
            "mail-page-4 U5+TMPFS: 1669.12 1630, 2314.24 2260",
        ]
    );
    let of = |column: &str| {
        findings
            .iter()
            .find(|one| one.table == "mail-page-1" && one.column == column)
            .unwrap()
    };
    for column in ["P3+DPT", "2xP3+SOFT"] {
        let asked = of(column).asked[0];
        let printed = asked.by_data_written.high * 1000.0 / 1024.0;
        assert!(printed < asked.transactions.unwrap().low, "{asked:?}");
    }
}

/// Whole seconds are what the original counts: the figure that asks for some is the one without a misprint.
#[test]
fn whole_seconds_tell_which_figure_is_misprinted() {
    let findings = library().findings().unwrap();
    for (table, system, seconds) in [("paper-4", "ntfs-r0", 207.0), ("mail-page-3", "2xp3-soft", 808.0)] {
        let finding = findings
            .iter()
            .find(|finding| finding.table == table && finding.system == system)
            .unwrap();
        let asked = &finding.asked[0];
        assert_eq!(asked.edition.name(), "1.0");
        assert!(asked.by_data_written.contains(seconds), "{asked:?}");
        let read = asked.by_data_read;
        assert!(read.low.ceil() > read.high, "no whole second: {asked:?}");
    }
}

/// How an edition may come from bytes and whole seconds to a rate.
#[derive(Clone, Copy)]
enum Arithmetic {
    /// Whole numbers, and whole bytes a second.
    Whole,
    /// Whole numbers, and rates with a fraction.
    WholeSums,
    /// 32-bit floats, and whole bytes a second.
    FloatsCut,
    /// 32-bit floats.
    Floats,
}

impl Arithmetic {
    const ALL: [Self; 4] = [Self::Whole, Self::WholeSums, Self::FloatsCut, Self::Floats];

    /// Kilobytes a second as a report prints them.
    fn printed(self, sums: &Sums, seconds: u32) -> String {
        let bytes = match self {
            Self::Whole => (sums.whole / u64::from(seconds)) as f64,
            Self::WholeSums => sums.whole as f64 / f64::from(seconds),
            Self::FloatsCut => (sums.float as u64 / u64::from(seconds)) as f64,
            Self::Floats => f64::from(sums.float / seconds as f32),
        };
        format!("{:.2}", bytes / 1024.0)
    }
}

#[derive(Clone, Copy, Default)]
struct Sums {
    whole: u64,
    float: f32,
}

/// What a configuration reads and writes, added up in both ways.
fn sums(row: &Row<'_>, edition: Edition) -> [Sums; 2] {
    let classic = Classic {
        edition,
        files: row.configuration.files,
        transactions: row.configuration.transactions,
        subdirectories: row.configuration.subdirectories,
        ..Classic::default()
    };
    let mut stream = ClassicStream::new(&classic).unwrap();
    let mut sums = [Sums::default(); 2];
    for phase in Phase::ALL {
        while let Some(intent) = stream.next(phase) {
            for (sum, moves) in sums
                .iter_mut()
                .zip([intent.action.moves_bytes_in(), intent.action.moves_bytes_out()])
            {
                if moves {
                    sum.whole += intent.bytes;
                    sum.float += intent.bytes as f32;
                }
            }
        }
    }
    sums
}

/// Whether one number of seconds makes both of a row's rates, to the last digit.
fn has_whole_second(row: &Row<'_>, sums: &[Sums; 2], arithmetic: Arithmetic) -> bool {
    let rate = |figure| row.figure(figure).unwrap().0;
    let rates = [rate(Figure::DataReadRate), rate(Figure::DataWrittenRate)];
    let about = sums[0].whole as f64 / (rates[0].value * 1024.0);
    let near = (about as u32).saturating_sub(5).max(1)..about as u32 + 5;
    near.into_iter().any(|seconds| {
        let mut cells = sums.iter().zip(rates);
        cells.all(|(sums, rate)| arithmetic.printed(sums, seconds) == rate.printed)
    })
}

/// Rates of kilobytes have digits enough to tell how they were computed: the rows of both editions with such rates, without the
/// page's copies of the paper, and for how many of them each arithmetic has a whole number of seconds.
#[test]
fn printed_rates_tell_how_an_edition_adds_bytes_up() {
    let library = library();
    let findings = library.findings().unwrap();
    let mut planned: BTreeMap<(&str, u64, u64, u32), [Sums; 2]> = BTreeMap::new();
    let mut rows_of = [0; 2];
    let mut explained = [[0; 4]; 2];
    let mut without = Vec::new();
    for row in library.rows() {
        let is_copy = row.source.name == "mail-page" && row.system.contributor.is_known();
        let in_kilobytes = [Figure::DataReadRate, Figure::DataWrittenRate].iter().all(|figure| {
            row.figure(*figure)
                .is_some_and(|(number, unit)| unit == Unit::KilobytesPerSecond && number.value < 1_000.0)
        });
        let finding = findings
            .iter()
            .find(|finding| finding.table == row.table.name && finding.column == row.column());
        let (Some(Made::By(edition)), true, false) = (finding.map(|finding| &finding.made), in_kilobytes, is_copy)
        else {
            continue;
        };
        let configuration = row.configuration;
        let key = (
            edition.name(),
            configuration.files,
            configuration.transactions,
            configuration.subdirectories,
        );
        let sums = planned.entry(key).or_insert_with(|| sums(&row, *edition));
        let which = usize::from(*edition == Edition::V1_5);
        rows_of[which] += 1;
        for (count, arithmetic) in explained[which].iter_mut().zip(Arithmetic::ALL) {
            *count += u32::from(has_whole_second(&row, sums, arithmetic));
        }
        if *edition == Edition::V1_0 && !has_whole_second(&row, sums, Arithmetic::Whole) {
            without.push((row.table.name.as_str(), row.column()));
        }
    }
    assert_eq!(rows_of, [52, 16]);
    assert_eq!(explained, [[50, 43, 39, 41], [15, 14, 15, 16]]);
    assert_eq!(
        without,
        [
            ("mail-page-2", "U5+UFS".to_owned()),
            ("mail-page-4", "2xP3+SOFT".to_owned())
        ]
    );
}

#[test]
fn misprints_of_one_digit_are_found() {
    let findings = library().findings().unwrap();
    let found = |table: &str, system: &str| -> Vec<(String, String, &str)> {
        let finding = findings
            .iter()
            .find(|finding| finding.table == table && finding.system == system)
            .unwrap();
        let misprints = finding.misprints.iter();
        misprints
            .map(|one| (one.printed.clone(), one.instead.clone(), one.edition.name()))
            .collect()
    };
    let misprint = |printed: &str, instead: &str| (printed.to_owned(), instead.to_owned(), "1.0");
    assert_eq!(found("mail-page-3", "2xp3-soft"), [misprint("329.79", "379.79")]);
    assert_eq!(found("paper-4", "ntfs-r0"), [misprint("776.42", "776.72")]);
    for table in ["paper-1", "paper-2", "paper-3"] {
        assert_eq!(found(table, "tmpfs"), [], "{table}");
    }
}

#[test]
fn subdirectories_leave_a_trace_in_edition_1_5_alone() {
    let findings = library().findings().unwrap();
    for finding in by_table(&findings)["mail-page-4"].iter() {
        let [old, new, without] = finding.planned.as_slice() else {
            panic!("{finding:?}");
        };
        assert_eq!(
            (old.subdirectories, new.subdirectories, without.subdirectories),
            (100, 100, 1)
        );
        // With one decimal less, the memory file system of PBG4 leaves room for both.
        let leaves_room = ["pbg4-mfs"].contains(&finding.system.as_str());
        assert_eq!(without.fits, leaves_room, "{finding:?}");
    }
}
