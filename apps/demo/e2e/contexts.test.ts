import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeObject, podObject, simulatedControlPlanes } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { joinedKubeconfig, reportOf, runContexts } from "./testing/contexts-process.ts";

const DOCS = join(import.meta.dirname, "../../../docs/demo.md");
const LAB = "arn:aws:eks:eu-west-1:1234:cluster/Lab";
const PRICED = `prices:
  clusters:
    us: {cpuCost: "0.05", memoryCost: "0.005", currency: EUR}
    lab: {cpuCost: "0.02", memoryCost: "0.002", currency: EUR}
`;

/** The pods of one ReplicaSet. */
function replica(name: string, cpu: string) {
  const pod = podObject({ name, cpu, memory: "4Gi" });
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d9f", uid: "u-1", controller: true };
  return { ...pod, metadata: { name, namespace: "default", ownerReferences: [owner] } };
}

function gated(name: string) {
  const pod = podObject({ name, cpu: "1", memory: "1Gi" });
  return {
    ...pod,
    spec: { containers: [{ name: "main", image: "example/app:1" }], schedulingGates: [{ name: "wait" }] },
  };
}

/** What the docs say it prints; how many wait in all is another thing there. */
async function shownInDocs(): Promise<string[]> {
  const [, block = ""] = /^```\n(WHO COULD.*?)^```$/ms.exec(await readFile(DOCS, "utf8")) ?? [];
  const lines = block.split("\n").filter((text) => !/^PENDING|…/.test(text));
  expect(lines.length).toBeGreaterThan(10);
  return lines;
}

describe("npm start -- --contexts, on simulated clusters", () => {
  const planes = simulatedControlPlanes();
  let folder: string;
  let kubeconfig: string;
  let policy: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "contexts-"));
    const { kubeconfig: eu } = await planes.start("eu", [
      nodeObject("eu-1", { cpu: "4", memory: "16Gi" }),
      podObject({ name: "shop", cpu: "3", memory: "8Gi" }),
      ...["web-1", "web-2", "web-3"].map((name) => replica(name, "6")),
      podObject({ name: "huge", cpu: "64", memory: "8Gi" }),
      gated("later"),
    ]);
    const { kubeconfig: us } = await planes.start("us", [nodeObject("us-1", { cpu: "8", memory: "32Gi" })]);
    const { kubeconfig: lab } = await planes.start("lab", [
      nodeObject("lab-1", { cpu: "8", memory: "32Gi" }),
      { ...nodeObject("lab-2", { cpu: "8", memory: "32Gi" }), spec: { unschedulable: true } },
    ]);
    const gone = eu.replaceAll(/https:\/\/127\.0\.0\.1:[0-9]+/g, "https://127.0.0.1:1");
    kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, joinedKubeconfig({ eu, us, [LAB]: lab, gone }));
    policy = join(folder, "policy.yaml");
    await writeFile(policy, PRICED);
  }, 120_000);

  afterAll(async () => {
    await planes.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("says who could lend what, what waits, and who would take it at what price", async () => {
    const { clusters, pending } = await reportOf(kubeconfig, [`eu,us,${LAB}`, "--policy", policy]);
    expect(clusters).toMatchObject([
      { clusterID: "eu", nodes: 1, uncounted: {}, available: { cpu: "1", memory: "8Gi" } },
      { clusterID: "us", nodes: 1, available: { cpu: "8", memory: "32Gi" }, cost: { cpuCost: "0.05" } },
      { context: LAB, clusterID: "lab", nodes: 2, uncounted: { unschedulable: 1 }, available: { cpu: "8" } },
    ]);
    expect(pending).toMatchObject([
      { workload: "Pod/huge", pods: 1, takenBy: [], left: 1, state: "unschedulable" },
      { workload: "Pod/later", pods: 1, takenBy: [], left: 0, state: "gated", decisions: [] },
      {
        clusterID: "eu",
        namespace: "default",
        workload: "ReplicaSet/web-7d9f",
        pods: 3,
        each: { cpu: "6", memory: "4Gi" },
        why: expect.stringContaining("Insufficient cpu"),
        takenBy: [
          { clusterID: "lab", pods: 1, cost: { perHour: expect.stringMatching(/^0\.128/), currency: "EUR" } },
          { clusterID: "us", pods: 1 },
        ],
        left: 1,
        flip: "Would fit lab with 2 CPU instead of 6.",
      },
    ]);
    expect(pending[0]?.flip).toBe("Would fit another cluster that has 64 CPU / 8Gi Memory free on one node.");
  });

  test("prints the same for people, with the broker's reasons", async () => {
    const { code, stdout, stderr } = await runContexts(kubeconfig, [`eu,us,${LAB}`, "--policy", policy]);
    expect(code).toBe(0);
    expect(stderr).toContain("Listing nodes and pods of eu, us,");
    expect(stdout).toMatch(/^ {2}eu +1 +1 of 4 +8Gi of 16Gi +- +none +eu$/m);
    expect(stdout).toMatch(
      /^ {2}lab +1 of 2 \(1 unschedulable\) +8 of 8 .* 0\.02 EUR per CPU and hour +arn:aws/m,
    );
    expect(stdout).toContain("PENDING TODAY: 5 pods");
    expect(stdout).toContain("eu: ReplicaSet/web-7d9f in default: 3 pods, each 6 CPU / 4Gi Memory");
    expect(stdout).toMatch(/^ {4}lab would take 1 of 3, 0\.1286 EUR\/h$/m);
    expect(stdout).toMatch(/^ {4}no cluster would take 1 of 3$/m);
    expect(stdout).toMatch(/^ +lab +0\.\d+ = resources .*<- chosen$/m);
    expect(stdout).toContain("Would fit lab with 2 CPU instead of 6.");
    expect(stdout).toContain("it has a scheduling gate: more capacity would not help");
    for (const text of await shownInDocs()) expect(stdout).toContain(text);
  });

  test("a cluster that cannot be reached is named, and the others are still told", async () => {
    const { code, stdout } = await runContexts(kubeconfig, ["us,gone"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}us +1 +8 of 8/m);
    expect(stdout).toMatch(/^ {2}gone could not be read: .*127\.0\.0\.1:1\b/m);
    expect(stdout).toContain("every pod has a node");
  });

  const wrong = [
    { args: ["euu,us,gnoe"], says: /"euu": did you mean eu\?[^]*"gnoe": did you mean gone\?/ },
    { args: [], says: /--contexts needs a value/ },
    { args: ["eu", "--polcy=x"], says: /did you mean --policy\?/ },
    { args: ["eu", "-o", "yaml"], says: /"yaml" is not one of text, json/ },
    { args: ["eu", "--policy=/dev/null/policy"], says: /--policy: cannot read \/dev\/null\/policy/ },
  ];

  test.each(wrong)("ends with code 2 and the remedy for $args", async ({ args, says }) => {
    const { code, stdout, stderr } = await runContexts(kubeconfig, args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(says);
  });

  test("the help says which rights it needs", async () => {
    const { code, stdout } = await runContexts(kubeconfig, ["--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("It needs the rights get, list and watch on nodes and pods");
  });
});
