#!/bin/bash
# hosts.sh FOLDER COUNT
#
# Runs in a separate network and mount namespace (unshare --net --mount). Creates COUNT simulated
# hosts with separate network, mount, UTS and time namespaces, whose links a bridge connects. Host N
# has the name host-N and the address 10.77.0.N. Its monotonic clock is N * 1000 s ahead of that of
# the machine. A launcher in the namespaces of the script starts processes on host N by
# `FOLDER/agent 10.77.0.N COMMAND`. The script executes the commands on its standard input, and
# answers each with a line. When its input is closed for any reason, it kills all processes on the
# hosts and removes the hosts.
set -euo pipefail
folder=$1 count=$2
keepers=()

leave() {
    trap '' EXIT INT TERM HUP
    # Hides the messages of the shell about killed processes.
    exec 2>/dev/null
    local process
    # Kills all processes on the hosts, including stopped ranks. Processes in the network namespace
    # of the host `server` end by themselves.
    for process in /proc/[0-9]*; do
        case " ${names[*]:-} " in
        *" $(readlink "$process/ns/uts") "*) kill -KILL "${process#/proc/}" || true ;;
        esac
    done
    kill -KILL "${keepers[@]}" || true
    wait
}
trap leave EXIT
trap 'exit 1' INT TERM HUP

# keep NUMBER NAME ADDRESS COMMAND: creates a host. COMMAND, like unshare or nsenter, determines its
# network and mount namespaces.
keep() {
    local seconds=$(($1 * 1000)) file=$folder/keeper.$3
    "${@:4}" unshare --uts --time --monotonic "$seconds" --boottime "$seconds" --fork --kill-child \
        sh -c "hostname $2; echo \$\$ >'$file.new'; mv '$file.new' '$file'; exec sleep infinity" </dev/null >/dev/null &
    keepers+=($!)
}

# kept ADDRESS: waits until the host exists, and adds it to the host file of the launcher.
kept() {
    for _ in {1..500}; do
        [ ! -e "$folder/keeper.$1" ] || break
        sleep 0.01
    done
    keeper=$(cat "$folder/keeper.$1")
    names+=("$(readlink "/proc/$keeper/ns/uts")")
    echo "$1 slots=16" >>"$folder/hostfile"
}

# The network settings below apply only to the namespaces of the script and the hosts.
names=()
ip link set lo up
ip link add hub type bridge
ip address add 10.77.0.254/24 dev hub
ip link set hub up
for ((number = 1; number <= count; number++)); do
    keep "$number" "host-$number" "10.77.0.$number" unshare --net --mount
done
for ((number = 1; number <= count; number++)); do
    kept "10.77.0.$number"
    ip link add "link$number" type veth peer name eth0 netns "$keeper"
    ip link set "link$number" master hub up
    nsenter --target "$keeper" --net sh -c "ip link set lo up
        ip address add 10.77.0.$number/24 dev eth0; ip link set eth0 up"
done
cat >"$folder/agent" <<END
#!/bin/sh
# agent HOST COMMAND: runs a command on a host; replaces the launcher's ssh.
host=\$1
shift
# Files that the launcher leaves after a killed job are removed with the folder.
TMPDIR='$folder'
export TMPDIR
exec nsenter --target "\$(cat '$folder'/keeper."\$host")" --net --mount --uts --time -- sh -c "\$*"
END
chmod +x "$folder/agent"

echo ready
while read -r word number value; do
    case $word in
    # down HOST, up HOST: disables or enables the link of the host.
    down | up)
        ip link set "link$number" "$word"
        echo "$word"
        ;;
    # join PROCESS: adds the network namespace of a process as the host `server`, at 10.77.0.100.
    join)
        ip link add server type veth peer name eth0 netns "$number"
        ip link set server master hub up
        nsenter --target "$number" --net sh -c "ip address add 10.77.0.100/24 dev eth0; ip link set eth0 up"
        keep $((count + 1)) server 10.77.0.100 nsenter --target "$number" --net --mount
        kept 10.77.0.100
        echo joined
        ;;
    # delay HOST: redirects all packets between the host and other hosts to the network namespace of
    # the script, where a proxy delays them.
    delay)
        ip link set "link$number" nomaster
        ip route add "10.77.0.$number" dev "link$number"
        ip route add local 10.77.0.0/24 dev lo table 77
        ip rule add iif "link$number" lookup 77
        ip rule add iif hub to "10.77.0.$number" lookup 77
        echo delay
        ;;
    # slow HOST MBIT: limits the bandwidth to the host.
    slow)
        tc qdisc replace dev "link$number" root tbf rate "${value}mbit" burst 32kbit latency 400ms
        echo slow
        ;;
    esac
done
