import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

const STORE = new URL("../sqlite-store.ts", import.meta.url).href;
const GRANTS = new URL("../../common/testing/grants.ts", import.meta.url).href;

export interface OtherProcess {
  readonly pid: number;
  /** The next line it prints. */
  readonly nextLine: () => Promise<string>;
  /** Ends it and returns every line it has printed. */
  readonly kill: (signal: NodeJS.Signals) => Promise<readonly string[]>;
}

/**
 * A real process with the store of this directory in its hands: `script` finds `store`, `Grants` and `print`. Killed
 * when the test ends, at the latest.
 */
export function startProcess(
  directory: string,
  script: string,
  wrapper: readonly string[] = [],
): OtherProcess {
  const code = `
    import { sqliteStore } from ${JSON.stringify(STORE)};
    import { Grants } from ${JSON.stringify(GRANTS)};
    import { writeSync } from "node:fs";
    const print = (line) => writeSync(1, line + "\\n");
    const store = sqliteStore({ directory: ${JSON.stringify(directory)} });
    try { ${script} } catch (error) { print(error.kind + ": " + error.message); }
  `;
  const node = [process.execPath, "--input-type=module", "-e", code];
  const [command, ...args] = [...wrapper, ...node];
  const child = spawn(command ?? "", args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return following(child);
}

function following(child: ChildProcess): OtherProcess {
  if (child.stdout === null || child.pid === undefined) throw new Error("the process did not start");
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  const ended = once(child, "close");
  let taken = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    const waiter = waiting.shift();
    if (waiter !== undefined) waiter(lines[taken++] ?? "");
  });
  return {
    pid: child.pid,
    nextLine: () => {
      const line = lines[taken];
      if (line === undefined) return new Promise((resolve) => waiting.push(resolve));
      taken++;
      return Promise.resolve(line);
    },
    kill: async (signal) => {
      child.kill(signal);
      await ended;
      return lines;
    },
  };
}
