#!/usr/bin/env bash
set -euo pipefail
case ${BASH_SOURCE[0]} in */*) SCRIPTS=${BASH_SOURCE[0]%/*} ;; *) SCRIPTS=. ;; esac
SCRIPTS=$(CDPATH='' cd -- "$SCRIPTS" && pwd)
# shellcheck source=lib/load.sh
source "$SCRIPTS/lib/load.sh"

USAGE="Makes the clusters broker-cluster, agent-cluster-1 and agent-cluster-2, and installs the kinds of this project in them.
Those that are there already stay.

Usage: setup-clusters.sh [flags]

  --node-image IMAGE  the node image of kind, for another version of Kubernetes (default: kind's own); kind only"
FLAG[--node-image]=''
read_flags "$USAGE" "$@"
only_on_kind --node-image
check_prerequisites need_clusters
open_state

SERVE_WITHIN=120
# Liqo is installed in them.
if [[ $ON == liqo ]]; then SERVE_WITHIN=600; fi

say_if_limits_are_low() {
  local limit=''
  { read -r limit </proc/sys/fs/inotify/max_user_instances; } 2>/dev/null || return 0
  if ((limit < 512)); then
    complain "fs.inotify.max_user_instances is $limit, which is often too little for three kind clusters: sudo sysctl fs.inotify.max_user_instances=512"
  fi
}

# What is left of clusters that have ended: nobody in the new ones knows it.
forget_ended() {
  local name
  for name in "${AGENT_CLUSTERS[@]}" broker; do stop_process "$name"; done
  rm -rf "$STATE"/kubeconfigs/*.yaml "$STATE"/certs/* "$STATE/run/$SERVERS.ready"
}

make_in_kind() {
  local cluster there=''
  local -a image=()
  if [[ -n ${FLAG[--node-image]} ]]; then image=(--image "${FLAG[--node-image]}"); fi
  if ! is_dry; then
    say_if_limits_are_low
    there=$(kind get clusters 2>/dev/null) || true
    for cluster in "${CLUSTERS[@]}"; do
      if [[ -e $STATE/run/$cluster.kind && $'\n'$there$'\n' != *$'\n'$cluster$'\n'* ]]; then forget_ended; fi
    done
  fi
  for cluster in "${CLUSTERS[@]}"; do
    if [[ $'\n'$there$'\n' == *$'\n'$cluster$'\n'* ]]; then
      say "$cluster: is there already"
      run kind export kubeconfig --name "$cluster" --kubeconfig "$(kubeconfig_of "$cluster")"
    else
      # Before it is made: cleanup.sh must also remove one that was made by half.
      if ! is_dry; then : >"$STATE/run/$cluster.kind"; fi
      run kind create cluster --name "$cluster" --kubeconfig "$(kubeconfig_of "$cluster")" --wait 180s "${image[@]}"
    fi
  done
}

# One process serves all three. It writes their kubeconfigs.
serve_clusters() { # <command> <argument>...
  if ! is_dry && is_running "$SERVERS"; then
    say "the clusters are there already (process $(pid_of "$SERVERS"))"
    return
  fi
  if ! is_dry; then forget_ended; fi
  start_process "$SERVERS" env TMPDIR="$STATE/tmp" "$@" --kubeconfig-dir "$STATE/kubeconfigs" "${CLUSTERS[@]/#/--cluster=}"
}

await_servers() {
  local cluster deadline=$((SECONDS + SERVE_WITHIN))
  for cluster in "${CLUSTERS[@]}"; do
    until is_dry || [[ -s $(kubeconfig_of "$cluster") ]]; do
      if ! is_running "$SERVERS" || ((SECONDS >= deadline)); then
        last_lines "$SERVERS"
        fail "the clusters did not start"
      fi
      sleep 0.1
    done
    until_kube_says 60 '^ok' "$cluster" get --raw /readyz || fail "$cluster does not answer: $SAID"
  done
}

furnish() { # <cluster>
  local nodes=$SETUP/manifests/nodes-of-$1.yaml
  kube "$1" apply --server-side -f "$ROOT/deploy/crds"
  kube "$1" wait --for=condition=Established --timeout=60s -f "$ROOT/deploy/crds"
  if [[ ($ON == sim || $ON == real) && -e $nodes ]]; then
    # No kubelet runs there that would say what a node has.
    kube "$1" apply --server-side -f "$nodes"
    kube "$1" apply --server-side --subresource=status -f "$nodes"
  fi
  if ! is_dry; then say "$1: the kinds of deploy/crds are installed"; fi
}

# All at once: most of it is waiting.
furnish_all() {
  local cluster job
  local -a jobs=()
  for cluster in "${CLUSTERS[@]}"; do
    if is_dry; then
      furnish "$cluster"
    else
      furnish "$cluster" &
      jobs+=($!)
    fi
  done
  for job in "${jobs[@]}"; do wait "$job" || fail "the clusters could not be furnished"; done
}

case $ON in
  kind) make_in_kind ;;
  sim)
    bootstrap
    serve_clusters node "$ROOT/test/kube-sim/src/main.ts"
    await_servers
    ;;
  real)
    bootstrap
    run node "$SETUP/control-planes/main.ts" --check || exit "$EXIT_PREREQUISITE"
    serve_clusters node "$SETUP/control-planes/main.ts"
    await_servers
    ;;
  liqo)
    bootstrap
    run node "$SETUP/control-planes/main.ts" --check "${AGENT_CLUSTERS[@]/#/--with-liqo=}" || exit "$EXIT_PREREQUISITE"
    serve_clusters node "$SETUP/control-planes/main.ts" "${AGENT_CLUSTERS[@]/#/--with-liqo=}"
    await_servers
    ;;
esac
furnish_all
if is_dry; then exit 0; fi
: >"$STATE/run/$SERVERS.ready"
say "the clusters are ready: kubeconfigs in $STATE/kubeconfigs"
