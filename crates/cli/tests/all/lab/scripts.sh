#!/bin/bash
# scripts.sh PROGRAM [SCRIPT DISKS COUNT ARGUMENT...]...
#
# Runs in a guest of the lab. Runs each SCRIPT of this folder with PROGRAM and the COUNT arguments
# that follow. Each script gets the next DISKS disks of the guest, and a subfolder of the results
# with the script's name.
set -euo pipefail
program=$1 results=$LAB_SHARED
shift
read -ra disks <<<"$LAB_DISKS"
while (($#)); do
    script=$1 count=$2 end=$((3 + $3))
    export LAB_DISKS="${disks[*]:0:count}" LAB_SHARED=$results/$script
    disks=("${disks[@]:count}")
    mkdir "$LAB_SHARED"
    bash "$(dirname "$0")/$script.sh" "$program" "${@:4:$3}"
    shift "$end"
    echo "$script: ended after $SECONDS s"
done
