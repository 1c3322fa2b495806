import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { moduleFiles, moduleReplies } from "../go-assets/testing/fake-modules.ts";
import { testAssetsTool } from "../go-assets/testing/tool-promises.ts";
import { DEFINITIONS, KWOK, LIQO, LIQO_PROGRAMS, liqoAssetsList } from "./recipe.ts";

const list = liqoAssetsList("v1.34.4");
const CRDS = DEFINITIONS.replace("chart", "deployments/liqo");

const bench = testAssetsTool({
  tool: "liqo-assets",
  script: "liqo:assets",
  noGo: /Go is not installed.+Install Go/,
  says: `Client version: ${LIQO.version}`,
  answers: moduleReplies(list),
  files: {
    ...moduleFiles(list),
    [`modules/${LIQO.path}/deployments/liqo/Chart.yaml`]: "name: liqo\n",
    [`modules/${LIQO.path}/${CRDS}/slices.yaml`]: "kind: CustomResourceDefinition\n",
  },
  programs: LIQO_PROGRAMS.length,
  failures: [
    ["a build that fails shows Go's words", { BREAKS_AT: "liqoctl" }, "go build failed:\nundefined: x"],
    ["a module that cannot be had shows Go's words", { MISSING: "1" }, "module lookup disabled"],
    ["a module that somebody changed is not taken", { SUM: "h1:other" }, "has the checksum h1:other"],
    ["a liqoctl of another version is not taken", { SAYS: "v0.9.0" }, `liqoctl is not ${LIQO.version}`],
  ],
});

test("it takes Liqo, kwok and the scheduler once, and then finds them without Go", async () => {
  const first = await bench().run();
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toContain(
    `liqo-assets: Liqo ${LIQO.version} with 1 definitions, kwok ${KWOK.version} and kube-scheduler v1.`,
  );
  const whole = ["chart", "complete", "kwok-stages.yaml", ...LIQO_PROGRAMS];
  expect(readdirSync(bench().kept()).sort()).toEqual(whole.sort());
  expect(readdirSync(join(bench().kept(), DEFINITIONS))).toEqual(["slices.yaml"]);
  const stages = readFileSync(join(bench().kept(), "kwok-stages.yaml"), "utf8").split("\n---\n");
  expect(stages.map((text) => text.trim().split("/").at(-1))).toEqual([
    "node-initialize.yaml",
    "node-heartbeat-with-lease.yaml",
    "pod-ready.yaml",
    "pod-complete.yaml",
    "pod-delete.yaml",
  ]);
  expect(await bench().run({ hasGo: false })).toMatchObject({ code: 0, stderr: "" });
  expect(bench().built()).toHaveLength(LIQO_PROGRAMS.length);
});

test("each program is built in its own module's folder, the scheduler in that of kube-assets", async () => {
  await bench().run();
  const folders = new Map(bench().builtIn());
  expect(folders.get(`${LIQO.path}/cmd/webhook`)).toBe(bench().path("modules", LIQO.path));
  expect(folders.get(`${KWOK.path}/cmd/kwok`)).toBe(bench().path("modules", KWOK.path));
  expect(folders.get("k8s.io/kubernetes/cmd/kube-scheduler")).toMatch(/tools\/kube-assets$/);
});
