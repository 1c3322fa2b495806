# shellcheck shell=bash
# shellcheck disable=SC2034 # the scripts that load this file use what it sets
# The three clusters, and kubectl on them.

BROKER_CLUSTER=broker-cluster
AGENT_CLUSTERS=(agent-cluster-1 agent-cluster-2)
CLUSTERS=("$BROKER_CLUSTER" "${AGENT_CLUSTERS[@]}")

# Where the certificates are as Secrets: the broker's in its namespace, and each agent's in one with the cluster's name.
BROKER_NAMESPACE=resource-broker-system
BROKER_SECRET=broker-server-tls
AGENT_NAMESPACE=rear-agent
AGENT_SECRET=agent-client-tls

# The process that serves all clusters of sim or real.
SERVERS=clusters

kubeconfig_of() { printf '%s' "$STATE/kubeconfigs/$1.yaml"; }

# The command for a cluster, in KUBECTL: it can then be run, asked again and again, or shown.
kubectl_on() { # <cluster>
  KUBECTL=(kubectl --kubeconfig "$(kubeconfig_of "$1")" --cache-dir "$STATE/tmp/kubectl")
}

# For people to read.
kube_show() { # <cluster> <argument>...
  kubectl_on "$1"
  shift
  run "${KUBECTL[@]}" "$@"
}

# What it says of each object goes to a log; what goes wrong is said here.
kube() { # <cluster> <argument>...
  kubectl_on "$1"
  shift
  run_quietly "${KUBECTL[@]}" "$@"
}

until_kube_says() { # <seconds> <regular expression> <cluster> <argument>...
  local seconds=$1 wanted=$2
  kubectl_on "$3"
  shift 3
  until_says "$seconds" "$wanted" "${KUBECTL[@]}" "$@"
}

# From a text instead of a file.
kube_apply_text() { # <cluster> <text>
  kubectl_on "$1"
  if is_dry; then
    would "$(shown "${KUBECTL[@]}" apply --server-side -f -) <<'END'"
    printf '%s\nEND\n' "$2"
  else
    run_quietly "${KUBECTL[@]}" apply --server-side -f - <<<"$2"
  fi
}

# A Secret of three files, as cert-manager would make it.
kube_apply_certificate() { # <cluster> <namespace> <name> <folder>
  local folder=$4
  local -a made=(create secret generic "$3" --namespace "$2" --type kubernetes.io/tls
    "--from-file=tls.crt=$folder/tls.crt" "--from-file=tls.key=$folder/tls.key" "--from-file=ca.crt=$folder/ca.crt"
    --dry-run=client --output yaml)
  kubectl_on "$1"
  if is_dry; then
    would "$(shown "${KUBECTL[@]}" "${made[@]}") | $(shown "${KUBECTL[@]}" apply --server-side -f -)"
  else
    "${KUBECTL[@]}" "${made[@]}" | run_quietly "${KUBECTL[@]}" apply --server-side -f -
  fi
}

namespace_text() { # <name>...
  local name
  for name; do printf '%s\n' '---' 'apiVersion: v1' 'kind: Namespace' "metadata: { name: $name }"; done
}

# Whether all of them were set up and still serve.
has_clusters() {
  local cluster
  for cluster in "${CLUSTERS[@]}"; do
    [[ -e $(kubeconfig_of "$cluster") ]] || return 1
  done
  [[ -e $STATE/run/$SERVERS.ready ]] || return 1
  if [[ $ON != kind ]]; then
    is_running "$SERVERS"
    return
  fi
  # They may have ended with their Docker Engine.
  for cluster in "${CLUSTERS[@]}"; do
    kubectl_on "$cluster"
    "${KUBECTL[@]}" get --raw /readyz --request-timeout 20s >/dev/null 2>&1 || return 1
  done
}

require_clusters() {
  if is_dry || has_clusters; then return; fi
  fail "the clusters are not there: run $SCRIPTS/setup-clusters.sh --on $ON first"
}

CERT_MANAGER_VERSION=v1.21.2

# Before anything is made: clusters take minutes, and a missing file would be noticed only after them.
check_manifest() { # <flag>
  local manifest=${FLAG[$1]}
  if [[ -z $manifest || $manifest == none ]]; then return; fi
  only_on_kind "$1"
  if [[ $manifest != http*://* && ! -r $manifest ]]; then
    wrong_usage "$1 is \"$manifest\", but must be a file that can be read, a URL, or none for certificates without cert-manager"
  fi
}

# Whether broker-cluster has the Secrets already, whoever has issued them.
has_issued() {
  local cluster
  kubectl_on "$BROKER_CLUSTER"
  "${KUBECTL[@]}" get secret "$BROKER_SECRET" --namespace "$BROKER_NAMESPACE" >/dev/null 2>&1 || return 1
  for cluster in "${AGENT_CLUSTERS[@]}"; do
    "${KUBECTL[@]}" get secret "$AGENT_SECRET" --namespace "$cluster" >/dev/null 2>&1 || return 1
  done
}

folder_of_certificates() { printf '%s' "$STATE/certs/$1"; }

has_certificates() {
  local owner
  for owner in broker "${AGENT_CLUSTERS[@]}"; do
    [[ -s $(folder_of_certificates "$owner")/tls.crt ]] || return 1
  done
}

require_certificates() {
  if is_dry || has_certificates; then return; fi
  fail "there are no certificates: run $SCRIPTS/setup-certmanager.sh --on $ON, then $SCRIPTS/extract-certs.sh --on $ON"
}
