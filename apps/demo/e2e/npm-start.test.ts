import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { postgresPrograms, startPostgres, until } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  emptyFolder,
  isInstalled,
  MAIN,
  processesIn,
  run,
  startDemo,
  TIMEOUT,
} from "./testing/demo-process.ts";

const root = join(import.meta.dirname, "../../..");

const hasKubectl = await isInstalled("kubectl", "version", "--client");

/** What a person reads meanwhile. */
const STORY = [
  /^[0-9:]{8} {2}paris lends 4 CPU \/ 8Gi Memory to rome\. Why: more room left and cheaper than berlin/m,
  /^[0-9:]{8} {2}rome: rsv-rome-\w+: Activated by its requester\.$/m,
  /^[0-9:]{8} {2}paris: rsv-rome-\w+: Held by its provider\.$/m,
  /^[0-9:]{8} {2}rome: rsv-rome-\w+: Ended: ReleasedByRequester\b/m,
];

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

  test.each([
    ["an unknown flag", "--kepe=x", /^npm start: unknown argument "kepe": did you mean --keep\?/],
    ["a folder in use", "--keep=used", /^npm start: --keep: \S+used is not empty and was not created by/],
    ["a file", "--keep=used/thesis.txt", /^npm start: \S+thesis.txt is a file, not a folder; name another/],
  ])("ends with code 2 and the remedy for %s", async (_, flag, says) => {
    const cwd = await emptyFolder();
    await mkdir(join(cwd, "used"));
    await writeFile(join(cwd, "used", "thesis.txt"), "precious");
    const ended = run(process.execPath, [MAIN, flag], { cwd });
    await expect(ended).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(says) });
  });

  test("prints its help", async () => {
    const { stdout } = await run(process.execPath, [MAIN, "--help"]);
    expect(stdout).toContain("Usage: npm start");
  });
});

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

interface Piece {
  readonly kind: string;
  readonly broker?: { readonly store: string; readonly url: string };
  readonly steps?: readonly { readonly command: string }[];
  readonly decision?: { readonly requester: string; readonly winner?: string };
}

function startJson(...flags: readonly string[]) {
  const command = [process.execPath, MAIN, "--json", "--no-dashboard", ...flags];
  const demo = startDemo({ command, cwd: import.meta.dirname, env: process.env });
  const pieces = (): Piece[] =>
    demo
      .output()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Piece);
  return {
    pieces,
    untilKind: (kind: string) =>
      until(`it tells ${kind}`, async () => pieces().find((piece) => piece.kind === kind), 120_000),
    end: async () => {
      demo.interrupt();
      return demo.ended;
    },
  };
}

test.skipIf(!hasKubectl)(
  "with --interface=kubernetes agents speak through objects, and the broker's cluster shows them (needs kubectl)",
  TIMEOUT,
  async () => {
    const demo = startJson("--clusters=3", "--nodes=2", "--interface=kubernetes");
    const { steps = [] } = await demo.untilKind("ready");
    const shell = async (command = ""): Promise<string> => (await run("sh", ["-c", command])).stdout;
    const [apply, , atHub, quote, remove] = steps.map(({ command }) => command);
    await shell(apply);
    const { decision } = await demo.untilKind("decision");
    expect(decision).toMatchObject({ requester: "rome", winner: expect.stringMatching(/paris|berlin/) });
    await until("the hub shows it", async () => {
      const shown = await shell(atHub);
      expect(shown).toMatch(/^clusteradvertisement\S+rome-adv /m);
      expect(shown).toMatch(/^reservation\S+rsv-rome-\w+ /m);
      return true;
    });
    expect(await shell(quote)).toMatch(/lends 2 CPU \/ 8Gi Memory to rome\.$/m);
    expect(await shell(remove)).toContain("deleted");
    expect(await demo.end()).toEqual({ code: 0 });
    expect(demo.pieces().at(-1)).toEqual({ kind: "ended" });
  },
);

const postgres = postgresPrograms();

test.skipIf(!postgres.isThere)(
  "with --store=postgres://… the ledger is in that database (needs PostgreSQL)",
  TIMEOUT,
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.dispose());
    const demo = startJson("--clusters=2", `--store=${server.url()}`);
    const { broker } = await demo.untilKind("broker");
    expect(broker?.store).toBe("postgres");
    const { steps = [] } = await demo.untilKind("ready");
    await run("sh", ["-c", steps[3]?.command ?? ""]);
    expect(await server.psql("SELECT count(*) FROM resource_broker.lease")).toContain("1");
    expect(await demo.end()).toEqual({ code: 0 });
  },
);

const WITHIN_MS = 60_000;

const hasTmux = await isInstalled("tmux", "-V");

test.skipIf(!hasTmux)(
  "on a terminal a status line stands below the lines, and Ctrl-C leaves the shell as it was (needs tmux)",
  TIMEOUT,
  async () => {
    const server = `demo-test-${randomUUID()}`;
    const tmux = async (...words: readonly string[]): Promise<string> =>
      (await run("tmux", ["-L", server, "-f", "/dev/null", ...words])).stdout;
    onTestFinished(() => tmux("kill-server").then(() => undefined));
    await tmux("new-session", "-d", "-x", "120", "-y", "30", "-e", "LANG=C.UTF-8", "sh");
    const shows = (what: RegExp) =>
      until(
        `the screen shows ${what}`,
        async () => {
          const text = await tmux("capture-pane", "-p");
          expect(text).toMatch(what);
          return text;
        },
        WITHIN_MS,
      );
    await tmux("send-keys", `'${process.execPath}' '${MAIN}' --clusters=2 --no-dashboard`, "Enter");
    const screen = await shows(/^Ctrl-C ends everything\.$/m);
    const folder = /\/tmp\/resource-broker-\w+/.exec(screen)?.[0] ?? "";
    await shows(/\n2 clusters: 29 of 40 CPU free, 0 lent\s*$/);
    await tmux("send-keys", "C-c");
    await shows(/^Everything has ended\.$/m);
    await tmux("send-keys", "echo $((6*7))", "Enter");
    // What is typed before the shell shows its prompt is answered beside the prompt.
    expect(await shows(/^(?:[#$] )?42$/m)).not.toContain("2 clusters: ");
    expect(processesIn(folder)).toEqual([]);
  },
);
