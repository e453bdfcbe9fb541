#!/bin/bash
# flakey.sh PROGRAM ALLOWED...
#
# Runs in a guest of the lab. For each value ALLOWED of --on-error, performs a run on a device whose
# writes start to fail. For each run, the results contain ALLOWED.json (the record),
# ALLOWED.status (the exit status), ALLOWED.messages and ALLOWED.acknowledged: the number of
# acknowledged operations when the device started to fail, and at the end.
set -euo pipefail
program=$1
shift
read -ra disks <<<"$LAB_DISKS"
work=/mnt/work
mkdir -p "$work" /mnt/flaky
files=50

acknowledged() { grep -c '^[0-9a-f]* A ' "$work/ack-log"; }

for allowed; do
    disk=${disks[0]} disks=("${disks[@]:1}")
    rm -rf "${work:?}"/*
    device=$(flakey create "$disk" flaky)
    local-fs ext4 "$device" /mnt/flaky
    "$program" run --mix deliver=4,rename=2,delete=3,create=2 --files "$files" --transactions 2000 --size 600..4000 \
        --durability fsync+dir --no-overhead --on-error "$allowed" --ack-log "$work/ack-log" --archive none --quiet \
        --format json --output "$LAB_SHARED/$allowed.json" --target /mnt/flaky 2>"$LAB_SHARED/$allowed.messages" &
    run=$!
    until [[ -e $work/ack-log ]] && (($(wc -l <"$work/ack-log") >= 1 + 2 * files + 40)); do
        kill -0 "$run" || { cat "$LAB_SHARED/$allowed.messages"; exit 1; }
        sleep 0.1
    done
    flakey error flaky
    acknowledged >"$LAB_SHARED/$allowed.acknowledged"
    status=0
    wait "$run" || status=$?
    echo "$status" >"$LAB_SHARED/$allowed.status"
    acknowledged >>"$LAB_SHARED/$allowed.acknowledged"
    umount /mnt/flaky
    dmsetup remove flaky
    echo "$allowed: after $SECONDS s"
done
