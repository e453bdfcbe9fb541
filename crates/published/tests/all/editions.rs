//! Compares published ratios of data read to data written with the ratios that `workload` plans.
//! The comparison identifies the edition that produced each row.

use std::collections::BTreeMap;

use published::Library;
use published::editions::{Finding, WhichEdition};
use testkit::table;

fn library() -> Library {
    Library::read()
}

/// All rows with data read and data written, each with the PostMark edition that produced it. This
/// is the edition whose planned ratio of data read to data written fits the printed ratio.
const MADE_BY: &str = "
    paper-1 | UFS=1.0 TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0
    paper-2 | UFS=1.0 TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0
    paper-3 | TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0
    paper-4 | FAT=1.0 NTFS/R0=neither NTFS/R5=1.0 CIFS/F330=1.0 CIFS/F630=1.0
    paper-5 | NTFS/R0=1.0 NTFS/R5=1.0 CIFS/F330=1.0 CIFS/F630=1.0
    paper-6 | NTFS/R0=1.0 NTFS/R5=1.0 CIFS/F330=1.0 CIFS/F630=1.0
    paper-session | Session=1.0
    mail-page-1 | UFS=1.0 TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0 \
        PPro+SOFT=1.0 P3/Linux=1.0 P3+DPT=1.0 2xP3+UFS=1.0 2xP3+SOFT=1.0 2xP3+MFS=1.0 \
        U5+UFS=1.0 U5+Log=1.0 U5+TMPFS=1.0 PBG3/HFS+=1.5 PBG3/MFS=1.5 PBG4/HFS+=1.5 \
        PBG4/MFS=1.5 Compaq+UFS=1.5 Compaq+Soft=1.5
    mail-page-2 | UFS=1.0 TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0 \
        PPro+SOFT=1.0 P3/Linux=1.0 P3+DPT=1.0 2xP3+UFS=1.0 2xP3+SOFT=1.0 2xP3+MFS=1.0 \
        U5+UFS=1.0 U5+Log=1.0 U5+TMPFS=1.0 PBG3/HFS+=1.5 PBG3/MFS=1.5 PBG4/HFS+=1.5 \
        PBG4/MFS=1.5 Compaq+UFS=1.5 Compaq+Soft=1.5
    mail-page-3 | TMPFS=neither ODS/R0=1.0 ODS/R5=1.0 NFS/F330=1.0 NFS/F630=1.0 PPro+SOFT=1.0 \
        P3/Linux=1.0 P3+DPT=1.0 2xP3+UFS=1.0 2xP3+SOFT=neither 2xP3+MFS=1.0 U5+UFS=1.0 \
        U5+Log=1.0 U5+TMPFS=1.0 PBG3/HFS+=1.5 PBG3/MFS=1.5 PBG4/HFS+=1.5 PBG4/MFS=1.5 \
        Compaq+UFS=1.5 Compaq+Soft=1.5
    mail-page-4 | P3/Linux=1.0 2xP3+UFS=1.0 2xP3+SOFT=1.0 2xP3+MFS=1.0 U5+UFS=1.0 U5+Log=1.0 \
        U5+TMPFS=1.0 PBG3/HFS+=1.5 PBG3/MFS=1.5 PBG4/HFS+=1.5 PBG4/MFS=1.5 Compaq+UFS=1.5 \
        Compaq+Soft=1.5
    lfs-sessions | LFS=1.5 ext3=1.5
";

fn by_table(findings: &[Finding]) -> BTreeMap<&str, Vec<&Finding>> {
    let mut tables: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        tables.entry(&finding.table).or_default().push(finding);
    }
    tables
}

#[test]
fn original_version_that_produced_each_row_is_identified() {
    let findings = library().findings();
    let tables = by_table(&findings);
    let mut wrong = Vec::new();
    let made_by = table(MADE_BY);
    assert_eq!(tables.len(), made_by.len(), "{:?}", tables.keys());
    for [table, expected] in made_by {
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
                        .map(|one| (one.edition.name(), one.ratio))
                        .collect::<Vec<_>>()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rows_that_fit_no_version_state_a_likely_cause() {
    let library = library();
    let findings = library.findings();
    let mut neither = Vec::new();
    for finding in &findings {
        let WhichEdition::Neither { cause } = &finding.made else {
            continue;
        };
        assert_ne!(
            cause, "the cause is not available",
            "{} {}",
            finding.table, finding.column
        );
        neither.push((finding.table.as_str(), finding.system.as_str()));
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
    // Every cause in the data files belongs to a row that fits no edition.
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

/// PostMark 1.0 printed rates in megabytes of 1,000 kilobytes. For the rates listed here, the
/// source converted the megabytes to kilobytes with the factor 1,024.
#[test]
fn rates_converted_with_the_wrong_factor_are_detected() {
    let findings = library().findings();
    let told: Vec<String> = findings
        .iter()
        .filter(|finding| !finding.converted.is_empty())
        .map(|finding| {
            let cells = finding.converted.iter();
            let cells: Vec<String> = cells
                .map(|one| format!("{} {}", one.printed, one.meant))
                .collect();
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
}
