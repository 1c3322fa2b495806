# shellcheck shell=bash
# Programs in the background: each has run/<name>.pid, its ports beside it, and logs/<name>.log.

# Tells a process from a later one that was given the same number; empty when it is gone or a zombie.
birth_of() { # <pid>
  local stat=''
  local -a fields
  if [[ ! -r /proc/self/stat ]]; then
    ps -o lstart= -p "$1" 2>/dev/null || true
    return
  fi
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
  read -ra fields <<<"${stat##*) }"
  if [[ ${fields[0]} != Z ]]; then printf '%s' "${fields[19]}"; fi
}

remember_process() { # <name> <pid>
  printf '%s %s\n' "$2" "$(birth_of "$2")" >"$STATE/run/$1.pid"
}

# Prints the number of a process of ours that runs; fails when there is none.
pid_of() { # <name>
  local pid='' birth=''
  { read -r pid birth <"$STATE/run/$1.pid"; } 2>/dev/null || return 1
  [[ $pid =~ ^[0-9]+$ && -n $birth && $(birth_of "$pid") == "$birth" ]] || return 1
  printf '%s' "$pid"
}

is_running() { pid_of "$1" >/dev/null; }

# In a group of its own: Ctrl-C is for the script, which ends what it started in good order.
start_process() { # <name> <command> <argument>...
  local name=$1 log=$STATE/logs/$1.log
  shift
  if is_dry; then
    would "nohup $(shown "$@") >$log 2>&1 &"
    return
  fi
  if [[ -e $log ]]; then mv -f "$log" "$log.before"; fi
  (
    set -m
    nohup "$@" >"$log" 2>&1 </dev/null &
    remember_process "$name" $!
  )
}

# Asks it to end, and insists after ten seconds.
stop_process() { # <name>
  local name=$1 pid tries
  if is_dry; then
    would "kill \"\$(cat $STATE/run/$name.pid)\"   # if it is still the process that was started"
    return
  fi
  if pid=$(pid_of "$name"); then
    kill "$pid" 2>/dev/null || true
    for ((tries = 0; tries < 100; tries++)); do
      is_running "$name" || break
      sleep 0.1
    done
    if is_running "$name"; then kill -KILL "$pid" 2>/dev/null || true; fi
    say "$name: stopped (process $pid)"
  fi
  rm -f "$STATE/run/$name.pid"
}

last_lines() { # <name>
  printf '%s\n' "--- the last lines of $STATE/logs/$1.log:" >&2
  tail -n 15 "$STATE/logs/$1.log" >&2 2>/dev/null || true
}

is_listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# A port of this machine on which nobody listens: below those that Linux gives to outgoing connections, so that a client
# whose server is down never gets the server's own port.
choose_port() { # <variable>
  local candidate tries
  if is_dry; then
    printf -v "$1" FREE_PORT
    return
  fi
  for ((tries = 0; tries < 100; tries++)); do
    candidate=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    if ! is_listening "$candidate"; then
      printf -v "$1" '%s' "$candidate"
      return
    fi
  done
  fail "no free port was found between 20000 and 32000"
}

check_port() { # <flag> <port>
  if [[ ! $2 =~ ^[1-9][0-9]{0,4}$ ]] || (($2 > 65535)); then
    wrong_usage "$1 is \"$2\", but must be a port, 1 to 65535"
  fi
}

keep_port() { # <name> <what> <port>
  if ! is_dry; then printf '%s\n' "$3" >"$STATE/run/$1.$2"; fi
}

port_of() { # <name> <what>
  local port=''
  if is_dry; then
    printf 'FREE_PORT'
    return
  fi
  { read -r port <"$STATE/run/$1.$2"; } 2>/dev/null || return 1
  [[ $port =~ ^[0-9]+$ ]] || return 1
  printf '%s' "$port"
}

is_ready() { # <name>
  local answer=''
  (
    exec 3<>"/dev/tcp/127.0.0.1/$(port_of "$1" probes)" || exit 1
    printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3
    read -r -t 5 answer <&3
    [[ $answer == *' 200 '* ]]
  ) 2>/dev/null
}

# Fails when it ends, or is not ready in time.
await_ready() { # <name> <seconds>
  local deadline=$((SECONDS + $2))
  until is_ready "$1"; do
    if ! is_running "$1" || ((SECONDS >= deadline)); then return 1; fi
    sleep 0.1
  done
}
