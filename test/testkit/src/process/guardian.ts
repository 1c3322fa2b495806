import { spawn } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";

/**
 * Reads line by line which processes run. When its input ends, its parent process has ended: then
 * it kills the processes that still run and removes the folder, repeatedly if an ending process still writes into it.
 */
const SCRIPT = `
  while read -r change pid; do
    others=
    for each in $running; do [ "$each" = "$pid" ] || others="$others $each"; done
    [ "$change" = forget ] || others="$others $pid"
    running=$others
  done
  [ -z "$running" ] || kill -9 $running 2>/dev/null
  [ -z "$1" ] || rm -rf "$1" 2>/dev/null || { sleep 1; rm -rf "$1"; }
`;

/** Sees to it that processes and a folder do not outlive this program, even when it is killed. */
export interface Guardian {
  readonly watch: (pid: number) => void;
  readonly forget: (pid: number) => void;
  /** Does what would be done at the end, now. */
  readonly finish: () => Promise<void>;
}

/** A small shell beside us: handlers of our own would not run when a test runner kills its workers. */
export function startGuardian(temporaryFolder = ""): Guardian {
  // A session of its own: Ctrl-C must not end it before it has cleared up.
  const shell = spawn("sh", ["-c", SCRIPT, "guardian", temporaryFolder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  shell.unref();
  shell.stdin.on("error", () => undefined);
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return {
    watch: (pid) => void shell.stdin.write(`watch ${pid}\n`),
    forget: (pid) => void shell.stdin.write(`forget ${pid}\n`),
    finish: async () => {
      if (shell.exitCode !== null || shell.signalCode !== null) return;
      const ended = once(shell, "exit");
      shell.ref();
      shell.stdin.end();
      await ended;
    },
  };
}
