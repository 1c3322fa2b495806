import { join } from "node:path";
import { childOf } from "./child.ts";
import { startGuardian } from "./guardian.ts";
import { type Endpoints, untilReady } from "./readiness.ts";

export interface ProgramOptions {
  /** What it is, for messages and its log file: `broker`. */
  readonly name: string;
  readonly command: readonly string[];
  /** Where it works and logs. */
  readonly directory: string;
  /** True: the folder is removed at the end. */
  readonly isTemporary: boolean;
  readonly endpoints: Endpoints;
  readonly readyWithinMs?: number;
}

/** A program of ours in a process of its own. */
export interface Program {
  /** Undefined while it is down. */
  readonly pid: number | undefined;
  /** Sends a signal and waits for the end. Returns the exit code; null after a deadly signal. */
  readonly kill: (signal: NodeJS.Signals) => Promise<number | null>;
  /** Resolves when its last life is over, whoever ended it. The exit code; null after a deadly signal. */
  readonly ended: () => Promise<number | null>;
  /** Starts again with what it kept, on the same ports. Resolves when ready; says how long that took. */
  readonly restart: () => Promise<{ readonly readyAfterMs: number }>;
  /** The same without waiting for it to be ready. */
  readonly launch: () => Promise<void>;
  /** Resolves when it says that it is ready. */
  readonly ready: () => Promise<void>;
  /** Asks it to stop, as a supervisor would. */
  readonly stop: () => Promise<number | null>;
  /** Ends everything, also after a failure, and removes what was temporary. */
  readonly dispose: () => Promise<void>;
  /** What it has logged so far, also before a restart. */
  readonly logLines: () => Promise<string[]>;
}

/** A guard for a machine that does much else; an idle one needs a second. */
const READY_WITHIN_MS = 110_000;

/** Nothing runs before `launch` or `restart`. */
export function programOf(options: ProgramOptions): Program {
  const { name, command, directory, endpoints, readyWithinMs = READY_WITHIN_MS } = options;
  const guardian = startGuardian(options.isTemporary ? directory : "");
  const child = childOf({ command, cwd: directory, logFile: join(directory, `${name}.log`), guardian });

  const ready = async (): Promise<void> => {
    const isRunning = (): boolean => child.pid() !== undefined;
    if (await untilReady(endpoints, { isRunning, withinMs: readyWithinMs })) return;
    const last = (await child.logLines()).slice(-5).join("\n");
    throw new Error(`the ${name} is not ready after ${readyWithinMs} ms, or has ended:\n${last}`);
  };

  return {
    get pid() {
      return child.pid();
    },
    kill: child.kill,
    ended: child.ended,
    restart: async () => {
      const startedAt = performance.now();
      await child.launch();
      await ready();
      return { readyAfterMs: performance.now() - startedAt };
    },
    launch: child.launch,
    ready,
    stop: () => child.kill("SIGTERM"),
    dispose: async () => {
      await child.kill("SIGKILL");
      await guardian.finish();
    },
    logLines: child.logLines,
  };
}

export interface CommandOptions {
  /** A bundled program. Absent: the sources. */
  readonly program?: string;
  readonly nodeFlags?: readonly string[];
  /** What its environment has beside ours. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The core it may run on. Absent: any. */
  readonly cpu?: number;
}

/** How Node is called for a program of ours. */
export function nodeCommand(
  source: string,
  { program = source, nodeFlags = [], environment = {}, cpu }: CommandOptions,
): string[] {
  const pinned = cpu === undefined ? [] : ["taskset", "-c", String(cpu)];
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const surrounded = settings.length === 0 ? [] : ["env", ...settings];
  return [...pinned, ...surrounded, process.execPath, ...nodeFlags, program];
}
