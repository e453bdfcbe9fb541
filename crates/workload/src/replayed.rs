//! The workload of a replay: a mix whose weights are the numbers of the trace's operations.

use crate::contents::{ContentKind, ContentSpec};
use crate::intent::Action;
use crate::layout::Shape;
use crate::mix::{Mix, Weights};
use crate::replay::{Built, Loaded, Replay};
use crate::sizes::Sizes;
use crate::whole::Workload;
use crate::workers::Workers;

/// Returns the workload that replays a trace. `replay` describes the trace; what follows from the
/// operations is set here.
pub fn workload(built: Built, replay: Replay) -> Workload {
    let weights = built
        .counts()
        .into_iter()
        .fold(Weights::default(), |all, (action, count)| {
            all.with(action, u32::try_from(count).unwrap_or(u32::MAX))
        });
    let bytes_max = built.bytes_max();
    let sizes = Sizes::Uniform {
        low: 0,
        high: bytes_max,
    };
    let steps = built.steps;
    let (operations, workers) = (steps.all.len() as u64, steps.of_workers.len() as u32);
    let mut mix = Mix {
        files: steps.prepared.len() as u64,
        transactions: operations,
        sizes: sizes.clone(),
        append_sizes: sizes,
        size_max_bytes: bytes_max,
        ..Mix::default()
    };
    mix.layout.shape = match built.places {
        1 => Shape::Flat,
        places => Shape::Subdirectories(places),
    };
    mix.layout.maildir = weights.get(Action::Deliver) > 0;
    mix.weights = weights;
    let mut deviations = replay.deviations;
    deviations.extend(built.deviations);
    mix.replay = Some(Box::new(Replay {
        operations,
        threads: built.threads,
        dependencies: steps.dependencies.len() as u64,
        deviations,
        loaded: Loaded::new(steps),
        ..replay
    }));
    Workload {
        workers: Workers::Shared {
            writers: workers,
            readers: 0,
            pools: 1,
        },
        contents: Some(ContentSpec {
            kind: ContentKind::Incompressible,
            dedup: 1.0,
        }),
        ..mix.into()
    }
}
