# shellcheck shell=bash
# Clusters of liqo live in a network namespace: liqoctl refuses API servers at a loopback address. Everything that talks to
# them runs in there, too.

# Prints the command that enters the namespace of the clusters; fails when they do not run.
network_command() {
  local pid
  pid=$(pid_of "$SERVERS") || return 1
  printf 'nsenter --target %s --net' "$pid"
  # Whoever is not root has made it in a user namespace.
  if [[ ! /proc/$pid/ns/user -ef /proc/self/ns/user ]]; then printf ' --user --preserve-credentials'; fi
}

# Goes on in the namespace of the clusters. A script that makes clusters makes the namespace. TEST_SETUP_NETWORK says how it
# was entered, as seen from outside.
enter_network() { # <argument of the script>...
  local -a into
  if [[ $ON != liqo || -n ${TEST_SETUP_NETWORK:-} ]]; then return; fi
  if is_dry; then
    would "$(shown "$ROOT/scripts/liqo-network.sh")   # all of this happens in a network namespace"
  elif [[ -e $STATE/run/$SERVERS.pid ]] && read -ra into <<<"$(network_command)" && ((${#into[@]} > 0)); then
    has nsenter || fail "there is no nsenter: install util-linux"
    TEST_SETUP_NETWORK="${into[*]}" exec "${into[@]}" "$BASH" "$SCRIPTS/$ME" "$@"
  elif [[ $ME == setup-clusters.sh || $ME == test-reservation.sh ]]; then
    TEST_SETUP_NETWORK=made exec "$ROOT/scripts/liqo-network.sh" "$BASH" "$SCRIPTS/$ME" "$@"
  fi
  export TEST_SETUP_NETWORK=none
}
