#!/bin/bash
# crash-rounds.sh PROGRAM ROUNDS WAY:DURABILITY...
#
# Runs in a guest of the lab. For each argument, performs ROUNDS rounds of `postmark crash` on ext4 on
# a device of the device mapper. WAY is flakey or log-writes. The results contain
# WAY:DURABILITY.json. The first disk is for the log of writes; each argument uses one further disk.
set -euo pipefail
program=$1 count=$2
shift 2
read -ra disks <<<"$LAB_DISKS"
log=${disks[0]} disks=("${disks[@]:1}")
# The acknowledgement logs are in memory, so a crash does not affect them.
mkdir -p /mnt/crashed /mnt/ack

for rounds; do
    way=${rounds%%:*} durability=${rounds#*:}
    case $way in
    flakey) device=$(flakey create "${disks[0]}" crashed) ;;
    log-writes) device=$(log-writes create "${disks[0]}" "$log" crashed) ;;
    esac
    disks=("${disks[@]:1}")
    local-fs ext4 "$device" /mnt/crashed
    # Status 1 means losses, which are in the result.
    "$program" crash --rounds "$count" --crash "$way:crashed" --mix deliver=4,rename=2,delete=3,create=2 \
        --files 50 --size 600..4000 --durability "$durability" --target /mnt/crashed \
        --ack-log "/mnt/ack/$rounds" --archive none --format json >"$LAB_SHARED/$rounds.json" || [[ $? == 1 ]]
    umount /mnt/crashed
    dmsetup remove crashed
    echo "$rounds: after $SECONDS s"
done
