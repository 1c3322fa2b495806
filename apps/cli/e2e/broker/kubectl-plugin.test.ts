import { execFile, spawnSync } from "node:child_process";
import { symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../src/testing/cli.ts";
import { type OneCluster, startOneCluster } from "../../src/testing/one-cluster.ts";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const execute = promisify(execFile);
const BIN = fileURLToPath(new URL("../../../../bin", import.meta.url));
/** Without npm's own folders: whoever uses a plugin has the machine's Node, or none. */
const PATH = [
  BIN,
  ...(process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules")),
].join(delimiter);
const hasKubectl = spawnSync("kubectl", ["version", "--client"], { env: { PATH } }).status === 0;

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;
let cluster: OneCluster;

beforeAll(async () => {
  const later = (cleanUp: () => Promise<void>): void => void cleanUps.push(cleanUp);
  fleet = await startFleet(later);
  cluster = await startOneCluster(later, { objects: [GOOD_OBJECTS["ResourceRequest"] ?? {}] });
});
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

function env(): NodeJS.ProcessEnv {
  return {
    PATH,
    HOME: fleet.folder,
    KUBECONFIG: cluster.kubeconfig,
    BROKERCTL_BROKER: fleet.url,
    BROKERCTL_CERTS: join(fleet.folder, "ops"),
  };
}

describe.skipIf(!hasKubectl)("kubectl broker", () => {
  const kubectl = (...args: readonly string[]) => execute("kubectl", [...args], { env: env() });

  test("is found by kubectl", async () => {
    expect((await kubectl("plugin", "list")).stdout).toContain(join(BIN, "kubectl-broker"));
  });

  test("asks the broker", async () => {
    const { stdout } = await kubectl("broker", "get", "clusters");
    expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "NAME",
      "berlin",
      "paris",
      "rome",
      "tokyo",
      "",
    ]);
  });

  test("asks the cluster that kubectl asks", async () => {
    const ours = await kubectl(
      "broker",
      "get",
      "requests",
      "-n",
      "default",
      "--context",
      "rome",
      "-o",
      "name",
    );
    const theirs = await kubectl(
      "get",
      "resourcerequests",
      "-n",
      "default",
      "--context",
      "rome",
      "-o",
      "name",
    );
    expect(ours.stdout).toBe(theirs.stdout);
    expect(ours.stdout).toContain("/more");
  });

  test("ends with brokerctl's exit status and words", async () => {
    await expect(kubectl("broker", "get", "clustres")).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("did you mean clusters?"),
    });
  });

  test("completes through kubectl", async () => {
    const { stdout } = await kubectl("__complete", "broker", "get", "re");
    expect(stdout.split("\n").slice(0, 3)).toEqual(["reservations", "requests", ":4"]);
  });
});

describe("bin/brokerctl", () => {
  test("runs on the Node that the project brings, wherever a link to it lies", async () => {
    const folder = await temporaryFolder(onTestFinished);
    await symlink(join(BIN, "brokerctl"), join(folder, "first"));
    await symlink("first", join(folder, "second"));
    const { stdout } = await execute(join(folder, "second"), ["version", "-o", "json"], {
      env: env(),
      cwd: folder,
    });
    expect(JSON.parse(stdout)).toMatchObject({ node: expect.stringMatching(/^24\./u) });
  });

  test("hands the exit status on", async () => {
    await expect(
      execute(join(BIN, "brokerctl"), ["explain", "nothing"], { env: env() }),
    ).rejects.toMatchObject({ code: 2 });
  });
});
