#!/usr/bin/env bash
set -euo pipefail
case ${BASH_SOURCE[0]} in */*) SCRIPTS=${BASH_SOURCE[0]%/*} ;; *) SCRIPTS=. ;; esac
SCRIPTS=$(CDPATH='' cd -- "$SCRIPTS" && pwd)
# shellcheck source=lib/load.sh
source "$SCRIPTS/lib/load.sh"

USAGE="Shows what runs: clusters, certificates, broker and agents, and what the broker has granted.
The exit code is 0 when all of it is there, else 1.

Usage: status.sh [flags]
"
read_flags "$USAGE" "$@"
check_prerequisites need_kubectl

is_whole=yes

row() { # <name> <state> <more>
  printf '%-17s %-12s %s\n' "$1" "$2" "$3"
}

lacking() { # <name> <state> <script>
  row "$1" "$2" "$SCRIPTS/$3 --on $ON"
  is_whole=''
}

show_cluster() { # <name>
  local answer
  kubectl_on "$1"
  if [[ ! -e $(kubeconfig_of "$1") ]]; then
    lacking "$1" missing setup-clusters.sh
  elif answer=$("${KUBECTL[@]}" --request-timeout 5s get --raw /readyz 2>&1) && [[ $answer == ok* ]]; then
    row "$1" up "kubectl --kubeconfig $(kubeconfig_of "$1")"
  else
    lacking "$1" 'no answer' setup-clusters.sh
  fi
}

show_program() { # <name> <script>
  if ! is_running "$1"; then
    lacking "$1" 'not running' "$2"
  elif is_ready "$1"; then
    row "$1" ready "process $(pid_of "$1"), http://127.0.0.1:$(port_of "$1" metrics)/metrics, logs in $STATE/logs"
  else
    row "$1" 'not ready' "http://127.0.0.1:$(port_of "$1" probes)/readyz?verbose says why"
    is_whole=''
  fi
}

if is_dry; then
  for cluster in "${CLUSTERS[@]}"; do kube "$cluster" --request-timeout 5s get --raw /readyz; done
else
  for cluster in "${CLUSTERS[@]}"; do show_cluster "$cluster"; done
  if has_certificates; then row certificates there "$STATE/certs"; else lacking certificates missing "{setup-certmanager,extract-certs}.sh"; fi
  if [[ ${TEST_SETUP_NETWORK:-} == nsenter* ]]; then row network there "$TEST_SETUP_NETWORK   # nothing of this is reached from outside"; fi
  show_program broker run-broker.sh
  show_program agent-cluster-1 run-agent-1.sh
  show_program agent-cluster-2 run-agent-2.sh
fi
if is_dry || [[ -n $is_whole ]]; then
  say
  kube_show "$BROKER_CLUSTER" get clusteradvertisements,reservations
  for cluster in "${AGENT_CLUSTERS[@]}"; do
    say
    say "$cluster:"
    kube_show "$cluster" get resourcerequests,reservationinstructions,providerinstructions --all-namespaces
  done
fi
if is_dry || [[ -n $is_whole ]]; then exit 0; fi
exit 1
