//! The durability level of acknowledged changes. Only results with the same level are comparable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::Durability;
use system::{Class, Device, DurabilityFacts, Fact, Mount, Target};

use record::run::Record;

/// Durability level: what a change had reached when its operation was acknowledged. Levels are
/// ordered from the least to the most durable.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DurabilityTier {
    /// Memory. No change ever reaches a device.
    Memory,
    /// The page cache. The kernel writes the change to the device later.
    PageCache,
    /// The device or the server, whose cache was not flushed.
    HandedOver,
    /// The device or the server, which acknowledged a flush.
    FlushAcknowledged,
}

impl DurabilityTier {
    /// The name as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::PageCache => "page-cache",
            Self::HandedOver => "handed-over",
            Self::FlushAcknowledged => "flush-acknowledged",
        }
    }
}

/// The durability level that acknowledged changes had reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilitySummary {
    /// The requested durability policy, such as `none` or `fsync`.
    pub policy: String,
    /// The lowest level of all targets.
    pub tier: Fact<DurabilityTier>,
    /// Whether a server, not a device, is behind the page cache of the target with the lowest
    /// level.
    pub is_server: bool,
    /// Guarantee of an acknowledged write in the terms of the protocol; absent if the engine calls
    /// no server itself, or if the protocol defines no such guarantee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<String>,
}

pub(super) fn summary(record: &Record) -> DurabilitySummary {
    let policy = record.spec.durability_of_writes();
    let of = |tier, is_server| DurabilitySummary {
        policy: record.spec.durability.to_string(),
        tier,
        is_server,
        stability: None,
    };
    if record.spec.engine.calls_server() {
        return DurabilitySummary {
            stability: record
                .locations
                .iter()
                .find_map(|location| location.server.as_ref()?.stability.clone()),
            ..of(Fact::Known(of_server(policy)), true)
        };
    }
    if !record.spec.engine.makes_files() {
        return of(Fact::Known(DurabilityTier::Memory), false);
    }
    let mut lowest: Option<(DurabilityTier, bool)> = None;
    for location in &record.locations {
        let target = match &location.target {
            Fact::Known(target) => target,
            Fact::NotApplicable => continue,
            Fact::Unavailable(why) => return of(Fact::Unavailable(why.clone()), false),
        };
        let (Fact::Known(mount), Fact::Known(class)) = (&target.mount, &target.class) else {
            let why = target.mount.why().unwrap_or("the mount is not known");
            return of(Fact::Unavailable(why.to_owned()), false);
        };
        let Some(facts) = &location.durability else {
            return of(
                Fact::Unavailable("the record has no facts of durability".to_owned()),
                false,
            );
        };
        let tier = match of_target(record, facts, (target, mount, *class)) {
            Ok(tier) => (tier, mount.has_server()),
            Err(why) => return of(Fact::Unavailable(why), true),
        };
        lowest = Some(lowest.map_or(tier, |lowest| if tier.0 < lowest.0 { tier } else { lowest }));
    }
    match lowest {
        Some((tier, is_server)) => of(Fact::Known(tier), is_server),
        None => of(Fact::NotApplicable, false),
    }
}

/// Durability level of an engine that calls an NFS server itself. By the NFS protocol, a reply to a
/// COMMIT, or to a write that is not UNSTABLE, asserts that the data is on stable storage. Policies
/// that wait for such a reply therefore reach the highest level.
fn of_server(policy: Durability) -> DurabilityTier {
    match policy {
        Durability::None | Durability::Batch(_) => DurabilityTier::HandedOver,
        _ => DurabilityTier::FlushAcknowledged,
    }
}

fn of_target(
    record: &Record,
    facts: &DurabilityFacts,
    (target, mount, class): (&Target, &Mount, Class),
) -> Result<DurabilityTier, String> {
    use DurabilityTier::{FlushAcknowledged, HandedOver, Memory, PageCache};
    if class == Class::Memory || target.device.known().is_some_and(Device::is_memory) {
        return Ok(Memory);
    }
    if facts.syncs_ignored == Fact::Known(true) {
        return Ok(PageCache);
    }
    let waits = match record.spec.durability_of_writes() {
        Durability::None | Durability::Batch(_) => facts.synchronous == Fact::Known(true),
        _ => true,
    };
    if waits {
        if let (Fact::Unavailable(why), false) = (&facts.barriers, mount.is_fuse()) {
            return Err(why.clone());
        }
        let stays_here =
            facts.smb.known().map(|smb| &smb.fsync_reaches_server) == Some(&Fact::Known(false));
        let is_without_flush =
            facts.barriers == Fact::Known(false) || stays_here || mount.is_fuse();
        return Ok(if is_without_flush {
            HandedOver
        } else {
            FlushAcknowledged
        });
    }
    // NFS and SMB clients send written data to the server when a file is closed.
    if record.spec.direct || facts.nfs.is_known() || facts.smb.is_known() {
        return Ok(HandedOver);
    }
    if class == Class::Network || mount.is_fuse() {
        let kind = &mount.file_system_type;
        return Err(format!(
            "when a {kind} client sends what was written is not known"
        ));
    }
    Ok(PageCache)
}
