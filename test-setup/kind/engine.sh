#!/usr/bin/env bash
# Real kind clusters without a container registry: makes a node image and base images from Debian's packages and our own builds, starts
# a Docker Engine of its own, and runs a command with it. test-setup/README.md says how it is made, and what it leaves.
set -euo pipefail
HERE=$(CDPATH='' cd -- "${BASH_SOURCE[0]%/*}" && pwd)
ROOT=${HERE%/test-setup/kind}
EXIT_USAGE=2
EXIT_PREREQUISITE=3
CACHE=${KIND_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/resource-broker/kind}
# Below it are all containers of this engine.
CGROUP=resource-broker-kind
ENGINE=''
# The process that is waited for, and the exit code after a signal.
RUNNING='' SIGNALLED=''
# What the process outside of the namespaces has changed on the machine, and undoes.
RUN=${RUN:-} MODULES='' INSTANCES_BEFORE=''
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
  KUBECONFIG       a file that ends with the engine; your own ~/.kube/config is not touched
  KIND_CACHE       where all of it is kept (can be set)
Images resource-broker/{broker,agent,brokerctl}:0.1.0 of this work tree are in the engine, and resource-broker-kind/busybox."

say() { printf 'kind: %s\n' "$*"; }

fail() {
  printf 'kind: %s\n' "$*" >&2
  exit 1
}

