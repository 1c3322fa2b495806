#!/usr/bin/env bash
# Real kind clusters without a container registry: makes a node image and base images from Debian's packages and our own builds, starts
# a Docker Engine of its own, and runs a command with it. README.md here says how it is made, and what it leaves.
set -euo pipefail
HERE=$(CDPATH='' cd -- "${BASH_SOURCE[0]%/*}" && pwd)
ROOT=${HERE%/test-setup/kind}
EXIT_USAGE=2
EXIT_PREREQUISITE=3
CACHE=${KIND_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/resource-broker/kind}
# Below it are all containers of this engine.
CGROUP=resource-broker-kind
ENGINE=''
# What the process outside of the namespaces has changed on the machine, and undoes.
MODULES='' INSTANCES_BEFORE=''
# Each node takes some thirty of them, and Linux gives only 128 to a user; beyond that programs end with "too many open files".
INSTANCES=/proc/sys/fs/inotify/max_user_instances
INSTANCES_NEEDED=1024

# shellcheck source=images.sh
source "$HERE/images.sh"

USAGE="Runs a command with a Docker Engine of its own, in which kind makes clusters without a registry. Everything that is made for
it is kept in $CACHE; of what the command starts nothing is left.

Usage: engine.sh COMMAND [ARGUMENT]...
       engine.sh --prepare     makes the images, and runs nothing

The command finds docker, kind, kubectl and helm in its PATH, and in its environment:
  KIND_NODE_IMAGE  the node image, for kind create cluster --image
  KIND_CACHE       where all of it is kept (can be set)
Images resource-broker/{broker,agent,brokerctl}:0.1.0 of this work tree are in the engine, and resource-broker-kind/busybox."

say() { printf 'kind: %s\n' "$*"; }

fail() {
  printf 'kind: %s\n' "$*" >&2
  exit 1
}

not_tested() { # <why>...
  local why
  for why; do printf 'NOT TESTED: no kind cluster can be had: %s\n' "$why" >&2; done
  exit "$EXIT_PREREQUISITE"
}

