#!/bin/bash
# power-cut.sh PROGRAM MARKS FILE_SYSTEM:DURABILITY[:nobarrier]...
#
# Runs in a guest of the lab. For each FILE_SYSTEM argument, performs a run with an acknowledgement
# log, and marks MARKS points in time during the run. Afterwards, for each point, writes to a blank
# disk what was flushed before that point. Mounts this disk, which recovers the file system, and
# compares it with the acknowledgement log at the same point.
#
# For each argument, the results contain a folder with N.json, the output of verify-log for point N.
# For fsync+dir, the folder also contains damaged.json, the output after three files were damaged,
# and damage: lines of a kind of damage and the name of the damaged file.
#
# The first disk is for the log of writes; each run uses one further disk.
set -euo pipefail
program=$1 marks=$2
shift 2
read -ra disks <<<"$LAB_DISKS"
log=${disks[0]} disks=("${disks[@]:1}")
# The acknowledgement log is in memory, so the simulated power cut does not affect it.
work=/mnt/work
mkdir -p "$work" /mnt/logged /mnt/recovered
modprobe loop
files=50

# has_lines FILE COUNT
has_lines() { [[ -e $1 ]] && (($(wc -l <"$1") >= $2)); }

# verify RESULT: runs verify-log. Exit status 1 means that the result contains losses.
verify() {
    "$program" verify-log /mnt/recovered --ack-log "$work/ack-log" --format json >"$1" || [[ $? == 1 ]]
}

# damage RESULTS: flips a bit of one file, truncates a second one and moves a third one away.
# Files of operations in flight are left out, because their expected contents are not known.
damage() {
    local own whole=() path name
    own=(/mnt/recovered/postmark-*)
    while ((${#whole[@]} < 3)) && read -r path; do
        name=${path#"${own[0]}/"}
        tail -n 2 "$work/ack-log" | grep -q " $name\( \|\$\)" || whole+=("$path")
    done < <(find "${own[0]}" -type f -size +1 ! -name '.*' ! -path '*/tmp/*' | sort)
    /usr/bin/python3 -c 'import sys
with open(sys.argv[1], "r+b") as file:
    byte = file.read(1)
    file.seek(0)
    file.write(bytes([byte[0] ^ 0x20]))' "${whole[0]}"
    truncate -s 100 "${whole[1]}"
    # Moving the file away is enough: for verify-log, no file with its name exists.
    mv "${whole[2]}" /mnt/recovered/away
    printf '%s\n' "torn ${whole[0]##*/}" "wrong-size ${whole[1]##*/}" "missing ${whole[2]##*/}" >"$1/damage"
    verify "$1/damaged.json"
}

for case; do
    IFS=: read -r type durability barrier <<<"$case:"
    barrier=${barrier%:}
    disk=${disks[0]} disks=("${disks[@]:1}")
    results=$LAB_SHARED/$case
    mkdir "$results"
    rm -rf "${work:?}"/*
    device=$(log-writes create "$disk" "$log" logged)
    local-fs "$type" "$device" /mnt/logged
    "$program" run --mix deliver=4,rename=2,delete=3,create=2 --files "$files" --transactions 100000000 --size 600..4000 \
        --no-space-check --durability "$durability" --ack-log "$work/all" --archive none --quiet --target /mnt/logged \
        >"$work/output" 2>&1 &
    run=$!
    # Waits for the transactions, which start after a sync of the pool. Before them, the log
    # contains the first line and two lines for each file of the pool.
    until has_lines "$work/all" $((1 + 2 * files + 10)); do
        kill -0 "$run" || { cat "$work/output"; exit 1; }
        sleep 0.1
    done
    # With nobarrier, the file system sends no flushes from now on.
    [[ -z $barrier ]] || mount -o "remount,$barrier" /mnt/logged
    log-writes marks logged "$work/all" "$marks" 3000 >"$work/marks"
    kill -KILL "$run"
    wait "$run" || true
    umount /mnt/logged
    log-writes remove logged

    truncate -s "$(blockdev --getsize64 "$disk")" "$work/disk"
    number=0 before=
    while read -r mark size; do
        number=$((number + 1))
        log-writes replay "$log" "$work/disk" "$mark" $before >/dev/null
        before=$mark
        cp --sparse=always "$work/disk" "$work/recovered"
        head -c "$size" "$work/all" >"$work/ack-log"
        loop=$(losetup --find --show "$work/recovered")
        # btrfs knows devices by the identity of their file system, which is that of the first disk
        # and of the disk of the previous point.
        [[ $type != btrfs ]] || btrfs device scan --forget
        # With -i, mount does not call mount.nilfs2, which would start a cleaner process.
        mount -i -t "$type" "$loop" /mnt/recovered
        verify "$results/$number.json"
        [[ $durability != fsync+dir || -n $barrier || $number != "$marks" ]] || damage "$results"
        umount /mnt/recovered
        losetup -d "$loop"
    done <"$work/marks"
    echo "$case: after $SECONDS s"
done
