import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** What a program asked of the system, in order: writes to its log, syncs of it that have returned, and answers sent. */
export type SystemCall = "write to the log" | "sync of the log" | "answer";

/** Only what matters here, and which file or connection it was about. */
const TRACED = [
  "-f",
  "-yy",
  "-e",
  "trace=write,writev,pwrite64,pwritev,sendmsg,fsync,fdatasync",
  "-e",
  "signal=none",
];
const LOG = /ledger\.db-wal>/;
const SYNC = /\b(fsync|fdatasync)\(/;
/** At once, or after other threads were shown in between. */
const RETURNED = /\b(fsync|fdatasync)( resumed|\(.*\) += )/;
/** `12<TCP:[127.0.0.1:20000->127.0.0.1:40000]>`: to a client, not to a file. */
const CLIENT = /<TCP(v6)?:\[/;
const POLL_EVERY_MS = 20;

/** Undefined where system calls cannot be traced; then it says why. */
export function tracerProblem(): string | undefined {
  try {
    execFileSync("strace", ["-o", "/dev/null", "true"], { stdio: "ignore" });
    return undefined;
  } catch (error) {
    return `strace cannot be used here (apt-get install -y strace): ${String(error)}`;
  }
}

export interface Tracing {
  readonly stop: () => Promise<SystemCall[]>;
}

/** Watches a process that is running already, with all its threads. */
export async function traceProcess(pid: number, output: string): Promise<Tracing> {
  const tracer = spawn("strace", [...TRACED, "-o", output, "-p", String(pid)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  // It says so when it has attached itself.
  await once(tracer.stderr, "data");
  return {
    stop: async () => {
      const ended = once(tracer, "exit");
      tracer.kill("SIGINT");
      await ended;
      return callsIn(await readFile(output, "utf8"));
    },
  };
}

/** Starts a program under observation from its first moment. */
export function startTraced(
  command: readonly string[],
  output: string,
): Tracing & { readonly pid: () => number } {
  const tracer = spawn("strace", [...TRACED, "-o", output, ...command], { stdio: "ignore" });
  return {
    pid: () => tracer.pid ?? 0,
    stop: async () => {
      const ended = once(tracer, "exit");
      const [child] = execFileSync("pgrep", ["-P", String(tracer.pid)], { encoding: "utf8" }).split("\n");
      process.kill(Number(child), "SIGKILL");
      await Promise.race([ended, sleep(POLL_EVERY_MS * 100)]);
      return callsIn(await readFile(output, "utf8"));
    },
  };
}

export function callsIn(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  /** Threads that are inside a sync of the log: it counts when it has returned. */
  const syncing = new Set<string>();
  for (const line of trace.split("\n")) {
    const thread = line.slice(0, line.indexOf(" "));
    if (SYNC.test(line) && LOG.test(line)) syncing.add(thread);
    else if (LOG.test(line)) calls.push("write to the log");
    else if (CLIENT.test(line)) calls.push("answer");
    if (RETURNED.test(line) && syncing.delete(thread) && line.includes("= 0")) calls.push("sync of the log");
  }
  return calls;
}