wrong_usage() { # <why>
  printf 'kind: %s\n\n%s\n' "$1" "$USAGE" >&2
  exit "$EXIT_USAGE"
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
    unshare:util-linux setpriv:util-linux flock:util-linux make:make; do
    command -v "${program%:*}" >/dev/null || lacks+=("${program%:*} is not installed (Debian's package ${program#*:})")
  done
  if ((${#lacks[@]} == 0)) && ! unshare --mount --pid --fork --net iptables -t nat -L >/dev/null 2>&1; then
    lacks+=("this machine gives no namespaces, or no iptables in them")
  fi
  if ((${#lacks[@]} > 0)); then not_tested "${lacks[@]}"; fi
}

# One at a time: an engine owns its folder. The lock is held by this process and those that come after it.
take_lock() {
  if ! { mkdir -p "$CACHE" && : >>"$CACHE/lock"; } 2>/dev/null; then
    fail "$CACHE cannot be written: name another folder in KIND_CACHE"
  fi
  CACHE=$(CDPATH='' cd -- "$CACHE" && pwd -P)
  export KIND_CACHE=$CACHE
  exec 7>>"$CACHE/lock"
  if flock --nonblock 7; then return; fi
  say "another process uses $CACHE; waiting …"
  flock 7
}

# In the process that stays outside, so that it is done whatever happens to the engine. What has to be undone is written down first: if
# this process is killed, the next one does it.
open_machine() {
  if [[ -s $CACHE/machine ]]; then
    { read -r RUN && read -r MODULES && read -r INSTANCES_BEFORE; } <"$CACHE/machine" || true
    say "the run before was killed: what it has left is removed"
    close_machine
    MODULES='' INSTANCES_BEFORE=''
  fi
  RUN=$(mktemp -d /tmp/kind-engine.XXXXXX)
  export RUN
  trap close_machine EXIT
  trap_signals
  # Docker would make it, and leave it.
  if [[ ! -e /lib/modules ]]; then MODULES=/lib/modules; fi
  if (($(<"$INSTANCES") < INSTANCES_NEEDED)); then INSTANCES_BEFORE=$(<"$INSTANCES"); fi
  printf '%s\n' "$RUN" "$MODULES" "$INSTANCES_BEFORE" >"$CACHE/machine"
  remove_cgroups
  if [[ -n $MODULES ]]; then mkdir "$MODULES"; fi
  if [[ -n $INSTANCES_BEFORE ]]; then printf '%s\n' "$INSTANCES_NEEDED" >"$INSTANCES"; fi
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
  if [[ $RUN == /tmp/kind-engine.* ]]; then rm -rf --one-file-system "$RUN"; fi
  if [[ -n $MODULES ]]; then rmdir "$MODULES" 2>/dev/null || true; fi
  # Unless someone has set it to something else meanwhile.
  if [[ -n $INSTANCES_BEFORE && $(<"$INSTANCES") == "$INSTANCES_NEEDED" ]]; then printf '%s\n' "$INSTANCES_BEFORE" >"$INSTANCES"; fi
  rm -f "$CACHE/machine"
}

trap_signals() {
  trap 'on_signal 129' HUP
  trap 'on_signal 130' INT
  trap 'on_signal 143' TERM
}

# shellcheck disable=SC2317 # a trap calls it
on_signal() { # <exit code>
  SIGNALLED=$1
  if [[ -z $RUNNING ]]; then exit "$1"; fi
  # Ctrl-C is for all processes at the terminal: the command has it already, and ends by itself.
  if (($1 != 130)); then end_running; fi
}

# shellcheck disable=SC2317 # a trap calls it
end_running() {
  local tries target=$RUNNING seconds=10
  if [[ $$ != 1 ]]; then
    # unshare heeds no TERM: it is for the process in the namespaces, which gives its command 10 seconds and stops the engine.
    read -r target <"/proc/$RUNNING/task/$RUNNING/children" || true
    seconds=40
  fi
  if [[ -n $target ]]; then kill -TERM "${target% }" 2>/dev/null || true; fi
  for ((tries = 0; tries < seconds * 10; tries++)); do
    if ! kill -0 "$RUNNING" 2>/dev/null; then return; fi
    sleep 0.1
  done
  kill -KILL "$RUNNING" 2>/dev/null || true
}

# Runs a program as in the foreground, but heeds signals meanwhile: bash holds a trap back until the foreground has ended.
attend() { # <program> <argument>...
  local code
  # What bash starts in the background would ignore Ctrl-C, and read nothing.
  env --default-signal=INT,QUIT "$@" <&0 &
  RUNNING=$!
  while :; do
    code=0
    wait "$RUNNING" || code=$?
    # Also a signal ends the waiting.
    if ! kill -0 "$RUNNING" 2>/dev/null; then break; fi
  done
  RUNNING=''
  if [[ -n $SIGNALLED ]]; then exit "$SIGNALLED"; fi
  return "$code"
}

# With process and mount namespaces of its own, the kernel ends and unmounts all of it together with this process, also when it is killed.
in_namespaces() { # <flag of unshare or nothing> <task> <argument>...
  attend setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc ${1:+"$1"} "$BASH" "$HERE/engine.sh" --in-namespaces "${@:2}"
}

# What an engine that was killed has left of itself.
remove_cgroups() {
  find /sys/fs/cgroup -depth -type d -path "*/$CGROUP*" -exec rmdir {} + 2>/dev/null || true
}

start_engine() { # <flag of dockerd>...
  local tries folder
  # A new start after a build finds nothing of it.
  rm -rf --one-file-system "${RUN:?}"/*
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
  trap '' HUP INT TERM
  if [[ -n $ENGINE ]]; then
    remove_containers || true
    kill "$ENGINE" 2>/dev/null && wait "$ENGINE" 2>/dev/null
  fi
  exit "$code"
}

# What debootstrap mounts is unmounted with these namespaces.
task_debian() { make_once debian.tar "$DEBIAN_KEY" make_debian_tar; }

# In the network of the machine, for npm, but without touching it: no bridge, no rules.
task_build() {
  start_engine --bridge=none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false
  forget_lost_images
  make_images
}

# In a network of its own: bridges and rules end with it.
task_run() { # <command> <argument>...
  ip link set lo up
  start_engine
  forget_lost_images
  if ! has_images; then exit 1; fi
  export KIND_NODE_IMAGE=$NODE_IMAGE KIND_EXPERIMENTAL_PROVIDER=docker KUBECONFIG=$RUN/kubeconfig
  TMPDIR=$RUN/tmp attend "$@" 7>&-
}

# Twice at most: only a started engine can say whether the images are still in it.
run_with_images() { # <command> <argument>...
  local code=0 tries
  for tries in 1 2; do
    if ! has_images; then in_namespaces '' build || exit; fi
    code=0
    in_namespaces --net run "$@" || code=$?
    if has_images; then exit "$code"; fi
    if ((tries == 1)); then say "images are no longer in the engine, and are made again"; fi
  done
  fail "the engine does not keep its images: remove $CACHE"
}

main() {
  case ${1:---help} in
    --help | -h)
      printf '%s\n' "$USAGE"
      exit $((${#} == 0 ? EXIT_USAGE : 0))
      ;;
    --in-namespaces)
      [[ $$ == 1 ]] || wrong_usage "$1 is only for this script itself"
      trap stop_engine EXIT
      trap_signals
      case $2 in
        debian) task_debian ;;
        build) task_build ;;
        run) task_run "${@:3}" ;;
      esac
      ;;
    --prepare)
      (($# == 1)) || wrong_usage "--prepare takes no command"
      start true
      ;;
    -*) wrong_usage "unknown flag $1" ;;
    *) start "$@" ;;
  esac
}

start() { # <command> <argument>...
  if [[ -z ${KIND_CACHE:-${XDG_CACHE_HOME:-${HOME:-}}} ]]; then fail "HOME is not set: set it, or name a folder for what is made in KIND_CACHE"; fi
  check_machine
  take_lock
  find_programs
  open_machine
  if ! has_debian; then in_namespaces '' debian; fi
  run_with_images "$@"
}

# In one line with its exit: a file that is changed meanwhile is not read on.
main "$@"; exit
