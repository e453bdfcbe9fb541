//! The directories of a model: the shape whose depth and number of directories are nearest.

use workload::layout::{DEPTH_MAX, PLACES_MAX, Shape};

use crate::distribution::Distribution;
use crate::profile::Profile;

/// The deepest tree whose shape is examined. `Shape` permits more levels than observed trees need.
const LEVELS_MAX: u32 = if DEPTH_MAX < 32 { DEPTH_MAX } else { 32 };

/// Returns the shape for a profile; `None` if the profile shows no directories.
pub(crate) fn shape(profile: &Profile) -> Option<Shape> {
    let directories = profile.directories?.clamp(1, u64::from(PLACES_MAX));
    let Some(depths) = profile.depths.as_ref().filter(|depths| depths.count() > 0) else {
        return Some(of_level(1, directories as u32));
    };
    let candidates = (0..=LEVELS_MAX).flat_map(|level| {
        let root = (directories as f64).powf(1.0 / f64::from(level.max(1)));
        let widths = [root.floor(), root.ceil()].map(|width| width.max(1.0) as u32);
        widths.map(|width| of_level(level, width))
    });
    let fits = candidates.filter(|shape| places(*shape) <= u64::from(PLACES_MAX));
    fits.min_by(|one, other| {
        misfit(*one, directories, depths).total_cmp(&misfit(*other, directories, depths))
    })
}

/// The depth of every file in a shape: the number of directories between the target and the file.
pub(crate) fn depth(shape: Shape) -> u64 {
    match shape {
        Shape::Flat => 0,
        Shape::Subdirectories(_) => 1,
        Shape::Tree { depth, .. } => depth.into(),
    }
}

/// The number of directories with files in a shape.
pub(crate) fn places(shape: Shape) -> u64 {
    match shape {
        Shape::Flat => 1,
        Shape::Subdirectories(count) => count.into(),
        Shape::Tree { width, depth } => u64::from(width).saturating_pow(depth),
    }
}

fn of_level(level: u32, width: u32) -> Shape {
    match level {
        0 => Shape::Flat,
        1 => Shape::Subdirectories(width),
        depth => Shape::Tree { width, depth },
    }
}

/// How badly a shape fits: the sum of the relative error of the number of directories, as a
/// logarithm, and the distance from the mean depth in levels. An error of one level counts as much
/// as a factor of 2 in the number of directories.
fn misfit(shape: Shape, directories: u64, depths: &Distribution) -> f64 {
    let ratio = places(shape) as f64 / directories as f64;
    let mean = depths.mean().unwrap_or_default();
    ratio.log2().abs() + (depth(shape) as f64 - mean).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(directories: u64, depths: &[u64]) -> String {
        let profile = Profile {
            directories: Some(directories),
            depths: Some(depths.iter().copied().collect()),
            ..Profile::default()
        };
        shape(&profile).unwrap().to_string()
    }

    #[test]
    fn shapes_have_the_nearest_depth_and_number_of_directories() {
        for (directories, depths, shape) in [
            (1, &[0, 0][..], "flat"),
            (100, &[1, 1], "subdirs:100"),
            (1000, &[3, 3, 3], "tree:10x3"),
            (1024, &[2, 2], "tree:32x2"),
            (1, &[4], "tree:1x4"),
            (1 << 40, &[1], "subdirs:16777216"),
        ] {
            assert_eq!(
                fitted(directories, depths),
                shape,
                "{directories} {depths:?}"
            );
        }
    }
}
