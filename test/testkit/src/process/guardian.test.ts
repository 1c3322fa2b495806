import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";

const GUARDIAN = pathToFileURL(join(import.meta.dirname, "guardian.ts")).href;

/** Starts three sleeping processes under guard, lets the first go, and waits; prints their numbers. */
const RUNNER = `
  import { spawn } from "node:child_process";
  import { startGuardian } from ${JSON.stringify(GUARDIAN)};
  const guardian = startGuardian(process.argv[1]);
  const sleepers = [1, 2, 3].map(() => spawn("sleep", ["1000"], { stdio: "ignore" }).pid);
  for (const sleeper of sleepers) guardian.watch(sleeper);
  guardian.forget(sleepers[0]);
  console.log(sleepers.join(" "));
  setInterval(() => {}, 1000);
`;

/** A process that has ended may be listed until somebody asks for its exit code; it has no command line then. */
function isRunning(pid: string): boolean {
  return existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
}

test.each(["SIGKILL", "SIGINT"] as const)(
  "a program that ends by %s leaves behind no folder, and no process but those to be spared",
  async (signal) => {
    const folder = await mkdtemp(join(tmpdir(), "guarded-"));
    const command = ["--input-type=module", "-e", RUNNER, folder];
    const runner = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "ignore"] });
    onTestFinished(() => void runner.kill("SIGKILL"));
    const [line] = (await once(runner.stdout, "data")) as [Buffer];
    const [spared = "", ...others] = line.toString().trim().split(" ");
    onTestFinished(() => void process.kill(Number(spared), "SIGKILL"));
    expect([...others.map(isRunning), existsSync(folder)]).toEqual([true, true, true]);
    runner.kill(signal);
    const left = () => expect([...others.map(isRunning), existsSync(folder)]).toEqual([false, false, false]);
    await vi.waitFor(left, { timeout: 60_000 });
    expect(isRunning(spared)).toBe(true);
  },
);
