//! Resolves a mount's source (`/dev/sdb2`, `/dev/mapper/root`) to the number of the device.
//!
//! The number is read from sysfs, because a container may lack the device's node in `/dev`.

use crate::device_number::DeviceNumber;
use crate::fact::Fact;
use crate::sources::Sources;

/// Returns the number of the block device that a mount's source names.
pub(crate) fn number_of_source(sources: &Sources, source: &str) -> Fact<DeviceNumber> {
    let Some(name) = source.strip_prefix("/dev/") else {
        return Fact::Unavailable(format!(
            "/proc/self/mountinfo: the source `{source}` is not a device"
        ));
    };
    let number = by_kernel_name(sources, name)
        .or_else(|| by_mapper_name(sources, name.strip_prefix("mapper/")?))
        .or_else(|| by_link(sources, source));
    sources.found(source, number, || "no such device in /sys/class/block")
}

fn by_kernel_name(sources: &Sources, name: &str) -> Option<DeviceNumber> {
    let name = name.replace('/', "!");
    let text = sources.text(&format!("/sys/class/block/{name}/dev"));
    DeviceNumber::parse(&text.into_known()?)
}

fn by_mapper_name(sources: &Sources, mapper_name: &str) -> Option<DeviceNumber> {
    let names = sources.names("/sys/class/block").into_known()?;
    names
        .iter()
        .filter(|name| name.starts_with("dm-"))
        .find(|name| {
            let own = sources.text(&format!("/sys/class/block/{name}/dm/name"));
            own.known().is_some_and(|own| own == mapper_name)
        })
        .and_then(|name| by_kernel_name(sources, name))
}

/// Resolves a source such as `/dev/disk/by-uuid/…` or `/dev/vg/volume`, which is a symbolic link to
/// the device's node.
fn by_link(sources: &Sources, source: &str) -> Option<DeviceNumber> {
    let node = std::fs::canonicalize(sources.path(source)).ok()?;
    by_kernel_name(sources, node.file_name()?.to_str()?)
}
