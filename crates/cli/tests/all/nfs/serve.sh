#!/bin/bash
# serve.sh FOLDER MIB [SETTINGS]
#
# Runs in a separate network and mount namespace (unshare --net --mount). Starts NFS-Ganesha, a
# portmapper and a D-Bus system bus. The server exports an ext4 of MIB mebibytes and a small one.
# SETTINGS are added to its NFS_CORE_PARAM. The script executes the commands on its standard input,
# and answers each with a line. When its input is closed for any reason, it ends all programs and
# removes the file systems.
set -euo pipefail
folder=$1 mib=$2 settings=${3:-}
server= mapper= bus=

leave() {
    trap '' EXIT INT TERM HUP
    # Hides the messages of the shell about killed processes.
    exec 2>/dev/null
    # shellcheck disable=SC2086 # unquoted: absent processes are omitted
    kill -KILL $server $mapper $bus || true
    wait
    umount "$folder/served" "$folder/small" || true
}
trap leave EXIT
trap 'exit 1' INT TERM HUP

# make_file_system IMAGE MIB FOLDER INODES: creates an ext4 in a new image and mounts it.
make_file_system() {
    truncate -s "$2M" "$1"
    mkfs.ext4 -q -F -N "$4" -E lazy_itable_init=1 "$1"
    mkdir -p "$3"
    # When the last process of this namespace ends, the kernel unmounts the file system and detaches
    # its loop device.
    mount -o loop "$1" "$3"
}

# export_of NUMBER FOLDER NAME OPTIONS: prints the configuration of an export.
export_of() {
    echo "EXPORT { Export_Id = $1; Path = $2; Pseudo = /$3; $4 FSAL { Name = VFS; } }"
}

# An empty file system is mounted on /run, so that the server uses the portmapper, the bus and the
# files of this script and not those of the machine.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/rpcbind /run/ganesha /run/dbus
ip link set lo up
make_file_system "$folder/served.image" "$mib" "$folder/served" 150000
make_file_system "$folder/small.image" 8 "$folder/small" 2000
mkdir "$folder/served/"{export,squashed,privileged,readonly}
chmod 777 "$folder/served/export" "$folder/served/privileged" "$folder/small"
{
    echo "NFS_CORE_PARAM { Protocols = 3; NFS_Port = 12049; MNT_Port = 12050; Enable_NLM = false; Enable_RQUOTA = false;"
    echo "Mount_Path_Pseudo = true; $settings }"
    echo "NFSV4 { Graceless = true; RecoveryRoot = /run/ganesha; }"
    # If the server cached parts of directories, listings of changing directories would miss names.
    echo "MDCACHE { Dir_Chunk = 0; }"
    echo "EXPORT_DEFAULTS { Access_Type = RW; Squash = none; SecType = sys; }"
    export_of 1 "$folder/served/export" export ""
    export_of 2 "$folder/small" small ""
    export_of 3 "$folder/served/squashed" squashed "Squash = root_squash;"
    export_of 4 "$folder/served/privileged" privileged "PrivilegedPort = true;"
    export_of 5 "$folder/served/readonly" readonly "Access_Type = RO;"
} >/run/ganesha.conf
rpcbind -w -f &
mapper=$!
cat >/run/dbus.conf <<END
<busconfig>
  <listen>unix:path=/run/dbus/system_bus_socket</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/>
  </policy>
</busconfig>
END
dbus-daemon --config-file=/run/dbus.conf --nofork >/dev/null 2>&1 &
bus=$!

# Whether a server listens on a port of this namespace.
listens() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Waits for the portmapper and the bus: without a portmapper, the server would soon exit.
for _ in {1..500}; do
    ! { listens 111 && [ -S /run/dbus/system_bus_socket ]; } || break
    sleep 0.01
done

echo ready
while read -r word value; do
    case $word in
    # start EPOCH: starts the server. The epoch determines its write verifier.
    start)
        ganesha.nfsd -F -E "$value" -f /run/ganesha.conf -L "$folder/ganesha.log" -p /run/ganesha/pid -N NIV_EVENT \
            </dev/null >/dev/null 2>&1 &
        server=$!
        answer="failed: the server does not listen"
        for _ in {1..500}; do
            if ! kill -0 "$server" 2>/dev/null; then
                answer="failed: the server has ended"
                break
            fi
            if listens 12049 && listens 12050 && rpcinfo -p 127.0.0.1 | grep -q ' 12050 '; then
                answer="started $server"
                break
            fi
            sleep 0.01
        done
        echo "$answer"
        ;;
    # end SIGNAL
    end)
        kill -s "$value" "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
        server=
        echo ended
        ;;
    esac
done
