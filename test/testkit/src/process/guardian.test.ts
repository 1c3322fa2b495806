import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { startGuardian } from "./guardian.ts";

const GUARDIAN = pathToFileURL(join(import.meta.dirname, "guardian.ts")).href;

/** Only a guard: real processes on a busy machine take their time. */
const TIMEOUT = { timeout: 60_000 };

/** Starts two sleeping processes under guard and waits; prints their numbers. */
const RUNNER = `
  import { spawn } from "node:child_process";
  import { startGuardian } from ${JSON.stringify(GUARDIAN)};
  const guardian = startGuardian(process.argv[1]);
  const sleepers = [1, 2].map(() => spawn("sleep", ["1000"], { stdio: "ignore" }).pid);
  for (const sleeper of sleepers) guardian.watch(sleeper);
  console.log(sleepers.join(" "));
  setInterval(() => {}, 1000);
`;

/** A process that has ended may be listed until somebody asks for its exit code; it has no command line then. */
function isRunning(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

test.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
  "a program that ends by %s leaves no process and no folder behind",
  async (signal) => {
    const folder = await mkdtemp(join(tmpdir(), "guarded-"));
    const runner = spawn(process.execPath, ["--input-type=module", "-e", RUNNER, folder], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void runner.kill("SIGKILL"));
    const [line] = (await once(runner.stdout, "data")) as [Buffer];
    const sleepers = line.toString().trim().split(" ");
    expect(sleepers.map(isRunning)).toEqual([true, true]);
    runner.kill(signal);
    await vi.waitFor(
      () => expect([...sleepers.map(isRunning), existsSync(folder)]).toEqual([false, false, false]),
      TIMEOUT,
    );
  },
);

test("a guardian spares a process that it was told to forget, and ends the other", async () => {
  const folder = await mkdtemp(join(tmpdir(), "guarded-"));
  const guardian = startGuardian(folder);
  const [spared, ended] = [1, 2].map(() => spawn("sleep", ["1000"], { stdio: "ignore" }));
  onTestFinished(() => void spared?.kill("SIGKILL"));
  guardian.watch(spared?.pid ?? 0);
  guardian.watch(ended?.pid ?? 0);
  guardian.forget(spared?.pid ?? 0);
  await guardian.finish();
  await vi.waitFor(() => expect(isRunning(String(ended?.pid))).toBe(false), TIMEOUT);
  expect([isRunning(String(spared?.pid)), existsSync(folder)]).toEqual([true, false]);
});

test("a folder that is not temporary stays", async () => {
  const folder = await mkdtemp(join(tmpdir(), "kept-"));
  const outer = startGuardian(folder);
  onTestFinished(outer.finish);
  await startGuardian().finish();
  expect(await readdir(folder)).toEqual([]);
});
