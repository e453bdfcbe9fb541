//! Sides that are measured separately: warnings before a block, and the next step after it.

use document::units::{counted, grouped};
use study::SideBlocks;

/// Warnings before `block` of `side` is measured, for example if the name of the side may contain a
/// typing error. `sides` are the sides that have runs.
pub fn warnings(sides: &[SideBlocks], (side, block): (&str, u32)) -> Vec<String> {
    let mut warnings = Vec::new();
    let known = sides.iter().find(|known| known.side == side);
    let blocks = |of: &SideBlocks| {
        let blocks = counted(of.blocks.len() as u64, "block");
        format!("{} ({blocks})", of.side)
    };
    if known.is_none() && sides.len() > 1 {
        let others: Vec<String> = sides.iter().map(blocks).collect();
        warnings.push(format!(
            "warning: side {side} is new in this study, which has {} (if the name is wrong, end \
             this command, and correct --side)",
            others.join(" and ")
        ));
    }
    let last = known.and_then(|known| known.blocks.last().copied());
    let expected = last.unwrap_or(0) + 1;
    if block > expected {
        warnings.push(format!(
            "warning: side {side} has no block {expected} yet, and this is block {block} (if the \
             number is wrong, end this command, and correct --block)"
        ));
    }
    warnings
}

/// The blocks that each side has, and the command of the next step. `block` is the block that was
/// measured last, of `blocks` blocks. Every second block begins with the last side, so that changes
/// within the blocks cancel.
pub fn next_step(sides: &[SideBlocks], (block, blocks): (u32, u32), tag: &str) -> String {
    let done: Vec<String> = sides
        .iter()
        .map(|of| format!("{} {}", of.side, grouped(of.blocks.len() as u64)))
        .collect();
    let done = format!("blocks measured, of {blocks}: {}", done.join(", "));
    let command = |side: &str, block: u32| format!("--side {side} --block {block} --tag {tag}");
    if let [_] = sides {
        return format!(
            "only one side has been measured, so nothing is compared yet; {done} (next: repeat \
             the command on the other side with {})",
            command("NAME", block)
        );
    }
    let lacks = |block: u32| {
        let mut lacking = sides.iter().filter(|of| !of.blocks.contains(&block));
        match block % 2 {
            1 => lacking.next(),
            _ => lacking.next_back(),
        }
    };
    let mut all = (1..=blocks).filter_map(|block| Some((lacks(block)?, block)));
    match all.next() {
        Some((next, block)) => format!(
            "{done} (next: repeat the command on {} with {})",
            next.side,
            command(&next.side, block)
        ),
        None => format!("{done} (next: postmark gate {tag} --require 'transactions >= 0.985')"),
    }
}
