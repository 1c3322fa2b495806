import { X509Certificate } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../run.ts";

export interface Outcome {
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly err: string;
}

/** Noon on a winter day; tests move on from here. */
export const TEST_START = Date.UTC(2026, 0, 15, 12);
export const DAY_MS = 86_400_000;
/** Where nobody listens. */
export const NOWHERE = "https://127.0.0.1:1";

export type Cli = Awaited<ReturnType<typeof startCli>>;

/** brokerctl in this process, on a clock of its own and a certificate folder of its own. */
export async function startCli(whenDone: WhenDone) {
  const dir = join(await temporaryFolder(whenDone), "certs");
  let now = TEST_START;
  /** Runs `brokerctl certs …` in this folder. */
  const certs = (...args: readonly string[]): Promise<Outcome> =>
    runCli(["certs", ...args], { now: () => now, env: { BROKERCTL_CERTS_DIR: dir } });
  const path = (...parts: readonly string[]): string => join(dir, ...parts);
  const read = (...parts: readonly string[]): Promise<string> => readFile(path(...parts), "utf8");
  return {
    dir,
    certs,
    /** The standard output of a command that must succeed. */
    ok: async (...args: readonly string[]): Promise<string> => {
      const { code, out, err } = await certs(...args);
      if (code !== 0) throw new Error(`brokerctl certs ${args.join(" ")} ended with ${code}: ${err}`);
      return out;
    },
    /** Moves the clock. */
    advance: (ms: number): void => {
      now += ms;
    },
    path,
    read,
    /** The tls.crt of a folder. */
    certificate: async (...folder: readonly string[]) =>
      new X509Certificate(await read(...folder, "tls.crt")),
    /** Every file below the folder with its content: two pictures are equal when nothing was changed. */
    snapshot: async (): Promise<Readonly<Record<string, string>>> => {
      const entries = await readdir(dir, { recursive: true, withFileTypes: true });
      const files = entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name));
      return Object.fromEntries(
        await Promise.all(files.map(async (file) => [file, await readFile(file, "utf8")] as const)),
      );
    },
  };
}

/** Vitest's `onTestFinished`. */
type WhenDone = (cleanUp: () => Promise<void>) => void;

/** An empty folder for the running test; gone, with the keys in it, when the test is over. */
export async function temporaryFolder(whenDone: WhenDone): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "brokerctl-"));
  whenDone(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

interface RunCliOptions {
  readonly now?: () => number;
  readonly env?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
  /** What is piped into standard input; absent: nothing is. */
  readonly readInput?: () => Promise<string>;
  /** What a person answers; absent: there is none. */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** Takes an address to show it, or does not. */
  readonly openInBrowser?: (url: string) => Promise<boolean>;
  /** Hears what is printed as it is printed: for commands that do not end by themselves. */
  readonly onOut?: (text: string) => void;
  /** Takes what is said on Ctrl-C; returns how to stop listening. */
  readonly onInterrupt?: (words: () => string) => () => void;
  /** What happens while a command waits; without it, waiting is a mistake of the test. */
  readonly pause?: (ms: number) => Promise<void>;
}

export async function runCli(args: readonly string[], options: RunCliOptions = {}): Promise<Outcome> {
  const { onOut, ...world } = options;
  let [out, err] = ["", ""];
  const code = await run(args, {
    out: (text) => {
      out += text;
      onOut?.(text);
    },
    note: (text) => (err += text),
    now: () => TEST_START,
    env: {},
    pause: neverPause,
    ...world,
  });
  return { code, out, err };
}

async function neverPause(ms: number): Promise<void> {
  throw new Error(`nobody should wait here, but a command wants to for ${ms} ms`);
}

/** The cells of a table, without the widths. */
export function cellsOf(table: string): string[][] {
  return table
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/u));
}
