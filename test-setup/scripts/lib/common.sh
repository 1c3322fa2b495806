# shellcheck shell=bash
# shellcheck disable=SC2034 # the scripts that load this file use what it sets
# What every script needs: flags, messages, dry runs, the state folder. Nothing here or in the other files of this folder
# calls a program before the prerequisites were checked: without them the message must still come.

if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  printf '%s\n' "these scripts need bash 4.4 or newer, and this is $BASH_VERSION: install a newer one (brew install bash) and put it first in PATH" >&2
  exit 3
fi

ME=${0##*/}
SETUP=${SCRIPTS%/*}
ROOT=${SETUP%/*}

EXIT_USAGE=2
EXIT_PREREQUISITE=3

# Flags with a value, with their defaults, and flags without one; scripts add their own before read_flags.
declare -A FLAG=([--on]=kind [--state]=${TEST_SETUP_STATE:-$SETUP/.state})
declare -A SWITCH=([--dry-run]='')
# What follows "--", for scripts that pass it on.
REST=()
TAKES_REST=''

COMMON_USAGE="  --on kind|sim|real|liqo
                      where the clusters come from (default kind):
                        kind  Docker containers; needs docker and kind
                        sim   simulated API servers of this repository; needs neither
                        real  a real kube-apiserver and etcd for each, nodes without kubelets; needs \"npm run kube:assets\" once
                        liqo  the same with a scheduler, fake nodes and the real Liqo: reservations become nodes that
                              run pods; in a network namespace of their own, so it needs root or user namespaces, and
                              \"npm run kube:assets\" and \"npm run liqo:assets\" once
  --state DIR         folder for everything that is made (default test-setup/.state, or \$TEST_SETUP_STATE);
                      each of kind, sim, real and liqo has its own folder in it
  --dry-run           print every command, run none of them
  --help              this text"

say() { printf '%s\n' "$*"; }

complain() { printf '%s: %s\n' "$ME" "$*" >&2; }

fail() {
  complain "$@"
  exit 1
}

wrong_usage() {
  complain "$1; --help shows how"
  exit "$EXIT_USAGE"
}

is_dry() { [[ -n ${SWITCH[--dry-run]} ]]; }

read_flags() { # <usage> <argument>...
  local usage=$1 given name
  shift
  local -a all=("$@")
  while (($# > 0)); do
    given=$1 name=${1%%=*}
    shift
    if [[ $given == --help || $given == -h ]]; then
      printf '%s\n%s\n' "$usage" "$COMMON_USAGE"
      exit 0
    elif [[ $given == -- && -n $TAKES_REST ]]; then
      REST=("$@")
      break
    elif [[ $given != -?* ]]; then
      wrong_usage "unexpected argument \"$given\""
    elif [[ -v SWITCH[$name] ]]; then
      [[ $given == "$name" ]] || wrong_usage "$name takes no value"
      SWITCH[$name]=yes
    elif [[ -v FLAG[$name] ]]; then
      if [[ $given == *=* ]]; then
        given=${given#*=}
      else
        given=${1-}
        shift || true
      fi
      [[ -n $given && $given != --* ]] || wrong_usage "$name needs a value"
      FLAG[$name]=$given
    else
      wrong_usage "unknown flag $name"
    fi
  done
  settle_state
  enter_network "${all[@]}"
}

settle_state() {
  ON=${FLAG[--on]}
  case $ON in
    kind | sim | real | liqo) ;;
    *) wrong_usage "--on is \"$ON\", but must be kind, sim, real or liqo" ;;
  esac
  STATE_ROOT=${FLAG[--state]}
  [[ $STATE_ROOT == /* ]] || STATE_ROOT=$PWD/$STATE_ROOT
  STATE_ROOT=${STATE_ROOT%/}
  STATE=$STATE_ROOT/$ON
  QUIET_LOG=$STATE/logs/commands.log
}

only_on_kind() { # <flag>...
  local flag
  for flag; do
    [[ -z ${FLAG[$flag]} || $ON == kind ]] || wrong_usage "$flag is for --on kind, not for --on $ON"
  done
}

# The command as it could be typed.
shown() { # <word>...
  local word line=''
  for word; do
    if [[ ! $word =~ ^[A-Za-z0-9_@%+=:,./{}-]+$ ]]; then word="'${word//\'/\'\\\'\'}'"; fi
    line+=" $word"
  done
  printf '%s' "${line# }"
}

would() { printf '+ %s\n' "$*"; }

run() { # <command> <argument>...
  if is_dry; then would "$(shown "$@")"; else "$@"; fi
}

# What it prints goes to a log; when it fails, here as well.
run_quietly() { # <command> <argument>...
  local output
  if is_dry; then
    would "$(shown "$@")"
  elif output=$("$@" 2>&1); then
    printf '%s\n' "$output" >>"$QUIET_LOG"
  else
    complain "this failed: $(shown "$@")"
    printf '%s\n' "$output" >&2
    return 1
  fi
}

# Says what another script of ours does, in its own words.
run_script() { # <name> <argument>...
  local script=$1
  shift
  "$BASH" "$SCRIPTS/$script" --on "$ON" --state "$STATE_ROOT" ${SWITCH[--dry-run]:+--dry-run} "$@"
}

# Asks a command again and again until what it prints matches. SAID is its last answer.
until_says() { # <seconds> <regular expression> <command> <argument>...
  local seconds=$1 wanted=$2 deadline
  shift 2
  SAID=''
  if is_dry; then
    would "$(shown "$@")   # for at most $seconds s, until it prints $wanted"
    return
  fi
  deadline=$((SECONDS + seconds))
  while true; do
    if SAID=$("$@" 2>&1) && [[ $SAID =~ $wanted ]]; then return; fi
    if ((SECONDS >= deadline)); then return 1; fi
    sleep 0.2
  done
}

# The marker tells a folder of ours from one that only has the same name: no other is ever removed.
MARKER="made-by-test-setup"

open_state() {
  if is_dry; then
    if [[ -z ${TEST_SETUP_LOCK:-} ]]; then would "mkdir -p $(shown "$STATE")/{kubeconfigs,certs,run,logs,tmp}"; fi
    export TEST_SETUP_LOCK=none
    return
  fi
  if [[ -d $STATE && ! -e $STATE/$MARKER ]]; then
    fail "$STATE is there, but was not made by these scripts: name another folder with --state"
  fi
  (umask 077 && mkdir -p "$STATE"/{kubeconfigs,certs,run,logs,tmp})
  : >"$STATE/$MARKER"
  lock_state
}

# Two scripts that change one folder at a time would start things twice. A script that calls another one shares its lock.
lock_state() {
  local lock=$STATE/lock holder='' birth=''
  if [[ ${TEST_SETUP_LOCK:-} == "$lock" ]]; then return; fi
  if ! (set -o noclobber && printf '%s %s\n' "$$" "$(birth_of $$)" >"$lock") 2>/dev/null; then
    read -r holder birth <"$lock" || true
    if [[ -n $birth && $(birth_of "$holder") == "$birth" ]]; then
      fail "process $holder is at work in $STATE: wait for it, or name another folder with --state"
    fi
    printf '%s %s\n' "$$" "$(birth_of $$)" >"$lock"
  fi
  export TEST_SETUP_LOCK=$lock
  trap unlock_state EXIT
}

unlock_state() {
  if [[ -n ${TEST_SETUP_LOCK:-} && -e $TEST_SETUP_LOCK ]]; then rm -f "$TEST_SETUP_LOCK"; fi
}
