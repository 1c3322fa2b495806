#!/usr/bin/env bash
set -euo pipefail
case ${BASH_SOURCE[0]} in */*) SCRIPTS=${BASH_SOURCE[0]%/*} ;; *) SCRIPTS=. ;; esac
SCRIPTS=$(CDPATH='' cd -- "$SCRIPTS" && pwd)
# shellcheck source=lib/load.sh
source "$SCRIPTS/lib/load.sh"

USAGE="Issues the certificates of the broker and both agents, as Secrets in broker-cluster:
broker-server-tls in resource-broker-system, agent-client-tls in agent-cluster-1 and in agent-cluster-2.
On kind cert-manager does it, or \"brokerctl certs\" with --manifest none; on sim and real, where no pods run, \"brokerctl certs\" does.

Usage: setup-certmanager.sh [flags]

  --manifest FILE|URL|none
                      cert-manager's manifest (default: release $CERT_MANAGER_VERSION of its project, which is fetched
                      unless cert-manager is there already); none: without cert-manager, nothing is fetched"
FLAG[--manifest]=''
read_flags "$USAGE" "$@"
check_manifest --manifest
MANIFEST=${FLAG[--manifest]}
if [[ $ON != kind ]]; then MANIFEST=none; fi
if [[ $MANIFEST == none ]]; then check_prerequisites need_node need_kubectl; else check_prerequisites need_kubectl; fi
open_state
require_clusters

RELEASE=https://github.com/cert-manager/cert-manager/releases/download/$CERT_MANAGER_VERSION/cert-manager.yaml

# Its webhook answers a while after its Deployment says so.
apply_when_served() { # <kubectl argument>...
  until_kube_says 120 serverside-applied "$BROKER_CLUSTER" apply --server-side "$@" || fail "cert-manager took none of its objects: $SAID"
}

has_certmanager() {
  kubectl_on "$BROKER_CLUSTER"
  ! is_dry && "${KUBECTL[@]}" get deployment cert-manager-webhook --namespace cert-manager >/dev/null 2>&1
}

issue_by_certmanager() {
  if [[ -n $MANIFEST ]] || ! has_certmanager; then
    kube "$BROKER_CLUSTER" apply --server-side -f "${MANIFEST:-$RELEASE}"
  fi
  kube "$BROKER_CLUSTER" wait --namespace cert-manager --for=condition=Available --timeout=300s deployment --all
  apply_when_served -k "$ROOT/deploy/kustomize/certmanager"
  kube "$BROKER_CLUSTER" apply --server-side -f "$SETUP/manifests/agent-certificates.yaml"
  kube "$BROKER_CLUSTER" wait --for=condition=Ready --timeout=180s certificates --all --all-namespaces
}

issue_by_brokerctl() {
  local authority=$STATE/authority cluster
  local -a brokerctl=(node "$ROOT/apps/cli/src/main.ts" certs)
  bootstrap
  run_quietly "${brokerctl[@]}" init --dir "$authority"
  kube_apply_text "$BROKER_CLUSTER" "$(namespace_text "$BROKER_NAMESPACE" "${AGENT_CLUSTERS[@]}")"
  kube_apply_certificate "$BROKER_CLUSTER" "$BROKER_NAMESPACE" "$BROKER_SECRET" "$authority/broker"
  for cluster in "${AGENT_CLUSTERS[@]}"; do
    if is_dry || [[ ! -e $authority/clusters/$cluster/tls.crt ]]; then
      run_quietly "${brokerctl[@]}" issue "$cluster" --dir "$authority"
    fi
    kube_apply_certificate "$BROKER_CLUSTER" "$cluster" "$AGENT_SECRET" "$authority/clusters/$cluster"
  done
}

if [[ $MANIFEST == none ]]; then issue_by_brokerctl; else issue_by_certmanager; fi
if is_dry; then exit 0; fi
say "the certificates are issued: Secrets in $BROKER_CLUSTER"
