#!/bin/bash
# two-clients.sh PROGRAM FOLDER [fresh]
#
# Runs in a guest of the lab. Performs runs of two ranks on the NFS 3 export that is mounted on
# FOLDER. Each rank uses a separate mount, which caches names and attributes like a separate client.
# The results contain the records of the runs:
#
# late.json: clients use their caches for 10 s, and a program on the second client looks up files
# before these exist.
# changed.json: clients use their caches for 10 s, and each rank changes files of the other rank.
# fresh.json: clients always ask the server; only with the argument fresh.
set -euo pipefail
program=$1
export_=$(awk -v folder="$2" '$2 == folder { print $1 }' /proc/mounts)
files=8
clients=(/mnt/client0 /mnt/client1) shared=/mnt/shared
mkdir -p "${clients[@]}" "$shared"

mount_clients() {
    for client in "${clients[@]}"; do
        mount -t nfs -o "vers=3,nolock,mountproto=tcp,nosharecache,$1" "$export_" "$client"
    done
}

# Looks up the files of worker 0 on the second client until all exist. It starts as soon as the
# directories exist, and with the last files. Each file has its own directory, because a reply about
# one name invalidates the client's cache of the whole directory.
expect_files() {
    local directories pool number seen='' never
    exec {never}<> <(:)
    # To list a directory, a client always asks the server.
    until directories=("${clients[1]}"/postmark-*/w0/s*) && ((${#directories[@]} == files)); do
        pause
    done
    pool=${directories[0]%/*}
    until [[ -n $seen ]]; do
        seen=yes
        for ((number = files; number > 0; number--)); do
            [[ -e $pool/s$((number % files))/$number ]] || seen=
        done
        pause
    done
}

# Waits for 20 ms without starting a process, because processes start slowly under emulation.
pause() { read -rt 0.02 -u "$never" || true; }

# run NAME MIX: performs a run of two ranks, and writes its record to NAME.json.
run() {
    # shellcheck disable=SC2016 # the rank is known to each process
    mpirun --allow-run-as-root --oversubscribe --bind-to none --mca plm isolated -n 2 \
        unshare --mount sh -c 'mount --bind "/mnt/client$OMPI_COMM_WORLD_RANK" "$0" && exec "$@"' "$shared" \
        "$program" run --neighbour 1 --verify --mix "$2" --files "$files" --dirs "$files" --names decimal --transactions 20 \
        --no-overhead --archive none --quiet --force --format json --output "$LAB_SHARED/$1.json" --target "$shared"
    echo "two clients: $1 after $SECONDS s"
}

# run_expected NAME MIX: performs a run while expect_files looks up its files.
run_expected() {
    expect_files &
    local expecting=$!
    run "$@"
    kill "$expecting" 2>/dev/null || true
    wait "$expecting" || true
}

# until_late RUN NAME MIX: performs a run up to three times, until a rank notices a change late.
# In a slow guest, the 10 s of the caches may pass before a rank uses them.
until_late() {
    for _ in {1..3}; do
        "$@"
        ! grep -q '"stale":{' "$LAB_SHARED/$2.json" || break
    done
}

changes=append=1,create=1,delete=1
mount_clients actimeo=10
until_late run_expected late read=1
# After the transactions, each rank checks the files that it has prepared. Its client has cached
# these files, and the other rank has changed them.
until_late run changed "$changes"
umount "${clients[@]}"
[[ ${3-} == fresh ]] || exit 0
mount_clients noac,lookupcache=none
run_expected fresh "$changes"
umount "${clients[@]}"
