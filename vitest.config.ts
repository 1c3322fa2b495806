import { configDefaults, defineConfig } from "vitest/config";

/** `npm run test:long` runs the property and model tests with their full number of runs. */
const long = process.env["LONG"] === "1";

/** `npm run test:kube` runs these, against a real kube-apiserver, etcd and kubectl; `npm test` needs none of them. */
const isReal = process.env["KUBE_REQUIRED"] === "1";
const REAL_PEERS = [
  "packages/testkit/src/control-plane/**/*.test.ts",
  "{packages,apps}/*/e2e/real/**/*.test.ts",
  "packages/*/e2e/*real*.test.ts",
];

export default defineConfig({
  test: {
    include: isReal ? REAL_PEERS : ["{packages,apps,evaluation,scripts,tools}/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(isReal ? [] : REAL_PEERS)],
    // Each of them starts control planes of several hundred megabytes: one file at a time.
    fileParallelism: !isReal,
    // Only a guard against tests that hang: no test asserts a time, and a busy machine is no failure.
    testTimeout: long ? 3_600_000 : 120_000,
    hookTimeout: 120_000,
  },
});
