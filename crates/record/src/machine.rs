//! What the kernel counted over the time of a phase.

use serde::{Deserialize, Serialize};

/// See the module's text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineOverTime {}
