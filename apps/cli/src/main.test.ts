import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Outcome, temporaryFolder } from "./testing/cli.ts";

const LAUNCHER = fileURLToPath(new URL("../bin/brokerctl.mjs", import.meta.url));

/** The Node of the machine rather than npm's own: on many it is older than the one that brokerctl needs. */
const SYSTEM_NODE = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .map((folder) => join(folder, "node"))
  .find((file) => existsSync(file));

describe.each([
  { name: "the Node that npm brings", node: process.execPath },
  ...(SYSTEM_NODE === undefined ? [] : [{ name: "the machine's own Node", node: SYSTEM_NODE }]),
])("brokerctl on $name", ({ node }) => {
  test("makes certificates, data on standard output and the rest on standard error", async () => {
    const cwd = await temporaryFolder(onTestFinished);
    expect((await start(node, ["certs", "init"], cwd)).code).toBe(0);
    const issued = await start(node, ["certs", "issue", "rome", "-o", "json"], cwd);
    expect(issued.code).toBe(0);
    expect(JSON.parse(issued.out)).toMatchObject([{ name: "rome", status: "valid" }]);
    expect(issued.err).toBe("Made certs/clusters/rome: tls.crt, tls.key, ca.crt\n");
    expect((await readdir(join(cwd, "certs"))).toSorted()).toEqual([
      ".gitignore",
      "broker",
      "ca",
      "clusters",
    ]);
  });

  test.each([
    { args: ["--help"], code: 0 },
    { args: ["certs", "show"], code: 1 },
    { args: ["certs", "shwo"], code: 2 },
    { args: [], code: 2 },
  ])("ends $args with status $code", async ({ args, code }) => {
    const cwd = await temporaryFolder(onTestFinished);
    expect((await start(node, args, cwd)).code).toBe(code);
  });

  test("passes a signal on to the program and tells how it ended", async () => {
    const cwd = await temporaryFolder(onTestFinished);
    await start(node, ["certs", "init"], cwd);
    await writeFile(join(cwd, "certs", ".lock"), String(process.pid)); // the command will wait for this process
    const child = spawn(node, [LAUNCHER, "certs", "issue", "rome"], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
    });
    await once(child.stderr, "data");
    child.kill("SIGTERM");
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    expect(code ?? signal).toBeOneOf([143, "SIGTERM"]);
    expect(existsSync(join(cwd, "certs", "clusters"))).toBe(false);
  });

  test("ends quietly when nobody reads its output", async () => {
    const child = spawn(node, [LAUNCHER, "--help"], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    const { code, err } = await ending(child);
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});

test("processes at the same time do not forget each other's certificates", async () => {
  const cwd = await temporaryFolder(onTestFinished);
  await start(process.execPath, ["certs", "init"], cwd);
  const ids = ["rome", "paris", "tokyo", "berlin"];
  const codes = await Promise.all(ids.map((id) => start(process.execPath, ["certs", "issue", id], cwd)));
  expect(codes.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  // Only what the register knows can be revoked.
  for (const id of ids) expect((await start(process.execPath, ["certs", "revoke", id], cwd)).code).toBe(0);
});

function start(node: string, args: readonly string[], cwd: string): Promise<Outcome> {
  return ending(spawn(node, [LAUNCHER, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] }));
}

function ending(child: ReturnType<typeof spawn>): Promise<Outcome> {
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? -1, out, err }));
  });
}
