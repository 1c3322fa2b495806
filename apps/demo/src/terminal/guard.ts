import { spawn } from "node:child_process";
import { LEAVE } from "./screen.ts";

/**
 * Waits until its parent process has ended. If the parent did not write "done" before, it was killed and could not
 * restore the terminal: then this script restores it.
 */
const SCRIPT = `
  last=
  while read -r line; do last=$line; done
  [ "$last" = done ] && exit
  printf '${LEAVE.replaceAll("\u001b", String.raw`\033`)}'
  stty sane <&1 2>/dev/null
`;

export interface TerminalGuard {
  /** The terminal was given back in good order. */
  readonly done: () => void;
}

/** A small shell beside us: handlers of our own do not run when we are killed. */
export function guardTerminal(): TerminalGuard {
  // A session of its own: Ctrl-C must not end it before us.
  const shell = spawn("sh", ["-c", SCRIPT], { stdio: ["pipe", "inherit", "ignore"], detached: true });
  shell.on("error", () => undefined);
  shell.stdin.on("error", () => undefined);
  shell.unref();
  return { done: () => void shell.stdin.end("done\n") };
}
