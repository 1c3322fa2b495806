import { get as httpGet } from "node:http";
import { get as httpsGet } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { childOf } from "./child.ts";
import { type Guardian, startGuardian } from "./guardian.ts";

const ASK_EVERY_MS = 5;
/** Answering costs the program time: where it takes long, it is asked less often. */
const SHARE_OF_THE_WAIT = 0.05;
/** A guard for a machine that does much else; an idle one needs a second or two. */
const READY_WITHIN_MS = 180_000;
/** A program that is only slow must not be taken for one that does not serve. */
const ANSWER_WITHIN_MS = 3000;
const SHOWN_LINES = 5;

/** A program in a process of its own, which can be ended and started again. */
export interface Program {
  /** Undefined while it is down. */
  readonly pid: number | undefined;
  /** Sends a signal, SIGKILL unless another is named, and waits for the end. The exit code; null after a deadly signal. */
  readonly kill: (signal?: NodeJS.Signals) => Promise<number | null>;
  /** Resolves when its last life is over, whoever ended it. The exit code; null after a deadly signal. */
  readonly ended: () => Promise<number | null>;
  /** Starts it, ending it first if it runs, with what it kept, on the same ports. Resolves when ready; says how long that took. */
  readonly restart: () => Promise<{ readonly readyAfterMs: number }>;
  /** Starts it without waiting for it to be ready. */
  readonly launch: () => Promise<void>;
  /** Resolves when it says that it is ready. */
  readonly ready: () => Promise<void>;
  /** Asks it to stop, as a supervisor would. */
  readonly stop: () => Promise<number | null>;
  /** It keeps its connections and does nothing (SIGSTOP), until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** What it has logged so far, also before a restart. */
  readonly logLines: () => Promise<string[]>;
}

export interface ProgramOptions {
  /** What it is, for messages and its log file: `broker`. */
  readonly name: string;
  readonly command: readonly string[];
  /** Where it works and logs. */
  readonly directory: string;
  readonly guardian: Guardian;
  /** Whether it serves; a rejection is a no. */
  readonly isReady: () => Promise<boolean>;
  readonly readyWithinMs?: number | undefined;
}

/** Nothing runs before `launch` or `restart`. */
export function programOf(options: ProgramOptions): Program {
  const { name, command, directory, guardian, isReady, readyWithinMs = READY_WITHIN_MS } = options;
  const child = childOf({ command, cwd: directory, logFile: join(directory, `${name}.log`), guardian });

  const ready = async (): Promise<void> => {
    const beganAt = performance.now();
    const waitedMs = (): number => performance.now() - beganAt;
    while (child.pid() !== undefined && waitedMs() < readyWithinMs) {
      if (await isReady().catch(() => false)) return;
      await sleep(Math.max(ASK_EVERY_MS, SHARE_OF_THE_WAIT * waitedMs()));
    }
    const last = (await child.logLines()).slice(-SHOWN_LINES).join("\n");
    throw new Error(`the ${name} is not ready after ${readyWithinMs} ms, or has ended:\n${last}`);
  };
  const send = (signal: NodeJS.Signals): void => {
    const pid = child.pid();
    if (pid === undefined) throw new Error(`the ${name} is down: it cannot be paused or resumed`);
    process.kill(pid, signal);
  };

  return {
    get pid() {
      return child.pid();
    },
    kill: (signal = "SIGKILL") => child.kill(signal),
    ended: child.ended,
    restart: async () => {
      await child.kill("SIGKILL");
      const startedAt = performance.now();
      await child.launch();
      await ready();
      return { readyAfterMs: performance.now() - startedAt };
    },
    launch: child.launch,
    ready,
    stop: () => child.kill("SIGTERM"),
    pause: () => send("SIGSTOP"),
    resume: () => send("SIGCONT"),
    logLines: child.logLines,
  };
}

/** One with a guardian of its own: `dispose` ends everything, also after a failure, and removes what was temporary. */
export interface OwnProgram extends Program {
  readonly dispose: () => Promise<void>;
}

export function ownProgram(
  options: Omit<ProgramOptions, "guardian"> & { readonly isTemporary: boolean },
): OwnProgram {
  const guardian = startGuardian(options.isTemporary ? options.directory : "");
  const program = programOf({ ...options, guardian });
  const dispose = async (): Promise<void> => {
    await program.kill();
    await guardian.finish();
  };
  // Defined, not spread: the process number changes with every start.
  return Object.defineProperties({ dispose } as OwnProgram, Object.getOwnPropertyDescriptors(program));
}

/** Whether somebody on this machine answers here with 200; with an authority, over TLS. */
export function isServed(place: {
  readonly port: number;
  readonly path: string;
  readonly ca?: string;
}): Promise<boolean> {
  const get = place.ca === undefined ? httpGet : httpsGet;
  return new Promise((resolve) => {
    const sent = get({ host: "127.0.0.1", agent: false, ...place }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.on("error", () => resolve(false));
    sent.setTimeout(ANSWER_WITHIN_MS, () => sent.destroy());
  });
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
