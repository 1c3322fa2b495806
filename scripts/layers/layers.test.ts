import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import config from "../../.dependency-cruiser.mjs";
import { cruiseLayers, problemsOf } from "./cruise-layers.ts";
import { type Files, plantTree } from "./planted-tree.ts";

interface Row {
  readonly name: string;
  readonly rule: string;
  /** The first file holds the violation. */
  readonly planted: Files;
}

const violations: readonly Row[] = [
  {
    name: "base imports a node: module",
    rule: "base-imports-nothing",
    planted: { "packages/base/src/lookup.ts": `import { readFile } from "node:fs";` },
  },
  {
    name: "base imports an npm package",
    rule: "base-imports-nothing",
    planted: { "packages/base/src/lookup.ts": `import "declared";` },
  },
  {
    name: "base imports a type of the domain",
    rule: "layer-base",
    planted: { "packages/base/src/lookup.ts": `import type { T } from "@resource-broker/domain";` },
  },
  {
    name: "the domain imports a node: module",
    rule: "domain-imports-only-base",
    planted: { "packages/domain/src/decide.ts": `import { readFile } from "node:fs";` },
  },
  {
    name: "the domain imports an npm package",
    rule: "domain-imports-only-base",
    planted: { "packages/domain/src/decide.ts": `import "declared";` },
  },
  {
    name: "the domain imports a type of the contract",
    rule: "layer-domain",
    planted: { "packages/domain/src/decide.ts": `import type { T } from "@resource-broker/contract";` },
  },
  {
    name: "the contract imports a node: module",
    rule: "contract-imports-only-base-and-domain",
    planted: { "packages/contract/src/dto.ts": `export { hash } from "node:crypto";` },
  },
  {
    name: "the contract imports kube",
    rule: "layer-contract",
    planted: { "packages/contract/src/dto.ts": `import "@resource-broker/kube";` },
  },
  {
    name: "runtime imports the contract",
    rule: "layer-runtime",
    planted: { "packages/runtime/src/probe.ts": `import "@resource-broker/contract";` },
  },
  {
    name: "runtime imports a type of the domain",
    rule: "layer-runtime",
    planted: { "packages/runtime/src/probe.ts": `import type { T } from "@resource-broker/domain";` },
  },
  {
    name: "runtime imports kube",
    rule: "layer-runtime",
    planted: { "packages/runtime/src/probe.ts": `import "@resource-broker/kube";` },
  },
  {
    name: "kube imports a type of the contract",
    rule: "layer-kube",
    planted: { "packages/kube/src/client.ts": `import type { T } from "@resource-broker/contract";` },
  },
  {
    name: "kube imports the domain",
    rule: "layer-kube",
    planted: { "packages/kube/src/client.ts": `import "@resource-broker/domain";` },
  },
  {
    name: "the accounting imports a node: module",
    rule: "accounting-imports-only-domain",
    planted: { "packages/accounting/src/pod.ts": `import "node:fs";` },
  },
  {
    name: "the accounting imports the contract",
    rule: "layer-accounting",
    planted: { "packages/accounting/src/pod.ts": `import "@resource-broker/contract";` },
  },
  {
    name: "the domain imports the accounting",
    rule: "layer-domain",
    planted: { "packages/domain/src/decide.ts": `import "@resource-broker/accounting";` },
  },
  {
    name: "the contract imports the accounting",
    rule: "layer-contract",
    planted: { "packages/contract/src/dto.ts": `import "@resource-broker/accounting";` },
  },
  {
    name: "kube imports the accounting",
    rule: "layer-kube",
    planted: { "packages/kube/src/client.ts": `import "@resource-broker/accounting";` },
  },
  {
    name: "the broker imports the accounting",
    rule: "layer-broker",
    planted: { "packages/broker/src/app.ts": `import "@resource-broker/accounting";` },
  },
  {
    name: "kube imports the broker",
    rule: "layer-kube",
    planted: { "packages/kube/src/client.ts": `await import("@resource-broker/broker");` },
  },
  {
    name: "kube-sim imports the contract",
    rule: "layer-kube-sim",
    planted: { "test/kube-sim/src/server.ts": `import "@resource-broker/contract";` },
  },
  {
    name: "kube-sim imports the agent",
    rule: "layer-kube-sim",
    planted: { "test/kube-sim/src/server.ts": `import "@resource-broker/agent";` },
  },
  {
    name: "the client imports kube",
    rule: "layer-client",
    planted: { "packages/client/src/calls.ts": `import "@resource-broker/kube";` },
  },
  {
    name: "the broker imports the client",
    rule: "layer-broker",
    planted: { "packages/broker/src/app.ts": `import "@resource-broker/client";` },
  },
  {
    name: "the broker imports the agent",
    rule: "layer-broker",
    planted: { "packages/broker/src/app.ts": `import "@resource-broker/agent";` },
  },
  {
    name: "the agent imports kube-sim",
    rule: "layer-agent",
    planted: { "packages/agent/src/app.ts": `import "@resource-broker/kube-sim";` },
  },
  {
    name: "the testkit imports a package that is not in the table",
    rule: "layer-testkit",
    planted: { "test/testkit/src/suite.ts": `import "@resource-broker/newcomer";` },
  },
  {
    name: "a package that is not in the table imports a sibling",
    rule: "layer-unknown-package",
    planted: { "packages/newcomer/src/index.ts": `import "@resource-broker/domain";` },
  },
  {
    name: "a package imports an app",
    rule: "apps-are-not-imported",
    planted: { "packages/broker/src/app.ts": `import "../../../apps/demo/src/main.ts";` },
  },
  {
    name: "an app imports another app",
    rule: "apps-are-not-imported",
    planted: { "apps/cli/src/main.ts": `import "../../demo/src/main.ts";` },
  },
  {
    name: "a package reaches its sibling's index by a relative path",
    rule: "no-relative-path-into-a-package",
    planted: { "packages/contract/src/dto.ts": `import "../../domain/src/index.ts";` },
  },
  {
    name: "an app reaches a package's index by a relative path",
    rule: "no-relative-path-into-a-package",
    planted: { "apps/cli/src/main.ts": `import "../../../packages/domain/src/index.ts";` },
  },
  {
    name: "the evaluation reaches a package's index by a relative path",
    rule: "no-relative-path-into-a-package",
    planted: { "evaluation/main.ts": `import "../packages/domain/src/index.ts";` },
  },
  {
    name: "a test of the charts reaches a package's index by a relative path",
    rule: "no-relative-path-into-a-package",
    planted: { "deploy/tests/charts.test.ts": `import "../../packages/domain/src/index.ts";` },
  },
  {
    name: "a test of the test setup imports a package's insides",
    rule: "only-entry-points",
    planted: { "test-setup/tests/sim.test.ts": `import "../../packages/domain/src/decide.ts";` },
  },
  {
    name: "a package imports its sibling's insides",
    rule: "only-entry-points",
    planted: { "packages/contract/src/dto.ts": `import "../../domain/src/decide.ts";` },
  },
  {
    name: "an app imports insides that a package exports by mistake",
    rule: "only-entry-points",
    planted: { "apps/cli/src/main.ts": `import "@resource-broker/domain/inside";` },
  },
  {
    name: "a test of one store imports another store",
    rule: "stores-share-only-common",
    planted: {
      "packages/broker/src/store/postgres/seal.test.ts": `import "../sqlite/seal.ts";`,
      "packages/broker/src/store/sqlite/seal.ts": "",
    },
  },
  {
    name: "the common part of the stores imports a store",
    rule: "stores-share-only-common",
    planted: {
      "packages/broker/src/store/common/seal.ts": `import "../sqlite/unseal.ts";`,
      "packages/broker/src/store/sqlite/unseal.ts": "",
    },
  },
  {
    name: "an app imports an entry that only the contract has",
    rule: "only-entry-points",
    planted: {
      "apps/cli/src/main.ts": `import "@resource-broker/domain/crd";`,
      "packages/domain/src/crd/index.ts": `export const kind = 1;`,
    },
  },
  {
    name: "brokerctl makes HTTPS requests of its own",
    rule: "one-broker-client",
    planted: { "apps/cli/src/main.ts": `import { request } from "node:https";` },
  },
  {
    name: "production code imports the testkit",
    rule: "test-roof",
    planted: { "packages/broker/src/app.ts": `import "@resource-broker/testkit";` },
  },
  {
    name: "an app other than the demo imports the testkit",
    rule: "test-roof",
    planted: { "apps/cli/src/main.ts": `import "@resource-broker/testkit";` },
  },
  {
    name: "production code imports kube-sim",
    rule: "test-roof",
    planted: { "packages/broker/src/app.ts": `import "@resource-broker/kube-sim";` },
  },
  {
    name: "an app other than the demo imports kube-sim",
    rule: "test-roof",
    planted: { "apps/cli/src/main.ts": `import "@resource-broker/kube-sim";` },
  },
  {
    name: "the testkit imports a campaign",
    rule: "campaigns-are-programs",
    planted: { "test/testkit/src/suite.ts": `import "../../campaigns/fuzz/main.ts";` },
  },
  {
    name: "a test imports a benchmark",
    rule: "campaigns-are-programs",
    planted: { "packages/domain/src/decide.test.ts": `import "../../../test/bench/domain/main.ts";` },
  },
  {
    name: "a campaign imports another campaign",
    rule: "campaigns-are-programs",
    planted: { "test/campaigns/fuzz/main.ts": `import "../simulation/main.ts";` },
  },
  {
    name: "the dashboard imports the broker",
    rule: "app-dashboard",
    planted: { "apps/dashboard/src/main.tsx": `import "@resource-broker/broker";` },
  },
  {
    name: "brokerctl imports the agent",
    rule: "app-cli",
    planted: { "apps/cli/src/main.ts": `import "@resource-broker/agent";` },
  },
  {
    name: "production code imports its own testing folder",
    rule: "testing-only-for-tests",
    planted: { "packages/domain/src/index.ts": `import "./testing/index.ts";` },
  },
  {
    name: "production code imports a sibling's testing entry",
    rule: "testing-only-for-tests",
    planted: { "packages/broker/src/app.ts": `import "@resource-broker/domain/testing";` },
  },
  {
    name: "a module imports a test file",
    rule: "tests-are-not-imported",
    planted: { "packages/broker/src/app.ts": `import "./broker.test.ts";` },
  },
  {
    name: "a module imports an end-to-end test's helper",
    rule: "tooling-is-not-imported",
    planted: {
      "packages/domain/src/decide.test.ts": `import "../e2e/fleet.ts";`,
      "packages/domain/e2e/fleet.ts": "",
    },
  },
  {
    name: "a module imports a generator",
    rule: "tooling-is-not-imported",
    planted: { "packages/contract/src/index.ts": `import "../generate/main.ts";` },
  },
  {
    name: "production code imports a dev dependency of the root",
    rule: "production-uses-declared-dependencies",
    planted: { "packages/broker/src/app.ts": `import "fast-check";` },
  },
  {
    name: "the provider's half of the agent imports Liqo",
    rule: "data-plane-behind-its-port",
    planted: { "packages/agent/src/provider/provider.ts": `import "../liqo/provider/liqo-provider.ts";` },
  },
  {
    name: "two modules import each other",
    rule: "no-cycles",
    planted: {
      "packages/broker/src/a.ts": `import "./b.ts";`,
      "packages/broker/src/b.ts": `import "./a.ts";`,
    },
  },
  {
    name: "an import leads to no file",
    rule: "imports-resolve",
    planted: { "packages/broker/src/app.ts": `import "./nowhere.ts";` },
  },
  {
    name: "an import names a path the package does not export",
    rule: "imports-resolve",
    planted: { "packages/broker/src/app.ts": `import "@resource-broker/domain/src/decide.ts";` },
  },
];

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

  it.each(violations)("$rule fires when $name", async ({ rule, planted }) => {
    const report = await cruisePlanted(planted);
    const [culprit] = Object.keys(planted);
    expect(report.violations).toContainEqual(expect.objectContaining({ rule, from: culprit }));
    expect(problemsOf(report)).toHaveLength(report.violations.length);
  });

  it("each have a planted violation above", () => {
    const names = new Set(config.forbidden?.map((rule) => rule.name));
    expect(new Set(violations.map((row) => row.rule))).toEqual(names);
  });

  it("fail when no module was read: an empty cruise proves nothing", async () => {
    const empty = mkdtempSync(join(tmpdir(), "layers-empty-"));
    trees.push(empty);
    const report = await cruiseLayers(empty);
    expect(report.modules).toBe(0);
    expect(problemsOf(report)).toEqual([expect.stringContaining("No module was read")]);
  });
});
