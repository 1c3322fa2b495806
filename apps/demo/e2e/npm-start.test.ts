import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { processesIn, startDemo } from "./testing/demo-process.ts";

const root = join(import.meta.dirname, "../../..");
const MAIN = join(root, "apps/demo/src/main.ts");
const run = promisify(execFile);
/** Only a guard: six processes start from their sources, beside other tests. */
const TIMEOUT = { timeout: 120_000 };

const hasKubectl = await run("kubectl", ["version", "--client"]).then(
  () => true,
  () => false,
);

/** What a person reads meanwhile. */
const STORY = [
  /^[0-9:]{8} {2}paris lends 4 CPU \/ 8Gi Memory to rome\. Why: more room left and cheaper than berlin/m,
  /^[0-9:]{8} {2}rome: rsv-rome-\w+: Activated by its requester\.$/m,
  /^[0-9:]{8} {2}paris: rsv-rome-\w+: Held by its provider\.$/m,
  /^[0-9:]{8} {2}rome: rsv-rome-\w+: Ended: ReleasedByRequester\b/m,
];

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "demo-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe("npm start", () => {
  test.skipIf(!hasKubectl)(
    "prints five commands that show a reservation travel the whole way, and leaves nothing behind (needs kubectl)",
    TIMEOUT,
    async () => {
      const elsewhere = await emptyFolder();
      const env = { ...process.env, HOME: elsewhere };
      const demo = startDemo({ command: ["npm", "start"], cwd: root, env });
      await demo.untilReady();
      const shell = async (command: string): Promise<string> => {
        const { stdout, stderr } = await run("sh", ["-c", command], { cwd: elsewhere, env });
        return stdout + stderr;
      };
      const [apply = "", getRome = "", getParis = "", quote = "", remove = "", ...more] = demo.commands();
      expect(more).toEqual([]);

      expect(await shell(apply)).toMatch(/^resourcerequest\S+more-room created$/m);
      const shows = (command: string, ...lines: readonly RegExp[]) =>
        until(`${command} shows it`, async () => {
          const shown = await shell(command);
          for (const line of lines) expect(shown).toMatch(line);
          return shown;
        });
      await shows(
        getRome,
        /^resourcerequest\S+more-room +4 +8Gi +Active +paris /m,
        /^reservationinstruction\S+rsv-rome-\w+ +paris +4 +8Gi +true /m,
      );
      await shows(getParis, /^rsv-rome-\w+-provider +rome +4 +8Gi +true /m);
      const quoted = await shell(quote);
      expect(quoted).toMatch(/^tokyo lends 2 CPU \/ 8Gi Memory \/ 1 GPU to rome\.$/m);
      expect(quoted).toMatch(/^paris .* offers no GPU$/m);
      expect(await shell(remove)).toMatch(/^resourcerequest\S+ "more-room" deleted/m);
      await shows(getParis, /^No resources found/);
      await shows(getRome, /^No resources found/);
      await until("it has told of all of it", async () => {
        for (const line of STORY) expect(demo.output()).toMatch(line);
        return true;
      });

      const [, link = ""] = /^The dashboard: (http\S+)$/m.exec(demo.output()) ?? [];
      expect(await (await fetch(link)).text()).toMatch(/<!doctype html>/i);

      const folder = demo.folder();
      expect(processesIn(folder)).not.toEqual([]);
      demo.interrupt();
      expect(await demo.ended).toEqual({ code: 0 });
      expect({ processes: processesIn(folder), isThere: existsSync(folder) }).toEqual({
        processes: [],
        isThere: false,
      });
    },
  );

  test("killed, it leaves nothing behind; without kubectl it says how to get it", TIMEOUT, async () => {
    const programs = await emptyFolder();
    for (const name of ["sh", "rm", "sleep"]) await symlink(join("/bin", name), join(programs, name));
    const command = [process.execPath, MAIN, "--no-dashboard"];
    const demo = startDemo({ command, cwd: programs, env: { PATH: programs } });
    await demo.untilReady();
    expect(demo.output()).toContain("kubectl is not installed here");
    const folder = demo.folder();
    expect(processesIn(folder)).not.toEqual([]);
    demo.kill();
    await demo.ended;
    await until(
      "all of it is gone",
      async () => (processesIn(folder).length === 0 && !existsSync(folder)) || undefined,
    );
  });

  const wrong = [
    {
      name: "an unknown flag",
      flags: ["--kepe=x"],
      says: 'npm start: unknown argument "kepe": did you mean --keep?',
    },
    {
      name: "a folder that is in use",
      flags: ["--keep=used"],
      says: /npm start: --keep: \S+used is not empty and was not created by an earlier demo; name a new folder/,
    },
    {
      name: "a folder that is a file",
      flags: ["--keep=used/thesis.txt"],
      says: /npm start: \S+thesis.txt is a file, not a folder; name another folder with --keep/,
    },
  ];

  test.each(wrong)("ends with code 2 and the remedy for $name", async ({ flags, says }) => {
    const cwd = await emptyFolder();
    await mkdir(join(cwd, "used"));
    await writeFile(join(cwd, "used", "thesis.txt"), "precious");
    const ended = run(process.execPath, [MAIN, ...flags], { cwd });
    await expect(ended).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(says) });
  });

  test("prints its help", async () => {
    const { stdout } = await run(process.execPath, [MAIN, "--help"]);
    expect(stdout).toContain("Usage: npm start");
  });
});
