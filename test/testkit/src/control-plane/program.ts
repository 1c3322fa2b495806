import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { childOf } from "../process/child.ts";
import type { Guardian } from "../process/guardian.ts";
import type { ControlPlaneProgram } from "./control-plane.ts";

const ASK_EVERY_MS = 20;
/** A guard for a machine that does much else; an idle one needs two seconds. */
const READY_WITHIN_MS = 180_000;
const SHOWN_LINES = 5;

export interface ProgramParts {
  readonly name: string;
  readonly command: readonly string[];
  readonly directory: string;
  readonly guardian: Guardian;
  /** Whether it serves; a rejection is a no. */
  readonly isReady: () => Promise<boolean>;
}

/** Nothing runs before `restart`. */
export function controlPlaneProgram(parts: ProgramParts): ControlPlaneProgram {
  const { name, command, directory, guardian, isReady } = parts;
  const child = childOf({ command, cwd: directory, logFile: join(directory, `${name}.log`), guardian });

  const send = (signal: NodeJS.Signals): void => {
    const pid = child.pid();
    if (pid === undefined) throw new Error(`the ${name} is down: it cannot be paused or resumed`);
    process.kill(pid, signal);
  };

  const untilReady = async (): Promise<void> => {
    const deadline = performance.now() + READY_WITHIN_MS;
    while (child.pid() !== undefined && performance.now() < deadline) {
      if (await isReady().catch(() => false)) return;
      await sleep(ASK_EVERY_MS);
    }
    const problem = child.pid() === undefined ? "has ended" : `is not ready after ${READY_WITHIN_MS} ms`;
    throw new Error(`the ${name} ${problem}:\n${(await child.logLines()).slice(-SHOWN_LINES).join("\n")}`);
  };

  return {
    get pid() {
      return child.pid();
    },
    kill: async () => void (await child.kill("SIGKILL")),
    restart: async () => {
      await child.kill("SIGKILL");
      const startedAt = performance.now();
      await child.launch();
      await untilReady();
      return { readyAfterMs: performance.now() - startedAt };
    },
    pause: () => send("SIGSTOP"),
    resume: () => send("SIGCONT"),
    logLines: child.logLines,
  };
}
