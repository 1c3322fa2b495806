import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { processesIn, startDemo } from "./testing/demo-process.ts";

const MAIN = join(import.meta.dirname, "../src/main.ts");
const run = promisify(execFile);
/** Only a guard: processes start from their sources, beside other tests. */
const TIMEOUT = { timeout: 180_000 };

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "demo-kept-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test(
  "on a kept folder the ledger is found again; a second instance and a busy port are told what to do",
  TIMEOUT,
  async () => {
    const cwd = await emptyFolder();
    const folder = join(cwd, "kept");
    const start = (...flags: readonly string[]) =>
      startDemo({
        command: [process.execPath, MAIN, "--clusters=2", "--keep=kept", "--no-dashboard", ...flags],
        cwd,
        env: process.env,
      });
    const first = start();
    await first.untilReady();
    expect(first.folder()).toBe(folder);
    const brokerctl = async (...words: readonly string[]): Promise<string> =>
      (await run(join(folder, "brokerctl"), words)).stdout;
    const reserved = await brokerctl("reserve", "--context=rome", "--cpu=2", "--memory=4Gi", "-o", "name");
    const id = /rsv-rome-\w+/.exec(reserved)?.[0] ?? "";
    expect(id).not.toBe("");

    const again = run(process.execPath, [MAIN, "--keep=kept"], { cwd });
    await expect(again).rejects.toMatchObject({
      code: 1,
      stderr: `npm start: --keep: another npm start runs in ${folder}; end that one, or name another folder\n`,
    });
    const port = /https:\/\/127\.0\.0\.1:([0-9]+)/.exec(first.output())?.[1] ?? "";
    await expect(run(process.execPath, [MAIN, `--port=${port}`], { cwd })).rejects.toMatchObject({
      code: 1,
      stderr: `npm start: --port: another process listens on 127.0.0.1:${port}; stop it, choose another port, or leave --port out\n`,
    });

    first.interrupt();
    expect(await first.ended).toEqual({ code: 0 });
    expect(processesIn(folder)).toEqual([]);
    const second = start(`--port=${port}`);
    await second.untilReady();
    expect(second.output()).toContain(`The broker is at https://127.0.0.1:${port}, `);
    expect(second.output()).toMatch(/paris lends 2 CPU \/ 4Gi Memory to rome\./);
    expect(await brokerctl("get", "reservations", "-o", "name")).toContain(id);
    second.interrupt();
    expect(await second.ended).toEqual({ code: 0 });
  },
);

test("a full disk is reported with the remedy, and leaves nothing behind", TIMEOUT, async ({ skip }) => {
  const folder = await emptyFolder();
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", folder]);
  if (status !== 0) return skip("this system does not let us mount a small disk");
  onTestFinished(() => void spawnSync("umount", [folder]));
  await expect(run(process.execPath, [MAIN, `--keep=${folder}`])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^npm start: the disk with \S+ is full \(0\.\d MiB left of the 16 that a demo needs\): free some space there, or name a folder on another disk with --keep\n$/,
    ),
  });
  await until("nothing runs there", async () => processesIn(folder).length === 0 || undefined);
});
