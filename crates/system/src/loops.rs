//! The file below a loop device, as its driver reports it.

use std::io;
use std::os::fd::AsFd;

use rustix::ioctl::{Getter, ioctl};

/// LOOP_GET_STATUS64 of `linux/loop.h`.
const GET_STATUS: u32 = 0x4c05;

/// `struct loop_info64` of `linux/loop.h`; `_rest` contains the fields that are not used.
#[repr(C)]
struct Status {
    device: u64,
    inode: u64,
    _rest: [u64; 27],
}

/// Returns the device and inode of the file below a loop device, as stat(2) reports them. The loop
/// device keeps the file alive, even if all of its names are removed.
///
/// # Errors
/// Returns the system's error: `ENXIO` if no file is attached to the device.
pub fn backing_file(device: impl AsFd) -> io::Result<(u64, u64)> {
    // SAFETY: the request fills a `struct loop_info64`, and `Status` has its size and layout.
    let status = unsafe { ioctl(device, Getter::<GET_STATUS, Status>::new()) }?;
    Ok((status.device, status.inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_has_the_size_of_loop_info64() {
        assert_eq!(std::mem::size_of::<Status>(), 232);
    }

    #[test]
    fn device_that_is_no_loop_device_is_an_error() {
        let null = std::fs::File::open("/dev/null").unwrap();
        assert!(backing_file(&null).is_err());
    }
}
