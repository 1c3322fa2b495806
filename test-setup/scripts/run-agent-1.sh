#!/usr/bin/env bash
set -euo pipefail
case ${BASH_SOURCE[0]} in */*) SCRIPTS=${BASH_SOURCE[0]%/*} ;; *) SCRIPTS=. ;; esac
SCRIPTS=$(CDPATH='' cd -- "$SCRIPTS" && pwd)
# shellcheck source=lib/load.sh
source "$SCRIPTS/lib/load.sh"

USAGE="Starts the agent of agent-cluster-1 on this machine, if it does not run. The broker must run.

Usage: run-agent-1.sh [flags] [-- flags of the agent]

$PROGRAM_USAGE"
run_agent agent-cluster-1 "$USAGE" "$@"
