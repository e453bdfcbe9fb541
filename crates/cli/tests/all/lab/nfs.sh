#!/bin/bash
# nfs.sh PROGRAM TRANSACTIONS
#
# Runs in a guest of the lab. Performs runs of the engine nfs with the NFS server of the kernel,
# over loopback. For each run, the results contain NAME.json (the record) and NAME.server: a line
# for each procedure, with the number of calls that the server counted.
set -euo pipefail
program=$1 transactions=$2
read -ra disks <<<"$LAB_DISKS"

# The numbers of NFS version 3 calls that the server has counted, by procedure.
served() {
    awk '$1 == "proc3" { for (i = 3; i <= NF; i++) print "procedure" i - 3, $i }' /proc/net/rpc/nfsd
}

# Mounting the export only checks that the server works. The runs do not use the mount.
nfs-loopback --version 3 "${disks[0]}" /mnt/nfs
export_=$(awk '$2 == "/mnt/nfs" { sub(/^[^:]*:/, "", $1); print $1 }' /proc/mounts)
umount /mnt/nfs
echo "exported: $export_ after $SECONDS s"
mix=read=3,append=1,create=2,delete=2,stat=2,rename=1,link=1,symlink=1,list=1,list-stat=1,mkdir=1,rmdir=1,replace=1,truncate=1
for run in one eight synced; do
    case $run in
    one) options=(--depth 1) ;;
    eight) options=(--depth 8) ;;
    synced) options=(--depth 8 --durability fsync) ;;
    esac
    served >/tmp/served
    "$program" run --mix "$mix" --files 100 --size 1..8000 --transactions "$transactions" --seed 42 --verify "${options[@]}" \
        --archive none --quiet --format json --output "$LAB_SHARED/$run.json" --target "nfs://127.0.0.1$export_"
    served >/tmp/served.after
    awk 'NR == FNR { before[$1] = $2; next } $2 - before[$1] { print $1, $2 - before[$1] }' /tmp/served /tmp/served.after \
        >"$LAB_SHARED/$run.server"
    echo "$run: after $SECONDS s"
done
