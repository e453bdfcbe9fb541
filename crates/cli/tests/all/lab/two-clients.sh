#!/bin/bash
# two-clients.sh PROGRAM FOLDER [fresh]
#
# In a guest of the lab: runs of two ranks, each of which sees the export that is mounted on the folder (NFS 3) by a mount of its
# own, as a client of its own would: attributes and names are cached by each. The folder of results gets the records. Clients
# believe what they have cached for 10 s in late.json, where another program of the second client asks for files before they are
# there, and in changed.json, where ranks change files of one another. In fresh.json, with that word, they always ask the server.
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

# Asks for every file of worker 0 from the moment when their directories are there, the last ones first, until all are seen. Each
# has a directory of its own: whatever a client is told of one name tells it that others in that directory may have changed.
expect_files() {
    local directories pool number seen='' never
    exec {never}<> <(:)
    # To list a directory a client asks the server, whatever it has cached.
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

# No process: they take long under emulation.
pause() { read -rt 0.02 -u "$never" || true; }

# NAME MIX: one run, with its record in NAME.json.
run() {
    # shellcheck disable=SC2016 # the rank is known to each process
    mpirun --allow-run-as-root --oversubscribe --bind-to none --mca plm isolated -n 2 \
        unshare --mount sh -c 'mount --bind "/mnt/client$OMPI_COMM_WORLD_RANK" "$0" && exec "$@"' "$shared" \
        "$program" run --neighbour 1 --verify --mix "$2" --files "$files" --subdirs "$files" --names decimal --transactions 20 \
        --no-overhead --archive none --quiet --force --format json --output "$LAB_SHARED/$1.json" --target "$shared"
    echo "two clients: $1 after $SECONDS s"
}

# The same, beside the other program.
run_expected() {
    expect_files &
    local expecting=$!
    run "$@"
    kill "$expecting" 2>/dev/null || true
    wait "$expecting" || true
}

# RUN NAME MIX: repeated until something is late. A guest may be too slow for a look within 10 s.
until_late() {
    for _ in {1..3}; do
        "$@"
        ! grep -q '"stale":{' "$LAB_SHARED/$2.json" || break
    done
}

changes=append=1,create=1,delete=1
mount_clients actimeo=10
until_late run_expected late read=1
# After the transactions a rank looks at what it has prepared, which its client has cached, and another rank has changed.
until_late run changed "$changes"
umount "${clients[@]}"
[[ ${3-} == fresh ]] || exit 0
mount_clients noac,lookupcache=none
run_expected fresh "$changes"
umount "${clients[@]}"
