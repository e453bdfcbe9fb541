//! **`emulated`** (DOUBTFUL). The processors are emulated in software. An emulator takes about ten
//! times as long for an instruction, and this factor differs between kinds of instructions. So
//! times and rates are those of the emulator, not of a file system. The run is only DOUBTFUL,
//! because counts, contents and order are correct, and a study may examine them. *Threshold*: any
//! run on such a machine. *Evidence*: `/sys/class/dmi/id/sys_vendor` is `QEMU` and the processor is
//! named TCG (`host.emulated`); not judged if it is not certain whether the processors are
//! emulated. *What to do*: use real or virtualized processors.

use super::planned::is_emulated;
use super::rule::*;

/// The processors are emulated in software, so times and rates are those of the emulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Emulated {}

impl Rule for Emulated {
    const ADVICE: &str = "use real or virtualized processors";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let hosts = record.cluster.iter().flat_map(|cluster| &cluster.hosts);
        let mut hosts = std::iter::once(&record.host).chain(hosts.map(|host| &host.host));
        hosts.any(is_emulated).then_some(Self {})
    }

    fn foresee(planned: &Planned<'_>) -> Option<Foreseen<Self>> {
        let is_emulated = is_emulated(planned.host);
        is_emulated.then(|| Foreseen::new(Self {}, Occurs::Always))
    }

    fn sentence(&self) -> String {
        "processors emulated in software (QEMU), so times and rates are those of the emulator"
            .to_owned()
    }
}
