# shellcheck shell=bash
# shellcheck disable=SC2034 # the scripts that load this file use what it sets
# The broker and the agents: programs of this repository, from their sources, on this machine.

READY_WITHIN=60

PROGRAM_USAGE="  --foreground        until Ctrl-C, with its log on this terminal; else in the background"

# Between the look for a free port and its use somebody else may take it: then it is tried again with others.
run_program() { # <name> <function that puts its command line into COMMAND>
  local name=$1 tries
  if ! is_dry && is_running "$name"; then
    say "$name: runs already (process $(pid_of "$name"))"
    return
  fi
  for ((tries = 1; ; tries++)); do
    "$2"
    add_probes "$name"
    if [[ -n ${SWITCH[--foreground]} ]]; then run_here "$name"; fi
    start_process "$name" "${COMMAND[@]}"
    if is_dry; then
      would "# waits until http://127.0.0.1:FREE_PORT/readyz answers"
      return
    fi
    if await_ready "$name" "$READY_WITHIN"; then break; fi
    if ((tries == 3)) || is_running "$name" || ! port_was_taken "$name"; then
      last_lines "$name"
      stop_process "$name"
      fail "$name is not ready"
    fi
  done
  say "$name: ready (process $(pid_of "$name"), log $STATE/logs/$name.log)"
}

run_here() { # <name>
  if is_dry; then
    would "$(shown "${COMMAND[@]}")"
    exit 0
  fi
  remember_process "$1" $$
  unlock_state
  exec "${COMMAND[@]}"
}

add_probes() { # <name>
  local metrics probes
  choose_port metrics
  choose_port probes
  keep_port "$1" metrics "$metrics"
  keep_port "$1" probes "$probes"
  COMMAND+=("--metrics-bind-address=127.0.0.1:$metrics" "--health-probe-bind-address=127.0.0.1:$probes" "${REST[@]}")
}

port_was_taken() { # <name>
  local line
  while read -r line; do
    if [[ $line == *'another process listens'* ]]; then return; fi
  done <"$STATE/logs/$1.log"
  return 1
}

# Both scripts for agents are this.
run_agent() { # <cluster> <usage> <argument>...
  local cluster=$1 usage=$2
  shift 2
  SWITCH[--foreground]=''
  TAKES_REST=yes
  read_flags "$usage" "$@"
  check_prerequisites need_node
  open_state
  require_clusters
  require_certificates
  if ! is_dry && ! is_running broker; then
    fail "the broker does not run: run $SCRIPTS/run-broker.sh --on $ON first"
  fi
  bootstrap
  AGENT_OF=$cluster
  run_program "$cluster" agent_command
}

agent_command() {
  local kubeconfig
  local -a more=()
  kubeconfig=$(kubeconfig_of "$AGENT_OF")
  if [[ $ON == liqo ]]; then
    # With the rights of deploy/rbac alone, and knowing the clusters that it can peer with.
    kubeconfig=$STATE/kubeconfigs/$AGENT_OF.agent.yaml
    more=(--kubeconfigs-dir=FOLDER --liqoctl=PROGRAM --liqo-networking=false)
    if ! is_dry; then mapfile -t more <"$STATE/kubeconfigs/$AGENT_OF.agent.flags"; fi
  fi
  COMMAND=(node "$ROOT/packages/agent/src/main.ts" "--broker-url=https://127.0.0.1:$(port_of broker api)"
    "--broker-cert-path=$(folder_of_certificates "$AGENT_OF")" "--kubeconfig=$kubeconfig" "${more[@]}")
}
