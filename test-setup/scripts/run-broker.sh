#!/usr/bin/env bash
set -euo pipefail
case ${BASH_SOURCE[0]} in */*) SCRIPTS=${BASH_SOURCE[0]%/*} ;; *) SCRIPTS=. ;; esac
SCRIPTS=$(CDPATH='' cd -- "$SCRIPTS" && pwd)
# shellcheck source=lib/load.sh
source "$SCRIPTS/lib/load.sh"

USAGE="Starts the broker on this machine, if it does not run: its ledger in the state folder, its views in broker-cluster.

Usage: run-broker.sh [flags] [-- flags of the broker]

  --port PORT         where agents reach it (default: a free port, the same at the next start)
$PROGRAM_USAGE"
FLAG[--port]=''
SWITCH[--foreground]=''
TAKES_REST=yes
read_flags "$USAGE" "$@"
if [[ -n ${FLAG[--port]} ]]; then check_port --port "${FLAG[--port]}"; fi
check_prerequisites need_node
open_state
require_clusters
require_certificates
if [[ -n ${FLAG[--port]} ]] && ! is_dry && ! is_running broker && is_listening "${FLAG[--port]}"; then
  fail "another process listens on port ${FLAG[--port]}: stop it, or leave --port out"
fi
bootstrap

# Agents know the broker by its port, so it stays if it can.
broker_command() {
  local port=${FLAG[--port]}
  if [[ -z $port ]] && ! port=$(port_of broker api); then choose_port port; fi
  if [[ -z ${FLAG[--port]} ]] && ! is_dry && is_listening "$port"; then
    say "somebody else has taken port $port: agents that run must be started anew"
    choose_port port
  fi
  keep_port broker api "$port"
  COMMAND=(node "$ROOT/packages/broker/src/main.ts" --http-host=127.0.0.1 "--http-port=$port"
    "--http-cert-path=$(folder_of_certificates broker)" "--store=sqlite:$STATE/ledger"
    "--kubeconfig=$(kubeconfig_of "$BROKER_CLUSTER")")
}

run_program broker broker_command
if is_dry; then exit 0; fi
say "agents reach it at https://127.0.0.1:$(port_of broker api)"
