#!/bin/bash
# studies.sh PROGRAM BLOCKS FILES TRANSACTIONS
#
# Runs in a guest of the lab. Performs small versions of studies from papers, whose file systems and
# protocols most machines lack. The results contain sessions.json, sessions.txt, completion.json and
# completion.txt.
set -euo pipefail
program=$1 blocks=$2 files=$3 transactions=$4
read -ra disks <<<"$LAB_DISKS"
export POSTMARK_ARCHIVE=/tmp/archive.db

# study NAME: performs a study. Standard input is the rest of its study file.
study() {
    {
        printf 'name = "%s"\nlayout = "%s"\nblocks = %s\nquiet-time = "0s"\n' "$1" "$1" "$blocks"
        [[ $blocks -ge 5 ]] || echo 'twin = false'
        cat
    } >"/tmp/$1.toml"
    "$program" study "/tmp/$1.toml" --with-published --quiet >"$LAB_SHARED/$1.txt"
    "$program" compare "$1" --layout "$1" --format json >"$LAB_SHARED/$1.json"
    echo "$1: after $SECONDS s"
}

study sessions <<END
baseline = "ext3"
targets = ["make:ext3?size=64MiB", "make:ext4?size=64MiB", "make:nilfs2?size=192MiB", "make:f2fs?size=192MiB"]
[counterparts]
ext3 = "ext3"
nilfs2 = "LFS"
[[workload]]
preset = "lfs-session"
overhead = false
files = $files
transactions = $transactions
END

nfs-loopback --version 3 "${disks[0]}" /mnt/studies/nfs3
nfs-loopback --version 4.2 "${disks[1]}" /mnt/studies/nfs4.2
iscsi-loopback "${disks[2]}" /mnt/studies/iscsi >/dev/null
{
    cat <<END
targets = ["make:ext4?size=64MiB", { name = "NFS v3", at = "/mnt/studies/nfs3" }, { name = "NFS v4.2", at = "/mnt/studies/nfs4.2" }, { name = "iSCSI", at = "/mnt/studies/iscsi" }]
[counterparts]
"NFS v3" = "NFS v3"
iSCSI = "iSCSI"
END
    for pool in 1000:$files 5000:$((5 * files)); do
        printf '[[workload]]\nname = "%s files"\npreset = "nfs-iscsi-%s"\noverhead = false\nfiles = %s\ntransactions = %s\n' \
            "${pool#*:}" "${pool%:*}" "${pool#*:}" "$transactions"
        [[ $blocks -ge 5 ]] || break
    done
} | study completion
