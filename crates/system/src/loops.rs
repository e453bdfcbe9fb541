//! What a loop device is over, as its driver knows it.

use std::io;
use std::os::fd::AsFd;

use rustix::ioctl::{Getter, ioctl};

/// LOOP_GET_STATUS64 of `linux/loop.h`.
const GET_STATUS: u32 = 0x4c05;

/// `struct loop_info64` of `linux/loop.h`; what is not looked at is `_rest`.
#[repr(C)]
struct Status {
    device: u64,
    inode: u64,
    _rest: [u64; 27],
}

/// The device and inode of the file below a loop device, as stat(2) gives them. The file exists as
/// long as the loop device is over it, whatever becomes of its names.
///
/// # Errors
/// What the system answers: `ENXIO` where the device is over nothing.
pub fn backing_file(device: impl AsFd) -> io::Result<(u64, u64)> {
    // SAFETY: the request fills a `struct loop_info64`, of whose size and layout `Status` is.
    let status = unsafe { ioctl(device, Getter::<GET_STATUS, Status>::new()) }?;
    Ok((status.device, status.inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(std::mem::size_of::<Status>(), 232);
    }

    #[test]
    fn what_is_no_loop_device_is_an_error() {
        let null = std::fs::File::open("/dev/null").unwrap();
        assert!(backing_file(&null).is_err());
    }
}
