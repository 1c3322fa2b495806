import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import type { Guardian } from "./guardian.ts";

export interface ChildOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly logFile: string;
  readonly guardian: Guardian;
}

/** A program that can be started again and again. */
export interface Child {
  /** Undefined while it is down. */
  readonly pid: () => number | undefined;
  readonly launch: () => Promise<void>;
  /** Sends a signal and waits for the end. Returns the exit code; null after a deadly signal. */
  readonly kill: (signal: NodeJS.Signals) => Promise<number | null>;
  /** Resolves when its last life is over, whoever ended it. The exit code; null after a deadly signal, or before any life. */
  readonly ended: () => Promise<number | null>;
  /** What it wrote so far, in all its lives. */
  readonly logLines: () => Promise<string[]>;
}

export function childOf({ command, cwd, logFile, guardian }: ChildOptions): Child {
  let child: ChildProcess | undefined;
  let end: Promise<number | null> = Promise.resolve(null);
  return {
    pid: () => child?.pid,
    launch: async () => {
      if (child !== undefined) throw new Error("the program is running already");
      const [program = "", ...flags] = command;
      // Straight into a file: reading a pipe would take this process's time, and a full one would stop the program.
      const log = await open(logFile, "a");
      // A session of its own: Ctrl-C is for whoever started it, who ends it in good order.
      const started = spawn(program, flags, { stdio: ["ignore", log.fd, log.fd], cwd, detached: true });
      child = started;
      started.once("exit", () => {
        guardian.forget(started.pid ?? 0);
        child = undefined;
      });
      end = new Promise((resolve) => void started.once("exit", resolve));
      started.once("spawn", () => guardian.watch(started.pid ?? 0));
      await Promise.all([once(started, "spawn"), log.close()]);
    },
    kill: async (signal) => {
      if (child === undefined) return null;
      const ended = once(child, "exit");
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
    ended: () => end,
    logLines: async () => (await readFile(logFile, "utf8")).split("\n").filter((line) => line !== ""),
  };
}
