#!/bin/bash
# protocols.sh PROGRAM TRANSACTIONS RANKS FRESH FILE_SYSTEM...
#
# Runs in a guest of the lab. Performs the classic workload on each file system, and stores the
# counts of client and server. For each FILE_SYSTEM, the results contain NAME.json (the record),
# NAME.observed (the counts of 'postmark observe'), and NAME.client and NAME.server (lines of a
# counter and its increase). RANKS is the program built with MPI, for runs of two clients on the
# export of nfs3; it may be empty. FRESH is an argument of two-clients.sh, or empty.
set -euo pipefail
program=$1 transactions=$2 ranks=$3 fresh=$4
shift 4
read -ra disks <<<"$LAB_DISKS"

# The counters of the NFS server: all calls, and calls of version 3 by procedure.
nfs_server() {
    awk '$1 == "rpc" { print "total", $2 }
        $1 == "proc3" { for (i = 3; i <= NF; i++) print "procedure" i - 3, $i }
        $1 == "proc4" { print "compound", $4 }' /proc/net/rpc/nfsd
}

# The number of commands that the iSCSI server received. It has one target with one unit.
iscsi_server() {
    local unit=(/sys/kernel/config/target/core/iblock_*/disk/statistics/scsi_lu)
    echo "total $(<"${unit[0]}/num_cmds")"
}

# difference BEFORE AFTER: prints each counter that has increased, and its increase.
difference() {
    awk 'NR == FNR { before[$1] = $2; next } $2 - before[$1] { print $1, $2 - before[$1] }' "$1" "$2"
}

none() { :; }

for file_system; do
    disk=${disks[0]} disks=("${disks[@]:1}") folder=/mnt/$file_system
    case $file_system in
    nfs*)
        nfs-loopback --version "${file_system#nfs}" "$disk" "$folder"
        client=(nfs-operations "$folder") server=nfs_server
        ;;
    iscsi)
        client=(iscsi-operations "$(iscsi-loopback "$disk" "$folder")") server=iscsi_server
        ;;
    *)
        local-fs "$file_system" "$disk" "$folder"
        client=(none) server=none
        ;;
    esac
    # Data from creating the file system is written now, so that it is not counted for the run.
    sync
    "${client[@]}" >/tmp/client
    "$server" >/tmp/server
    echo "$file_system: mounted after $SECONDS s"
    "$program" observe --target "$folder" --format json --output "$LAB_SHARED/$file_system.observed" -- \
        "$program" run --engine raw --no-overhead --files $((transactions / 5)) --transactions "$transactions" --seed 42 --archive none --quiet \
        --format json --output "$LAB_SHARED/$file_system.json" --target "$folder"
    sync
    "${client[@]}" >/tmp/client.after
    "$server" >/tmp/server.after
    difference /tmp/client /tmp/client.after >"$LAB_SHARED/$file_system.client"
    difference /tmp/server /tmp/server.after >"$LAB_SHARED/$file_system.server"
    echo "$file_system: after $SECONDS s"
done
[[ -z $ranks ]] || bash "$(dirname "$0")/two-clients.sh" "$ranks" /mnt/nfs3 "$fresh"
