import { execFile, spawn, spawnSync } from "node:child_process";
import { on, once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { type Outcome, temporaryFolder } from "../../src/testing/cli.ts";
import { startOneCluster } from "../../src/testing/one-cluster.ts";
import { startFleet } from "./testing/fleet.ts";

const execute = promisify(execFile);
const LAUNCHER = fileURLToPath(new URL("../../bin/brokerctl.mjs", import.meta.url));
const BIN = fileURLToPath(new URL("../../../../bin", import.meta.url));
/** Without npm's own folders: whoever uses a plugin has the machine's Node, often an older one, or none. */
const FOLDERS = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"));
const PATH = [BIN, ...FOLDERS].join(delimiter);
const SYSTEM_NODE = FOLDERS.map((folder) => join(folder, "node")).find((file) => existsSync(file));

describe.each([
  { name: "the Node that npm brings", node: process.execPath },
  ...(SYSTEM_NODE === undefined ? [] : [{ name: "the machine's own Node", node: SYSTEM_NODE }]),
])("brokerctl on $name", ({ node }) => {
  test("makes certificates, data on standard output and the rest on standard error", async () => {
    const cwd = await temporaryFolder(onTestFinished);
    expect((await start(node, "certs init", cwd)).code).toBe(0);
    const issued = await start(node, "certs issue rome -o json", cwd);
    expect(issued).toMatchObject({ code: 0, err: "Made certs/clusters/rome: tls.crt, tls.key, ca.crt\n" });
    expect(JSON.parse(issued.out)).toMatchObject([{ name: "rome", status: "valid" }]);
    const made = (await readdir(join(cwd, "certs"))).toSorted();
    expect(made).toEqual([".gitignore", "broker", "ca", "clusters", "enrollment"]);
  });

  test.each([
    { line: "--help", code: 0 },
    { line: "certs show", code: 1 },
    { line: "certs shwo", code: 2 },
  ])("ends $line with status $code", async ({ line, code }) => {
    expect((await start(node, line, await temporaryFolder(onTestFinished))).code).toBe(code);
  });

  test("passes a signal on to the program and tells how it ended", async () => {
    const cwd = await temporaryFolder(onTestFinished);
    await start(node, "certs init", cwd);
    await writeFile(join(cwd, "certs", ".lock"), String(process.pid)); // the command will wait for this process
    const child = spawn(node, [LAUNCHER, "certs", "issue", "rome"], { cwd, stdio: "pipe" });
    await once(child.stderr, "data");
    child.kill("SIGTERM");
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    expect(code ?? signal).toBeOneOf([143, "SIGTERM"]);
    expect(existsSync(join(cwd, "certs", "clusters"))).toBe(false);
  });

  test("ends quietly when nobody reads its output", async () => {
    const child = spawn(node, [LAUNCHER, "--help"], { stdio: "pipe" });
    child.stdout.destroy();
    expect(await ending(child)).toMatchObject({ code: 0, err: "" });
  });
});

test("processes at the same time do not forget each other's certificates", async () => {
  const cwd = await temporaryFolder(onTestFinished);
  await start(process.execPath, "certs init", cwd);
  const ids = ["rome", "paris", "tokyo", "berlin"];
  const ended = await Promise.all(ids.map((id) => start(process.execPath, `certs issue ${id}`, cwd)));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  // Only what the register knows can be revoked.
  for (const id of ids) expect((await start(process.execPath, `certs revoke ${id}`, cwd)).code).toBe(0);
});

describe("with a broker and a cluster", async () => {
  const fleet = await startFleet(afterAll);
  const cluster = await startOneCluster(afterAll, { objects: [GOOD_OBJECTS["ResourceRequest"] ?? {}] });
  const env = {
    PATH,
    HOME: fleet.folder,
    KUBECONFIG: cluster.kubeconfig,
    BROKERCTL_BROKER: fleet.url,
    BROKERCTL_CERTS: join(fleet.folder, "ops"),
  };
  const hasKubectl = spawnSync("kubectl", ["version", "--client"], { env: { PATH } }).status === 0;
  const kubectl = async (line: string) => (await execute("kubectl", line.split(" "), { env })).stdout;

  test.skipIf(!hasKubectl)(
    "kubectl finds the plugin, which asks the broker and kubectl's cluster",
    async () => {
      expect(await kubectl("plugin list")).toContain(join(BIN, "kubectl-broker"));
      expect(await kubectl("broker get clusters -o name")).toBe("berlin\nparis\nrome\ntokyo\n");
      const where = "-n default --context rome -o name";
      const ours = await kubectl(`broker get requests ${where}`);
      expect(ours).toBe(await kubectl(`get resourcerequests ${where}`));
      expect(ours).toContain("/more");
      const stderr: unknown = expect.stringContaining("did you mean clusters?");
      await expect(kubectl("broker get clustres")).rejects.toMatchObject({ code: 2, stderr });
      const offered = (await kubectl("__complete broker get re")).split("\n").slice(0, 3);
      expect(offered.map((line) => line.split("\t")[0])).toEqual(["reservations", "requests", ":4"]);
    },
  );

  test("a request that waits is left in the queue by Ctrl-C, which says so", async () => {
    const certs = join(fleet.folder, "rome");
    const line = "reserve --cpu 64 --memory 1Gi --wait 1h".split(" ");
    const child = spawn(process.execPath, [LAUNCHER, ...line], {
      stdio: "pipe",
      env: { ...env, BROKERCTL_CERTS: certs },
    });
    const ended = ending(child);
    let err = "";
    for await (const chunk of on(child.stderr, "data")) {
      err += String(chunk);
      if (err.includes("at position")) break;
    }
    child.kill("SIGINT");
    expect((await ended).err).toMatch(
      /\nrsv-rome-\S+ keeps waiting in the queue\. .*brokerctl release rsv-/u,
    );
    expect([child.exitCode, child.signalCode]).toBeOneOf([
      [null, "SIGINT"],
      [130, null],
    ]);
    const waiting = await fleet.ok("rome", "get queue -o name");
    expect(waiting).toMatch(/^rsv-rome-/u);
    await fleet.ok("rome", `release ${waiting}`);
  });

  test("bin/brokerctl runs on the Node that the project brings, wherever a link to it lies, and hands the status on", async () => {
    const cwd = await temporaryFolder(onTestFinished);
    await symlink(join(BIN, "brokerctl"), join(cwd, "first"));
    await symlink("first", join(cwd, "second"));
    const { stdout } = await execute(join(cwd, "second"), ["version", "-o", "json"], { env, cwd });
    expect(JSON.parse(stdout)).toMatchObject({ node: expect.stringMatching(/^24\./u) });
    const wrong = execute(join(BIN, "brokerctl"), ["explain", "nothing"], { env });
    await expect(wrong).rejects.toMatchObject({ code: 2 });
  });
});

function start(node: string, line: string, cwd: string): Promise<Outcome> {
  return ending(spawn(node, [LAUNCHER, ...line.split(" ")], { cwd, stdio: "pipe" }));
}

async function ending(child: ReturnType<typeof spawn>): Promise<Outcome> {
  let [out, err] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code: code ?? -1, out, err };
}