# All that is missing is said at once.
check_machine() {
  local program
  local -a lacks=()
  [[ $(uname -s)-$(uname -m) == Linux-x86_64 ]] || lacks+=("this is $(uname -s) on $(uname -m), not Linux on x86_64")
  [[ $EUID == 0 ]] || lacks+=("only root can start a Docker Engine")
  for program in dockerd:docker.io /usr/bin/docker:docker.io containerd:containerd runc:runc debootstrap:debootstrap iptables:iptables ip:iproute2 \
    unshare:util-linux flock:util-linux make:make; do
    command -v "${program%:*}" >/dev/null || lacks+=("${program%:*} is not installed (Debian's package ${program#*:})")
  done
  if ((${#lacks[@]} == 0)) && ! unshare --mount --pid --fork --net iptables -t nat -L >/dev/null 2>&1; then
    lacks+=("this machine gives no namespaces, or no iptables in them")
  fi
  if ((${#lacks[@]} > 0)); then not_tested "${lacks[@]}"; fi
}

# One at a time: an engine owns its folder. The lock is held by this process and those that come after it.
take_lock() {
  mkdir -p "$CACHE"
  exec 7>"$CACHE/lock"
  if flock --nonblock 7; then return; fi
  say "another process uses $CACHE; waiting …"
  flock 7
}

# In the process that stays outside, so that it is done whatever happens to the engine.
open_machine() {
  trap close_machine EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  RUN=$(mktemp -d /tmp/kind-engine.XXXXXX)
  export RUN
  remove_cgroups
  # Docker would make it, and leave it.
  if mkdir /lib/modules 2>/dev/null; then MODULES=/lib/modules; fi
  if (($(<"$INSTANCES") < INSTANCES_NEEDED)); then
    INSTANCES_BEFORE=$(<"$INSTANCES")
    printf '%s\n' "$INSTANCES_NEEDED" >"$INSTANCES"
  fi
}

# shellcheck disable=SC2317 # a trap calls it
close_machine() {
  local tries
  # Processes that the kernel has just ended may still be in them.
  for ((tries = 0; tries < 50; tries++)); do
    remove_cgroups
    if [[ -z $(find /sys/fs/cgroup -type d -path "*/$CGROUP*" -print -quit) ]]; then break; fi
    sleep 0.1
  done
  rm -rf "$RUN"
  if [[ -n $MODULES ]]; then rmdir "$MODULES"; fi
  if [[ -n $INSTANCES_BEFORE ]]; then printf '%s\n' "$INSTANCES_BEFORE" >"$INSTANCES"; fi
}

# With process and mount namespaces of its own, the kernel ends and unmounts all of it together with this process.
in_namespaces() { # <flag of unshare or nothing> <task> <argument>...
  unshare --mount --pid --fork --kill-child --mount-proc ${1:+"$1"} "$BASH" "$HERE/engine.sh" "${@:2}"
}

# What an engine that was killed has left of itself.
remove_cgroups() {
  find /sys/fs/cgroup -depth -type d -path "*/$CGROUP*" -exec rmdir {} + 2>/dev/null || true
}

start_engine() { # <flag of dockerd>...
  local tries folder
  # A new start after a build finds nothing of it.
  rm -rf "${RUN:?}"/*
  mkdir "$RUN"/{bin,engine-bin,tmp}
  # The engine and its helpers also write here. In these namespaces it goes elsewhere.
  for folder in run etc; do
    mkdir -p "$RUN/$folder"/{upper,work}
    mount -t overlay overlay -o "lowerdir=/$folder,upperdir=$RUN/$folder/upper,workdir=$RUN/$folder/work" "/$folder"
  done
  printf '{}\n' >"$RUN/daemon.json"
  ln -s "$HERE/runc" "$RUN/engine-bin/"
  # The client that belongs to the engine: a newer one has no BuildKit of its own.
  ln -s /usr/bin/docker "$RUN/bin/"
  export PATH=$RUN/bin:$PATH
  export DOCKER_HOST=unix://$RUN/docker.sock DOCKER_CONFIG=$RUN/config DOCKER_BUILDKIT=1
  # In a session of its own: Ctrl-C is for the command, and this engine is stopped after it.
  PATH=$RUN/engine-bin:$PATH setsid dockerd --config-file "$RUN/daemon.json" --data-root "$CACHE/engine" --exec-root "$RUN/exec" --pidfile "$RUN/pid" --host "$DOCKER_HOST" \
    --cgroup-parent "/$CGROUP" --oom-score-adjust 0 --storage-driver overlay2 "$@" >"$CACHE/dockerd.log" 2>&1 7>&- &
  ENGINE=$!
  for ((tries = 0; tries < 300; tries++)); do
    if docker version >/dev/null 2>&1; then break; fi
    kill -0 "$ENGINE" 2>/dev/null || fail "the Docker Engine did not start: $(tail -n 5 "$CACHE/dockerd.log")"
    sleep 0.2
  done
  remove_containers
}

remove_containers() {
  local -a there
  mapfile -t there < <(docker ps --all --quiet)
  if ((${#there[@]} > 0)); then docker rm --force --volumes "${there[@]}" >/dev/null; fi
  docker volume prune --force >/dev/null
  docker network prune --force >/dev/null
}

# shellcheck disable=SC2317 # a trap calls it
stop_engine() {
  local code=$?
  trap - EXIT
  trap '' INT TERM
  if [[ -n $ENGINE ]]; then
    remove_containers || true
    kill "$ENGINE" 2>/dev/null && wait "$ENGINE" 2>/dev/null
  fi
  exit "$code"
}

# In the network of the machine, for npm, but without touching it: no bridge, no rules.
task_build() {
  start_engine --bridge=none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false
  make_images
}

# In a network of its own: bridges and rules end with it.
task_run() { # <command> <argument>...
  ip link set lo up
  start_engine
  export KIND_NODE_IMAGE=$NODE_IMAGE KIND_EXPERIMENTAL_PROVIDER=docker
  TMPDIR=$RUN/tmp "$@" 7>&-
}

main() {
  case ${1:---help} in
    --help | -h)
      printf '%s\n' "$USAGE"
      exit $((${#} == 0 ? EXIT_USAGE : 0))
      ;;
    --build-in-namespaces | --run-in-namespaces)
      trap stop_engine EXIT
      trap 'exit 130' INT
      trap 'exit 143' TERM
      if [[ $1 == --build-in-namespaces ]]; then task_build; else task_run "${@:2}"; fi
      ;;
    *)
      check_machine
      take_lock
      find_programs
      open_machine
      prepare_debian
      if ! has_images; then in_namespaces '' --build-in-namespaces; fi
      if [[ $1 == --prepare ]]; then exit 0; fi
      in_namespaces --net --run-in-namespaces "$@"
      ;;
  esac
}

# In one line with its exit: a file that is changed meanwhile is not read on.
main "$@"; exit
