//! The ratio that a gate with this number of blocks can detect, and why it does not detect a ratio
//! at the threshold.

use document::Document;
use document::units::{bound, counted, percent, trimmed};
use study::{Bound, Decision, Gate, Judged, Requirement};

/// Adds a note for each requirement that no candidate failed.
pub(super) fn add(document: &mut Document, gate: &Gate) {
    let mut requirements: Vec<Requirement> = Vec::new();
    for judged in &gate.requirements {
        if !requirements.contains(&judged.requirement) {
            requirements.push(judged.requirement);
        }
    }
    for requirement in requirements {
        let of = gate.requirements.iter();
        let of: Vec<&Judged> = of.filter(|of| of.requirement == requirement).collect();
        if of.iter().all(|judged| judged.decision != Decision::Failed) {
            document.words(bound(&words(requirement, &of)));
        }
    }
}

fn words(requirement: Requirement, judged: &[&Judged]) -> String {
    let (threshold, distance) = (requirement.threshold(), percent(requirement.distance()));
    let (beyond, change) = match requirement.bound() {
        Bound::AtLeast => ("less", format!("a loss of {distance}")),
        Bound::AtMost => ("more", format!("an increase of {distance}")),
    };
    // Selects the candidate whose ratio must be farthest beyond the threshold to fail.
    let hardest = judged
        .iter()
        .filter_map(|of| Some((of.failing_ratio?, of.count)));
    let hardest = hardest.reduce(|one, other| {
        let is_harder = match requirement.bound() {
            Bound::AtLeast => other.0 < one.0,
            Bound::AtMost => other.0 > one.0,
        };
        if is_harder { other } else { one }
    });
    let found = hardest.map(|(ratio, count)| {
        format!(
            "With {}, {requirement} fails a true ratio of {ratio:.3} or {beyond} with a \
             probability of 80 %. ",
            counted(count.into(), judged[0].unit())
        )
    });
    format!(
        "{}More {}s bring the ratio that fails nearer to {threshold}. A failed gate shows more \
         than {change}: at a true ratio of {threshold}, exactly {change}, at most 1 % of the gates \
         fail.{}",
        found.unwrap_or_default(),
        judged[0].unit(),
        finds(requirement)
    )
}

/// Maximum distance of a threshold from 1 of which the text reports the change that it finds: half
/// of the change is a rule for small changes.
const DISTANCE_MAX: f64 = 0.25;

/// The change that a requirement finds, and the requirement that finds a change of its own size:
/// the distance of a bound is half of the change that it finds.
fn finds(requirement: Requirement) -> String {
    let (threshold, distance) = (requirement.threshold(), requirement.distance());
    if distance > DISTANCE_MAX {
        return String::new();
    }
    let kind = match requirement.bound() {
        Bound::AtLeast => "a loss",
        Bound::AtMost => "an increase",
    };
    format!(
        " With enough runs it finds {kind} of {}; to find {kind} of {}, require {}.",
        percent(2.0 * distance),
        percent(distance),
        trimmed(f64::midpoint(1.0, threshold), 4)
    )
}
