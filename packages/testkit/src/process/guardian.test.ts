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

/** Starts a sleeping process under guard and waits; prints the sleeper's number. */
const RUNNER = `
  import { spawn } from "node:child_process";
  import { startGuardian } from ${JSON.stringify(GUARDIAN)};
  const sleeper = spawn("sleep", ["1000"], { stdio: "ignore" });
  startGuardian(process.argv[1]).watch(sleeper.pid);
  console.log(sleeper.pid);
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
    const sleeper = line.toString().trim();
    expect(isRunning(sleeper)).toBe(true);
    runner.kill(signal);
    await vi.waitFor(() => expect([isRunning(sleeper), existsSync(folder)]).toEqual([false, false]));
  },
);

test("a guardian that has nothing to do ends when told so", async () => {
  const folder = await mkdtemp(join(tmpdir(), "guarded-"));
  const guardian = startGuardian(folder);
  guardian.watch(1);
  guardian.forget();
  await guardian.finish();
  expect(existsSync(folder)).toBe(false);
});

test("a folder that is not temporary stays", async () => {
  const folder = await mkdtemp(join(tmpdir(), "kept-"));
  const outer = startGuardian(folder);
  onTestFinished(outer.finish);
  await startGuardian().finish();
  expect(await readdir(folder)).toEqual([]);
});
