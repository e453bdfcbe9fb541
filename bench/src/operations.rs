//! The list of operations that `floor.c` performs: a stream of the classic workload or of a mix,
//! with the names of all files.

use crate::result::Result;
use std::io::Write;

use workload::layout::Shape;
use workload::names::Names;
use workload::{Action, Phase, Work, Workload};

/// The first 8 bytes of the list: the text `PMFLO0R1` on a little-endian machine.
const MAGIC: u64 = 0x3152_304f_4c46_4d50;
/// Space for a file name in `floor.c`, including its terminating NUL.
const NAME_BYTES: usize = 24;

/// Writes the operations of all workers; returns the number of operations.
pub fn write(workload: &Workload, to: &mut impl Write) -> Result<u64> {
    let (blocks, is_flat, bytes_max) = match &workload.work {
        Work::Classic(classic) => (
            [classic.read_block_bytes, classic.write_block_bytes],
            classic.subdirectories <= 1 && classic.weights.len() <= 1,
            classic.size_high_bytes,
        ),
        Work::Mix(mix) => (
            [mix.read_block_bytes, mix.write_block_bytes],
            mix.layout.shape == Shape::Flat && mix.names == Names::default(),
            mix.size_max_bytes,
        ),
    };
    if blocks[0] != blocks[1] || !is_flat {
        return Err("the floor knows one size of blocks and one directory only".into());
    }
    let workers = workload.workers.count();
    let header = [MAGIC, workers.into(), blocks[0], bytes_max];
    for number in header {
        to.write_all(&number.to_ne_bytes())?;
    }
    let mut sum = 0;
    for worker in 0..workers {
        let mut stream = workload.stream(worker, |_| ())?;
        for phase in Phase::ALL {
            let mut operations = Vec::new();
            while let Some(intent) = stream.next(phase) {
                if let Some(action) = number(intent.action) {
                    operations.push((action, intent.bytes as u32, intent.number));
                }
            }
            sum += operations.len() as u64;
            to.write_all(&(operations.len() as u64).to_ne_bytes())?;
            for (action, bytes, number) in operations {
                let mut name = [0; NAME_BYTES];
                write!(&mut name[..NAME_BYTES - 1], "{number}")?;
                to.write_all(&action.to_ne_bytes())?;
                to.write_all(&bytes.to_ne_bytes())?;
                to.write_all(&name)?;
            }
        }
    }
    Ok(sum)
}

/// An action's number in `floor.c`; `None` if `floor.c` performs nothing for it.
fn number(action: Action) -> Option<u32> {
    match action {
        Action::Create => Some(0),
        Action::Read => Some(1),
        Action::Append => Some(2),
        Action::Delete => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Classic, Workers};

    #[test]
    fn every_operation_is_written_once() {
        let workload = Workload {
            workers: Workers::Private { workers: 2 },
            ..Classic {
                files: 3,
                transactions: 5,
                ..Classic::default()
            }
            .into()
        };
        let mut bytes = Vec::new();
        let operations = write(&workload, &mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, 32 + 2 * 3 * 8 + operations * 32);
        // The header of 32 bytes is followed by the first worker's number of operations in the
        // first phase (3), and by the first of these: the creation (0) of the file `1`.
        assert_eq!(bytes[..8], MAGIC.to_ne_bytes());
        assert_eq!(
            (&bytes[32..40], &bytes[40..44]),
            (&3_u64.to_ne_bytes()[..], &0_u32.to_ne_bytes()[..])
        );
        assert_eq!(&bytes[48..50], b"1\0");
    }
}
