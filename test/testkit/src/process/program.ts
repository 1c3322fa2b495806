import { type ClientRequest, get as httpGet } from "node:http";
import { get as httpsGet } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PATH } from "@resource-broker/contract";
import { childOf } from "./child.ts";
import { startGuardian } from "./guardian.ts";

const HOST = "127.0.0.1";
const ASK_EVERY_MS = 5;
/** Answering costs the program time: where it takes long, it is asked less often. */
const SHARE_OF_THE_WAIT = 0.05;

interface Endpoints {
  readonly probePort: number;
  /** Absent: the program serves nothing but its probes. */
  readonly api?: { readonly port: number; readonly ca: string };
}

/** Asks until the program says it is ready and its API answers; false when it ends, or takes too long. */
async function untilReady(
  { probePort, api }: Endpoints,
  { isRunning, withinMs }: { readonly isRunning: () => boolean; readonly withinMs: number },
): Promise<boolean> {
  const beganAt = performance.now();
  const waitedMs = (): number => performance.now() - beganAt;
  const probe = { host: HOST, port: probePort, path: PATH.readiness, agent: false };
  const health = api === undefined ? undefined : { host: HOST, path: PATH.health, agent: false, ...api };
  let isReady = false;
  while (isRunning() && waitedMs() < withinMs) {
    isReady ||= (await statusOf(httpGet(probe))) === 200;
    // The probe may answer a moment before the API's port is open.
    if (isReady && (health === undefined || (await statusOf(httpsGet(health))) === 200)) return true;
    await sleep(Math.max(ASK_EVERY_MS, SHARE_OF_THE_WAIT * waitedMs()));
  }
  return false;
}

/** Undefined: nobody answered. */
function statusOf(sent: ClientRequest): Promise<number | undefined> {
  return new Promise((resolve) => {
    sent.once("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", () => resolve(undefined));
    sent.setTimeout(1000, () => sent.destroy());
  });
}

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
