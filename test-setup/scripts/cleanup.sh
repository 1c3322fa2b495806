#!/usr/bin/env bash
set -euo pipefail
case ${BASH_SOURCE[0]} in */*) SCRIPTS=${BASH_SOURCE[0]%/*} ;; *) SCRIPTS=. ;; esac
SCRIPTS=$(CDPATH='' cd -- "$SCRIPTS" && pwd)
# shellcheck source=lib/load.sh
source "$SCRIPTS/lib/load.sh"

USAGE="Ends what these scripts have started and removes what they have made: agents, broker, clusters, certificates, ledger, logs.
It ends only processes and kind clusters that the state folder knows as its own. What is gone already is no error.

Usage: cleanup.sh [flags]
"
read_flags "$USAGE" "$@"
check_prerequisites

if ! is_dry && [[ ! -e $STATE/$MARKER ]]; then
  if [[ -d $STATE ]]; then fail "$STATE was not made by these scripts: nothing is removed"; fi
  say "nothing to clean up in $STATE"
  exit 0
fi
open_state

for name in "${AGENT_CLUSTERS[@]}" broker; do stop_process "$name"; done
if [[ $ON == kind ]]; then
  if compgen -G "$STATE/run/*.kind" >/dev/null; then check_prerequisites need_kind; fi
  for cluster in "${CLUSTERS[@]}"; do
    if is_dry || [[ -e $STATE/run/$cluster.kind ]]; then
      run kind delete cluster --name "$cluster" --kubeconfig "$(kubeconfig_of "$cluster")"
    fi
  done
else
  stop_process "$SERVERS"
fi
# A control plane that ends may still write into its folder.
if is_dry; then
  would "rm -rf $(shown "$STATE")"
  exit 0
fi
rm -rf "$STATE" 2>/dev/null || { sleep 1 && rm -rf "$STATE"; }
rmdir "$STATE_ROOT" 2>/dev/null || true
say "$STATE is removed"
