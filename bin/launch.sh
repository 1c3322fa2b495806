# shellcheck shell=sh
# For bin/agent and bin/broker. From a clone the sources run, on the Node that npm installs here and that is installed
# first where it is missing. Where there are no sources, beside a copy of dist/, the bundle runs on the Node in PATH.

launch() { # <the folder above this one> <program> <arguments …>
  root=$1 program=$2
  shift 2
  main=$root/packages/$program/src/main.ts
  if [ -f "$main" ]; then
    node=$root/node_modules/.bin/node
    if [ ! -x "$node" ]; then
      need_node 20
      node "$root/scripts/bootstrap.mjs" >&2
    fi
    exec "$node" "$main" "$@"
  fi
  if [ ! -x "$root/dist/$program" ]; then
    echo "$program: there is neither $main nor $root/dist/$program: run \"make build\" in a clone and copy dist/ beside bin/" >&2
    exit 1
  fi
  need_node 24
  exec "$root/dist/$program" "$@"
}

need_node() { # <major version>
  if ! command -v node >/dev/null; then
    echo "$program: there is no node in PATH: install Node $1 or newer" >&2
    exit 1
  fi
  version=$(node --version)
  major=${version#v}
  if [ "${major%%.*}" -lt "$1" ]; then
    echo "$program: node in PATH is $version: Node $1 or newer is needed" >&2
    exit 1
  fi
}
