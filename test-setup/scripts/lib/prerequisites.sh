# shellcheck shell=bash
# What must be on the machine. All that is missing is said at once, each with its remedy.

PROBLEMS=()

has() { command -v "$1" >/dev/null 2>&1; }

lacks() { PROBLEMS+=("$1"); }

need_basics() {
  local program
  for program in mkdir rm mv sleep nohup tail base64; do
    if ! has "$program"; then
      lacks "the usual programs ($program …) are not in PATH: put /usr/bin and /bin there"
      return
    fi
  done
}

need_node() {
  PATH=$ROOT/node_modules/.bin:$PATH
  local version
  if ! has node; then
    lacks "node is not installed: install Node.js 20 or newer, with npm"
  elif ! version=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null) || ((version < 20)); then
    lacks "node is too old (${version:-unknown}): install Node.js 20 or newer, with npm"
  fi
}

need_kubectl() {
  local folder
  if has kubectl; then return; fi
  # Where "npm run kube:assets" has put one.
  for folder in "${KUBEBUILDER_ASSETS:-}" "${KUBE_ASSETS_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/resource-broker/kube-assets}"/*; do
    if [[ -x $folder/kubectl ]]; then
      PATH=$PATH:$folder
      return
    fi
  done
  lacks "kubectl is not installed: install it (https://kubernetes.io/docs/tasks/tools), or run \"npm run kube:assets\""
}

need_kind() {
  if ! has kind; then
    lacks "kind is not installed: install it (https://kind.sigs.k8s.io/docs/user/quick-start), or use --on sim"
  fi
  if [[ ${KIND_EXPERIMENTAL_PROVIDER:-docker} != docker ]]; then return; fi
  if ! has docker; then
    lacks "docker is not installed: install Docker, or use --on sim"
  elif ! docker info >/dev/null 2>&1; then
    lacks "docker is installed, but its daemon does not answer: start it, check that you may use it (docker info), or use --on sim"
  fi
}

# What makes clusters.
need_clusters() {
  case $ON in
    kind) need_kind ;;
    sim | real | liqo) need_node ;;
  esac
  need_kubectl
}

# In a dry run nothing is needed.
check_prerequisites() { # <need>...
  local need problem
  if is_dry; then
    PATH=$ROOT/node_modules/.bin:$PATH
    return
  fi
  need_basics
  for need; do "$need"; done
  if ((${#PROBLEMS[@]} == 0)); then return; fi
  complain "not everything that is needed is here:"
  for problem in "${PROBLEMS[@]}"; do printf '  - %s\n' "$problem" >&2; done
  exit "$EXIT_PREREQUISITE"
}

# Brings the dependencies of a fresh clone, the right Node among them; else does nothing.
bootstrap() {
  run node "$ROOT/scripts/bootstrap.mjs"
  hash -r
}
