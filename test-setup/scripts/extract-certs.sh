#!/usr/bin/env bash
set -euo pipefail
case ${BASH_SOURCE[0]} in */*) SCRIPTS=${BASH_SOURCE[0]%/*} ;; *) SCRIPTS=. ;; esac
SCRIPTS=$(CDPATH='' cd -- "$SCRIPTS" && pwd)
# shellcheck source=lib/load.sh
source "$SCRIPTS/lib/load.sh"

USAGE="Copies the certificates out of broker-cluster: into files for the broker and the agents that run on this machine,
and into the Secret agent-client-tls, namespace rear-agent, of each agent's cluster, for agents that run there.

Usage: extract-certs.sh [flags]
"
read_flags "$USAGE" "$@"
check_prerequisites need_kubectl
open_state
require_clusters

# One call for the three: base64 has no spaces.
FILES=(tls.crt tls.key ca.crt)
TEMPLATE='{{index .data "tls.crt"}} {{index .data "tls.key"}} {{index .data "ca.crt"}}'

extract() { # <namespace> <secret> <folder>
  local index folder=$3
  local -a values
  kubectl_on "$BROKER_CLUSTER"
  local -a ask=("${KUBECTL[@]}" get secret "$2" --namespace "$1" -o "go-template=$TEMPLATE")
  if is_dry; then
    would "$(shown "${ask[@]}")   # each of them through base64 -d into $folder/{tls.crt,tls.key,ca.crt}"
    return
  fi
  read -ra values <<<"$("${ask[@]}")" || true
  if ((${#values[@]} != 3)); then
    fail "the Secret $2 in namespace $1 of $BROKER_CLUSTER is not there or not whole: run $SCRIPTS/setup-certmanager.sh --on $ON first"
  fi
  (umask 077 && mkdir -p "$folder")
  for index in 0 1 2; do
    (umask 077 && base64 -d <<<"${values[index]}" >"$folder/${FILES[index]}")
  done
  say "$2 of $1: $folder"
}

extract "$BROKER_NAMESPACE" "$BROKER_SECRET" "$(folder_of_certificates broker)"
for cluster in "${AGENT_CLUSTERS[@]}"; do
  folder=$(folder_of_certificates "$cluster")
  extract "$cluster" "$AGENT_SECRET" "$folder"
  kube_apply_text "$cluster" "$(namespace_text "$AGENT_NAMESPACE")"
  kube_apply_certificate "$cluster" "$AGENT_NAMESPACE" "$AGENT_SECRET" "$folder"
done
