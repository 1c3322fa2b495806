#!/bin/sh
# Runs a command in a network namespace of its own, in which every address of 10.0.0.0/8 leads to this machine: clusters
# with the real Liqo live there, and nothing of them is seen outside.
# Usage: scripts/liqo-network.sh COMMAND [ARGUMENT…]    Exit code 3: such a namespace cannot be made here.
set -eu

cannot() {
  echo "clusters with Liqo cannot run here: $1" >&2
  exit 3
}

for program in unshare nsenter ip mount; do
  command -v "$program" >/dev/null || cannot "there is no $program; install util-linux, mount and iproute2"
done
# Without the rights of root, a user namespace gives them over itself alone.
for rights in --net --map-root-user; do
  if unshare --net "$rights" ip link set lo up 2>/dev/null; then
    # shellcheck disable=SC2016 # the inner shell expands it
    exec unshare --net "$rights" sh -c \
      'ip link set lo up && ip route add local 10.0.0.0/8 dev lo && exec "$@"' sh "$@"
  fi
done
cannot "no network namespace can be made; run it as root, or allow user namespaces (sysctl user.max_user_namespaces)"
