#!/usr/bin/env bash
set -euo pipefail
case ${BASH_SOURCE[0]} in */*) SCRIPTS=${BASH_SOURCE[0]%/*} ;; *) SCRIPTS=. ;; esac
SCRIPTS=$(CDPATH='' cd -- "$SCRIPTS" && pwd)
# shellcheck source=lib/load.sh
source "$SCRIPTS/lib/load.sh"

USAGE="Tries one reservation from its beginning to its end: agent-cluster-1 asks, agent-cluster-2 lends, and gets it back.
With --on liqo it becomes a node of agent-cluster-1, and a pod on that node runs in agent-cluster-2.
What is not set up or does not run is set up and started first, by the other scripts, and ended and removed at the end,
also after a failure; what ran before stays. Each step says PASS or FAIL; the exit code is 0 when all have passed.

Usage: test-reservation.sh [flags]

  --cpu QUANTITY      how much is asked for (default 500m)
  --memory QUANTITY   the same (default 256Mi)
  --timeout SECONDS   how long a step may take (default 60)
  --node-image IMAGE  the node image of kind, when clusters are made (default: kind's own)
  --cert-manager FILE|URL|none
                      cert-manager's manifest on kind, when certificates are issued (default: release
                      $CERT_MANAGER_VERSION of its project); none: \"brokerctl certs\" issues them, nothing is fetched
  --keep              leave everything that was set up running"
FLAG[--cpu]=500m
FLAG[--memory]=256Mi
FLAG[--timeout]=60
FLAG[--node-image]=''
FLAG[--cert-manager]=''
SWITCH[--keep]=''
read_flags "$USAGE" "$@"
for flag in --cpu --memory; do
  thousandths "${FLAG[$flag]}" >/dev/null || wrong_usage "$flag is \"${FLAG[$flag]}\", but must be a quantity such as 500m, 2 or 4Gi"
done
[[ ${FLAG[--timeout]} =~ ^[1-9][0-9]{0,4}$ ]] || wrong_usage "--timeout is \"${FLAG[--timeout]}\", but must be seconds, such as 60"
only_on_kind --node-image
check_manifest --cert-manager
check_prerequisites need_node need_clusters

REQUESTER=${AGENT_CLUSTERS[0]}
PROVIDER=${AGENT_CLUSTERS[1]}
PATIENCE=${FLAG[--timeout]}
REQUEST=test-reservation-$$
RESERVATION=RESERVATION
OFFLOAD=''
if [[ $ON == liqo ]]; then OFFLOAD=", offload: { namespaces: [$REQUEST] }"; fi

# Names of what this run has begun, the newest first.
BEGUN=()
is_asked=''
has_namespace=''
passed=0
failed=0

pass() {
  passed=$((passed + 1))
  if ! is_dry; then say "PASS  $1"; fi
}

# The steps after it would only fail for the same reason.
give_up() { # <step> <why>
  failed=1
  say "FAIL  $1"
  say "      ${2//$'\n'/$'\n'      }"
  exit 1
}

finish() {
  local code=$? name
  trap - EXIT
  trap '' INT TERM # clearing up is not broken off
  if is_dry; then exit "$code"; fi
  if ((failed)); then
    for name in broker "${AGENT_CLUSTERS[@]}"; do last_lines "$name"; done
  fi
  if [[ -n $is_asked ]]; then
    kube "$REQUESTER" delete resourcerequest "$REQUEST" --ignore-not-found --wait=false || true
  fi
  if [[ -n $has_namespace ]]; then
    kube "$REQUESTER" delete namespace "$REQUEST" --ignore-not-found --wait=false || true
  fi
  if [[ -z ${SWITCH[--keep]} ]]; then
    for name in "${BEGUN[@]}"; do
      if [[ $name == "$SERVERS" ]]; then run_script cleanup.sh || code=1; else stop_process "$name" || code=1; fi
    done
  fi
  unlock_state
  case $code in
    0) say "$passed steps passed" ;;
    130 | 143) say "stopped after $passed steps that passed" ;;
    *) say "FAILED after $passed steps that passed" ;;
  esac
  exit "$code"
}

begin() { # <name>
  BEGUN=("$1" "${BEGUN[@]}")
}

set_up() {
  if is_dry || ! has_clusters; then
    begin "$SERVERS"
    run_script setup-clusters.sh ${FLAG[--node-image]:+--node-image "${FLAG[--node-image]}"}
  fi
  if is_dry || ! has_certificates; then
    if is_dry || ! has_issued; then
      run_script setup-certmanager.sh ${FLAG[--cert-manager]:+--manifest "${FLAG[--cert-manager]}"}
    fi
    run_script extract-certs.sh
  fi
  start_missing broker run-broker.sh
  start_missing agent-cluster-1 run-agent-1.sh
  start_missing agent-cluster-2 run-agent-2.sh
}

start_missing() { # <name> <script>
  if ! is_dry && is_running "$1"; then return; fi
  begin "$1"
  run_script "$2"
}

# A step: asks kubectl until it says what it should.
step() { # <what should be> <regular expression> <cluster> <kubectl argument>...
  local what=$1 wanted=$2
  shift 2
  until_kube_says "$PATIENCE" "$wanted" "$@" || give_up "$what" "after $PATIENCE s: ${SAID:-nothing}"
  pass "$what"
}

amounts_step() { # <what should be> <cpu and memory>
  local cpu memory
  if ! is_dry; then
    read -r cpu memory <<<"$2"
    if [[ $(thousandths "$cpu") != "$ASKED_CPU" || $(thousandths "$memory") != "$ASKED_MEMORY" ]]; then
      give_up "$1" "it says $cpu CPU and $memory of memory"
    fi
  fi
  pass "$1"
}

# What the provider could lend if it had no pods of its own, by the broker's account. Its own pods may come and go
# meanwhile; this changes with reservations alone.
ACCOUNT='jsonpath={.spec.resources.available.cpu} {.spec.resources.allocated.cpu} {.spec.resources.available.memory} {.spec.resources.allocated.memory}'
read_account() { # sets CPU and MEMORY
  local -a said
  read -ra said <<<"$(kube_show "$BROKER_CLUSTER" get clusteradvertisement "$PROVIDER-adv" -o "$ACCOUNT" 2>/dev/null)"
  ((${#said[@]} == 4)) || return 1
  CPU=$(($(thousandths "${said[0]}") + $(thousandths "${said[1]}")))
  MEMORY=$(($(thousandths "${said[2]}") + $(thousandths "${said[3]}")))
}

account_step() { # <what should be> <cpu> <memory>
  local deadline=$((SECONDS + PATIENCE))
  if is_dry; then
    kube_show "$BROKER_CLUSTER" get clusteradvertisement "$PROVIDER-adv" -o "$ACCOUNT"
    return
  fi
  until read_account && ((CPU == $2 && MEMORY == $3)); do
    if ((SECONDS >= deadline)); then
      give_up "$1" "after $PATIENCE s: ${CPU:-?} millicores, not $2; ${MEMORY:-?} thousandths of a byte, not $3"
    fi
    sleep 0.2
  done
  pass "$1"
}

request_text() {
  printf '%s\n' 'apiVersion: rear.fluidos.eu/v1alpha1' 'kind: ResourceRequest' \
    "metadata: { name: $REQUEST, namespace: default }" \
    "spec: { requestedCPU: \"${FLAG[--cpu]}\", requestedMemory: \"${FLAG[--memory]}\", duration: 1h$OFFLOAD }"
}

advertise_steps() {
  local cluster
  for cluster in "${AGENT_CLUSTERS[@]}"; do
    step "$cluster advertises, and the broker accepts it" '^true$' \
      "$cluster" get advertisement cluster-advertisement -o 'jsonpath={.status.published}'
    step "$BROKER_CLUSTER shows the advertisement of $cluster" '^Active$' \
      "$BROKER_CLUSTER" get clusteradvertisement "$cluster-adv" -o 'jsonpath={.status.phase}'
  done
}

reserve_steps() {
  local phase target what="a ResourceRequest in $REQUESTER is granted by $PROVIDER"
  local amounts="${FLAG[--cpu]} CPU and ${FLAG[--memory]}"
  if [[ $ON == liqo ]]; then
    has_namespace=yes
    kube "$REQUESTER" create namespace "$REQUEST"
  fi
  is_asked=yes
  kube_apply_text "$REQUESTER" "$(request_text)"
  until_kube_says "$PATIENCE" '^(Reserved|Active|Failed) ' "$REQUESTER" get resourcerequest "$REQUEST" \
    -o 'jsonpath={.status.phase} {.status.targetClusterID} {.status.reservationName}' || give_up "$what" "after $PATIENCE s: $SAID"
  if ! is_dry; then
    read -r phase target RESERVATION <<<"$SAID"
    if [[ $phase == Failed ]]; then
      give_up "$what" "$(kube_show "$REQUESTER" get resourcerequest "$REQUEST" -o 'jsonpath={.status.message}')"
    fi
    if [[ $target != "$PROVIDER" ]]; then give_up "$what" "by $target, not by $PROVIDER"; fi
  fi
  pass "$what: $RESERVATION"
  step "$REQUESTER has the ReservationInstruction" "^$PROVIDER " "$REQUESTER" get reservationinstruction "$RESERVATION" \
    -o 'jsonpath={.spec.targetClusterID} {.spec.requestedCPU} {.spec.requestedMemory}'
  amounts_step "it is for $amounts" "${SAID#* }"
  step "$PROVIDER has the ProviderInstruction, and enforces it" "^true $REQUESTER " \
    "$PROVIDER" get providerinstruction "$RESERVATION-provider" \
    -o 'jsonpath={.status.enforced} {.spec.requesterClusterID} {.spec.requestedCPU} {.spec.requestedMemory}'
  amounts_step "it is for $amounts, too" "${SAID#* * }"
  step "$BROKER_CLUSTER shows the Reservation" '^(Reserved|Active)$' "$BROKER_CLUSTER" get reservation "$RESERVATION" \
    -o 'jsonpath={.status.phase}'
  account_step "what $PROVIDER can lend has become less by as much" $((CPU_BEFORE - ASKED_CPU)) $((MEMORY_BEFORE - ASKED_MEMORY))
}

pod_text() {
  printf '%s\n' 'apiVersion: v1' 'kind: Pod' "metadata: { name: guest, namespace: $REQUEST }" 'spec:' \
    "  nodeSelector: { kubernetes.io/hostname: $RESERVATION }" \
    '  containers: [{ name: main, image: example/app:1, resources: { requests: { cpu: 100m, memory: 64Mi } } }]'
}

# Only Liqo makes a node of a reservation.
node_steps() {
  step "the reservation is a ready node of $REQUESTER" '^True ' "$REQUESTER" get node "$RESERVATION" --ignore-not-found \
    -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status} {.status.allocatable.cpu} {.status.allocatable.memory}'
  amounts_step "it has exactly ${FLAG[--cpu]} CPU and ${FLAG[--memory]}" "${SAID#* }"
  step "the namespace $REQUEST is offloaded" '^Ready$' "$REQUESTER" get namespaceoffloading offloading --namespace "$REQUEST" \
    --ignore-not-found -o 'jsonpath={.status.offloadingPhase}'
  kube_apply_text "$REQUESTER" "$(pod_text)"
  step "a pod on the node runs" '^Running$' "$REQUESTER" get pod guest --namespace "$REQUEST" -o 'jsonpath={.status.phase}'
  step "it runs in $PROVIDER" '^Running$' "$PROVIDER" get pod guest --namespace "$REQUEST-liqo-$REQUESTER" \
    --ignore-not-found -o 'jsonpath={.status.phase}'
}

node_gone_steps() {
  step "the pod ends in both clusters" '^$' "$PROVIDER" get pod guest --namespace "$REQUEST-liqo-$REQUESTER" \
    --ignore-not-found -o name
  step "the node goes" '^$' "$REQUESTER" get node "$RESERVATION" --ignore-not-found -o name
}

release_steps() {
  kube "$REQUESTER" delete resourcerequest "$REQUEST" --timeout "${PATIENCE}s"
  is_asked=''
  step "the request is deleted, and the ReservationInstruction goes" '^$' \
    "$REQUESTER" get reservationinstruction "$RESERVATION" --ignore-not-found -o name
  step "the ProviderInstruction goes" '^$' "$PROVIDER" get providerinstruction "$RESERVATION-provider" --ignore-not-found -o name
  step "$BROKER_CLUSTER shows that it is released" '^Released$' "$BROKER_CLUSTER" get reservation "$RESERVATION" \
    -o 'jsonpath={.status.phase}'
  account_step "$PROVIDER can lend as much as before" "$CPU_BEFORE" "$MEMORY_BEFORE"
}

open_state
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
ASKED_CPU=$(thousandths "${FLAG[--cpu]}")
ASKED_MEMORY=$(thousandths "${FLAG[--memory]}")
set_up
advertise_steps
is_dry || read_account || give_up "the broker says what $PROVIDER can lend" "nothing"
CPU_BEFORE=${CPU:-0} MEMORY_BEFORE=${MEMORY:-0}
reserve_steps
if [[ $ON == liqo ]]; then node_steps; fi
release_steps
if [[ $ON == liqo ]]; then node_gone_steps; fi
