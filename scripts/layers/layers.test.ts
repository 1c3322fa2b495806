import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import config from "../../.dependency-cruiser.mjs";
import { cruiseLayers, problemsOf } from "./cruise-layers.ts";
import { type Files, plantTree } from "./planted-tree.ts";

/** By rule: a file, and in it the import that the rule is to find. */
const PLANTED: Readonly<Record<string, readonly string[]>> = {
  "base-imports-nothing": [
    `packages/base/src/lookup.ts: import { readFile } from "node:fs";`,
    `packages/base/src/lookup.ts: import "declared";`,
  ],
  "layer-base": [`packages/base/src/lookup.ts: import type { T } from "@resource-broker/domain";`],
  "domain-imports-only-base": [
    `packages/domain/src/decide.ts: import { readFile } from "node:fs";`,
    `packages/domain/src/decide.ts: import "declared";`,
  ],
  "layer-domain": [
    `packages/domain/src/decide.ts: import type { T } from "@resource-broker/contract";`,
    `packages/domain/src/decide.ts: import "@resource-broker/accounting";`,
  ],
  "contract-imports-only-base-and-domain": [
    `packages/contract/src/dto.ts: export { hash } from "node:crypto";`,
  ],
  "layer-contract": [
    `packages/contract/src/dto.ts: import "@resource-broker/kube";`,
    `packages/contract/src/dto.ts: import "@resource-broker/accounting";`,
  ],
  "layer-runtime": [
    `packages/runtime/src/probe.ts: import "@resource-broker/contract";`,
    `packages/runtime/src/probe.ts: import type { T } from "@resource-broker/domain";`,
    `packages/runtime/src/probe.ts: import "@resource-broker/kube";`,
  ],
  "layer-kube": [
    `packages/kube/src/client.ts: import type { T } from "@resource-broker/contract";`,
    `packages/kube/src/client.ts: import "@resource-broker/domain";`,
    `packages/kube/src/client.ts: import "@resource-broker/accounting";`,
    `packages/kube/src/client.ts: await import("@resource-broker/broker");`,
  ],
  "accounting-imports-only-domain": [`packages/accounting/src/pod.ts: import "node:fs";`],
  "layer-accounting": [`packages/accounting/src/pod.ts: import "@resource-broker/contract";`],
  "layer-broker": [
    `packages/broker/src/app.ts: import "@resource-broker/accounting";`,
    `packages/broker/src/app.ts: import "@resource-broker/client";`,
    `packages/broker/src/app.ts: import "@resource-broker/agent";`,
  ],
  "layer-kube-sim": [
    `test/kube-sim/src/server.ts: import "@resource-broker/contract";`,
    `test/kube-sim/src/server.ts: import "@resource-broker/agent";`,
  ],
  "layer-client": [`packages/client/src/calls.ts: import "@resource-broker/kube";`],
  "layer-agent": [`packages/agent/src/app.ts: import "@resource-broker/kube-sim";`],
  "layer-testkit": [`test/testkit/src/suite.ts: import "@resource-broker/newcomer";`],
  "layer-unknown-package": [`packages/newcomer/src/index.ts: import "@resource-broker/domain";`],
  "apps-are-not-imported": [
    `packages/broker/src/app.ts: import "../../../apps/demo/src/main.ts";`,
    `apps/cli/src/main.ts: import "../../demo/src/main.ts";`,
  ],
  "no-relative-path-into-a-package": [
    `packages/contract/src/dto.ts: import "../../domain/src/index.ts";`,
    `apps/cli/src/main.ts: import "../../../packages/domain/src/index.ts";`,
    `evaluation/main.ts: import "../packages/domain/src/index.ts";`,
    `deploy/tests/charts.test.ts: import "../../packages/domain/src/index.ts";`,
  ],
  "only-entry-points": [
    `test-setup/tests/sim.test.ts: import "../../packages/domain/src/decide.ts";`,
    `packages/contract/src/dto.ts: import "../../domain/src/decide.ts";`,
    `apps/cli/src/main.ts: import "@resource-broker/domain/inside";`,
    `apps/cli/src/main.ts: import "@resource-broker/domain/crd";`,
  ],
  "stores-share-only-common": [
    `packages/broker/src/store/postgres/seal.test.ts: import "../sqlite/seal.ts";`,
    `packages/broker/src/store/common/seal.ts: import "../sqlite/unseal.ts";`,
  ],
  "one-broker-client": [`apps/cli/src/main.ts: import { request } from "node:https";`],
  "test-roof": [
    `packages/broker/src/app.ts: import "@resource-broker/testkit";`,
    `apps/cli/src/main.ts: import "@resource-broker/testkit";`,
    `packages/broker/src/app.ts: import "@resource-broker/kube-sim";`,
    `apps/cli/src/main.ts: import "@resource-broker/kube-sim";`,
  ],
  "campaigns-are-programs": [
    `test/testkit/src/suite.ts: import "../../campaigns/fuzz/main.ts";`,
    `test/testkit/src/suite.ts: import "../../campaigns/frame/campaign.ts";`,
    `test/campaigns/fuzz/main.ts: import "../simulation/main.ts";`,
  ],
  "app-dashboard": [`apps/dashboard/src/main.tsx: import "@resource-broker/broker";`],
  "app-cli": [`apps/cli/src/main.ts: import "@resource-broker/agent";`],
  "testing-only-for-tests": [
    `packages/domain/src/index.ts: import "./testing/index.ts";`,
    `packages/broker/src/app.ts: import "@resource-broker/domain/testing";`,
  ],
  "tests-are-not-imported": [`packages/broker/src/app.ts: import "./broker.test.ts";`],
  "tooling-is-not-imported": [
    `packages/domain/src/decide.test.ts: import "../e2e/fleet.ts";`,
    `packages/contract/src/index.ts: import "../generate/main.ts";`,
  ],
  "production-uses-declared-dependencies": [`packages/broker/src/app.ts: import "fast-check";`],
  "data-plane-behind-its-port": [
    `packages/agent/src/provider/provider.ts: import "../liqo/provider/liqo-provider.ts";`,
  ],
  "no-cycles": [`packages/broker/src/a.ts: import "./b.ts";`],
  "imports-resolve": [
    `packages/broker/src/app.ts: import "./nowhere.ts";`,
    `packages/broker/src/app.ts: import "@resource-broker/domain/src/decide.ts";`,
  ],
};

