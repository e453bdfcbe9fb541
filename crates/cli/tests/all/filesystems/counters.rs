//! Device counters: the sync of a file system in an image file causes writes and flushes of the
//! loop device. The disk that stores the image file counts the same writes and flushes.

use record::{Fact, Phase};
use system::counters::DeviceRole;
use verdict::summary::{DeviceSummary, MachineSummary};

use crate::runs::{Ran, Run};
use crate::support::{FileSystem, TestDir, Volume};

const TRANSACTIONS: u64 = 400;
const WORK: &str = "--mix create=1 --files 40 --transactions 400 --size 4096..8192";

fn transactions(ran: &Ran) -> &MachineSummary {
    let machine = ran.phase(Phase::Transactions).machine.as_ref();
    machine.unwrap_or_else(|| panic!("nothing was counted\n{ran}"))
}

fn device(ran: &Ran, role: DeviceRole) -> Option<&DeviceSummary> {
    transactions(ran)
        .devices
        .iter()
        .find(|device| device.role == role)
}

#[test]
fn syncs_count_as_writes_and_flushes_of_loop_device_and_disk() {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    // The test directory is not in memory, because the image must be on a disk.
    let test_dir = TestDir::new();
    let at = test_dir.directory("mount");
    let _volume = Volume::with_image(FileSystem::Ext4, &test_dir, &at, 256, &[]);
    let [synced, unsynced] =
        ["fsync", "none"].map(|policy| Run::new(&at, WORK).with("--durability", policy).perform());
    synced.is_complete().has_all_phases();
    unsynced.is_complete().has_all_phases();

    let target = device(&synced, DeviceRole::Target).expect("a loop device");
    synced.assert(target.name.starts_with("loop"), &target.name);
    let count = |of: Option<verdict::Rate>| of.map(|rate| rate.count);
    let (writes, flushes) = (count(target.writes), count(target.flushes));
    // Every sync waits for its data and for a commit of the journal. The file system flushes the
    // device before and after the commit.
    synced
        .assert(
            writes >= Some(TRANSACTIONS),
            format_args!("{writes:?} writes"),
        )
        .assert(
            flushes >= Some(TRANSACTIONS),
            format_args!("{flushes:?} flushes"),
        )
        .assert(
            target.written_bytes.unwrap().count >= TRANSACTIONS * 4_096,
            format_args!("{:?} bytes written", target.written_bytes),
        )
        .assert(
            target.flushes_per_done >= Some(0.9) && target.writes_per_done >= Some(0.9),
            format_args!("{target:?}"),
        );
    let few = device(&unsynced, DeviceRole::Target).and_then(|device| count(device.flushes));
    unsynced.assert(
        few < Some(TRANSACTIONS / 10),
        format_args!("{few:?} flushes without a sync"),
    );

    // Temporary files may be on any kind of file system. The counters of the disk are examined only
    // if the disk below the image is known.
    let location = synced.record.locations[0].target.known().unwrap();
    let image = location
        .device
        .known()
        .unwrap()
        .loop_backing
        .known()
        .unwrap();
    match (&image.device, device(&synced, DeviceRole::Beneath)) {
        (Fact::Known(disk), Some(beneath)) => {
            synced.assert(
                beneath.writes.unwrap().count > 0,
                format_args!("{beneath:?}"),
            );
            let takes_flushes = disk.write_cache == Fact::Known("write back".to_owned());
            // The kernel counts flushes for a disk, but not for its partitions. So the largest
            // count of the devices below the target is compared.
            let flushed = transactions(&synced)
                .devices
                .iter()
                .filter(|device| device.role != DeviceRole::Target)
                .filter_map(|device| count(device.flushes))
                .max();
            if let (true, Some(flushed)) = (takes_flushes, flushed) {
                synced.assert(
                    flushed >= TRANSACTIONS / 2,
                    format_args!("{flushed} flushes of the disk below"),
                );
            }
        }
        (below, beneath) => {
            let is_told = beneath.is_none() && !below.is_known();
            synced.assert(is_told, format_args!("{below:?}, and yet {beneath:?}"));
        }
    }
    // The counters of the whole run include the counts of the transactions phase.
    let whole = synced.record.during.counted.devices.known().unwrap();
    let of_target = whole
        .iter()
        .find(|device| device.role == DeviceRole::Target)
        .unwrap();
    let all = of_target.counters.known().unwrap().flushes.known().copied();
    synced.assert(
        all >= flushes,
        format_args!("{all:?} flushes in the whole run"),
    );
}
