//! Four clients on hosts of their own, each with the storage `nfs`, on one server.

use std::ffi::OsStr;

use record::Outcome;

use super::hosts::{Hosts, record};
use crate::nfs::ganesha::{Ganesha, MOUNT_PORT, NFS_PORT};
use crate::nfs::wire::Capture;
use crate::nfs::{Traffic, tell};
use crate::support::Running;

#[test]
fn what_four_clients_have_sent_is_what_the_server_was_asked() {
    let Some(mut hosts) = Hosts::start(4) else { return };
    let Some(ganesha) = Ganesha::start() else { return };
    hosts.order(&format!("join {}", ganesha.process()), "joined");
    let url = format!("nfs://10.77.0.100:{NFS_PORT}/export?mountport={MOUNT_PORT}");
    let options =
        "--mix read=4,append=1,create=2,delete=2,stat=1 --files 50 --transactions 300 --workers 2 --depth 4 --verify";
    for neighbour in ["", " --neighbour 1"] {
        let Some(capture) = Capture::begin_at(&ganesha, "eth0") else {
            return;
        };
        let command = hosts.run_at(4, OsStr::new(&url), &format!("{options}{neighbour}"));
        let ended = Running::to_its_end(command, hosts.job.scene.path());
        let wire = capture.end();
        let record = record(&ended.code(0).output);
        ended.assert(record.actual.outcome == Outcome::Complete, "it did not complete");
        ended.assert(record.actual.errors.is_empty(), "there are errors");
        let transactions = record.actual.transactions().next().unwrap();
        assert_eq!(transactions.transactions(), 8 * 300);
        let sent = Traffic::of_output(&ended.output).sent();
        ended.assert(
            sent == wire.calls,
            &format!("the ranks count {sent:?}, the wire has {:?}", wire.calls),
        );
        tell(&format!("four clients{neighbour}: {sent:?}"));
        assert!(ganesha.names().is_empty());
    }
}