/** What the imports above need to lead to. */
const BESIDE: Files = {
  "packages/broker/src/store/sqlite/seal.ts": "",
  "packages/broker/src/store/sqlite/unseal.ts": "",
  "packages/domain/src/crd/index.ts": `export const kind = 1;`,
  "packages/domain/e2e/fleet.ts": "",
  "packages/broker/src/b.ts": `import "./a.ts";`,
};

const trees: string[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true });
});

async function cruisePlanted(planted: Files = {}) {
  const tree = plantTree(planted);
  trees.push(tree);
  return cruiseLayers(tree);
}

describe("the layer rules", () => {
  it("let a clean tree pass, exceptions included", async () => {
    const report = await cruisePlanted();
    expect(report.violations).toEqual([]);
    expect(report.modules).toBeGreaterThan(15);
    expect(problemsOf(report)).toEqual([]);
  });

  const rows = Object.entries(PLANTED).flatMap(([rule, all]) => all.map((line) => ({ rule, line })));
  it.each(rows)("$rule finds $line", async ({ rule, line }) => {
    const [culprit = "", text = ""] = line.split(/: (.*)/s);
    const report = await cruisePlanted({ ...BESIDE, [culprit]: text });
    expect(report.violations).toContainEqual(expect.objectContaining({ rule, from: culprit }));
    expect(problemsOf(report)).toHaveLength(report.violations.length);
  });

  it("each have a planted violation above", () => {
    expect(new Set(Object.keys(PLANTED))).toEqual(new Set(config.forbidden?.map((rule) => rule.name)));
  });

  it("fail when no module was read: an empty cruise proves nothing", async () => {
    const empty = mkdtempSync(join(tmpdir(), "layers-empty-"));
    trees.push(empty);
    const report = await cruiseLayers(empty);
    expect(report.modules).toBe(0);
    expect(problemsOf(report)).toEqual([expect.stringContaining("No module was read")]);
  });
});
