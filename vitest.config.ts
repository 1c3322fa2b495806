import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import type { CoverageOptions } from "vitest/node";

/** `npm run test:long` runs the property and model tests with their full number of runs. */
const long = process.env["LONG"] === "1";

/** `npm run test:kube` runs these, against a real kube-apiserver, etcd and kubectl; `npm test` needs none of them. */
const isReal = process.env["KUBE_REQUIRED"] === "1";
const REAL_PEERS = [
  "test/testkit/src/control-plane/**/*.test.ts",
  "{packages,apps,test}/*/e2e/real/**/*.test.ts",
  "{packages,test}/*/e2e/*real*.test.ts",
  "test/campaigns/*/e2e/real/**/*.test.ts",
  "{deploy,test-setup}/**/real/**/*.test.ts",
];

/** `npm run test:liqo` runs these, with the real Liqo, in a network namespace of their own. */
const isLiqo = process.env["LIQO_REQUIRED"] === "1";
const REAL_LIQO = ["{packages,apps}/*/e2e/real-liqo/**/*.test.ts", "test-setup/tests/real-liqo/**/*.test.ts"];

/** `npm run test:ui` runs these, in a real Chromium. */
const isUi = process.env["UI_REQUIRED"] === "1";
const IN_A_BROWSER = ["apps/dashboard/e2e/ui/**/*.test.ts"];

/** `npm run test:kind` runs these, in real clusters of kind. */
const isKind = process.env["KIND_REQUIRED"] === "1";
const IN_KIND = ["{deploy,test-setup}/tests/kind/**/*.test.ts"];
const ELSEWHERE = [...configDefaults.exclude, ...REAL_PEERS, ...REAL_LIQO, ...IN_A_BROWSER, ...IN_KIND];

/** They share the modules of one process: most of the time of a small test is its imports. None may leave anything behind. */
const UNITS = [
  "{packages,apps,test,evaluation,scripts,tools}/**/{src,generate,reference}/**/*.test.ts",
  "test/campaigns/*/{,environment/}*.test.ts",
];
const EVERYTHING = "{packages,apps,test,evaluation,scripts,tools,deploy,test-setup}/**/*.test.ts";

/**
 * Many tests mostly wait, for processes and clocks: on two cores, too, two of them run at a time. Those with real peers start
 * control planes of several hundred megabytes: one file at a time.
 */
const maxWorkers = isReal || isLiqo || isUi || isKind ? 1 : Math.max(2, availableParallelism() - 1);

// Only a guard against tests that hang: no test asserts a time, and a busy machine is no failure.
const timeouts = { testTimeout: long ? 3_600_000 : 120_000, hookTimeout: 120_000 };
const units = {
  name: "units",
  include: UNITS,
  exclude: ELSEWHERE,
  isolate: false,
  // The long run looks for new cases.
  setupFiles: long ? [] : ["everyday-seed.ts"],
};
/** One reservation through a real broker and real agents: the end-to-end test of `npm test`. */
const STORY = ["packages/agent/e2e/eleven-steps.test.ts"];
const story = { name: "story", include: STORY };
/** `npm run test:e2e`. */
const e2e = {
  name: "e2e",
  include: [EVERYTHING],
  exclude: [...ELSEWHERE, ...UNITS, ...STORY],
};
/** The kubectl commands run on kube-sim in the one lane and on a real API server in the other. */
const ON_BOTH = ["test/kube-sim/e2e/kubectl.test.ts"];
const real = { name: "real", include: [...REAL_PEERS, ...ON_BOTH] };
const liqo = { name: "liqo", include: REAL_LIQO };
const ui = { name: "ui", include: IN_A_BROWSER };
const kind = { name: "kind", include: IN_KIND };

function chosen() {
  if (isReal) return [real];
  if (isLiqo) return [liqo];
  if (isKind) return [kind];
  return isUi ? [ui] : [units, story, e2e];
}

/** `npm run test:coverage` prints a table. There is no threshold: a figure to read, not a gate. */
const coverage: CoverageOptions = {
  provider: "v8",
  reporter: [["text", { skipFull: true }]],
  include: ["{packages,apps}/*/src/**/*.{ts,tsx}"],
  exclude: ["**/testing/**", "**/*.test.{ts,tsx}", "**/*.generated.ts"],
};

export default defineConfig({
  test: {
    maxWorkers,
    coverage,
    projects: chosen().map((test) => ({ test: { ...timeouts, ...test } })),
  },
});
