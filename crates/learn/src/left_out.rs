//! What was observed and has no form in a workload.

use workload::sizes::SIZE_MAX_BYTES;

use crate::profile::{LeftOut, Profile, Source};

/// Returns everything that was observed and that the learned workload does not have: what the
/// source reported, and what no option can express.
pub fn left_out(profile: &Profile) -> Vec<LeftOut> {
    let files = profile.files.unwrap_or_default();
    let mut all = profile.left_out.clone();
    let mut add = |what: &str, count: Option<u64>, total: u64| {
        let count = count.unwrap_or_default();
        if count > 0 {
            all.push(LeftOut::new(what, count, total));
        }
    };
    let too_large = profile
        .sizes
        .as_ref()
        .map(|sizes| sizes.above(SIZE_MAX_BYTES));
    add("sizes above 1 GiB (the model uses 1 GiB)", too_large, files);
    if profile.source == Source::Tree {
        add("additional hard links to files", profile.links, files);
        let names = files + profile.symlinks.unwrap_or_default();
        add("symbolic links", profile.symlinks, names);
    }
    all
}
