import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** Source text by path. */
export type Files = Readonly<Record<string, string>>;

const PACKAGES = [
  "packages/base",
  "packages/domain",
  "packages/contract",
  "packages/accounting",
  "packages/runtime",
  "packages/kube",
  "packages/client",
  "packages/broker",
  "packages/agent",
  "packages/newcomer",
  "test/kube-sim",
  "test/testkit",
];

/** A small workspace of our shape that keeps every rule, also where a rule has an exception. */
const CLEAN: Files = {
  "packages/base/src/index.ts": `export { lookup } from "./lookup.ts";`,
  "packages/base/src/lookup.ts": `export const lookup = 1;`,
  "packages/base/src/lookup.test.ts": `import "node:fs"; import "fast-check"; import "./lookup.ts";`,
  "packages/domain/src/index.ts": `export { decide } from "./decide.ts";`,
  "packages/domain/src/decide.ts": `import { lookup } from "@resource-broker/base"; export const decide = lookup;`,
  "packages/domain/src/decide.test.ts": `import "node:fs"; import "fast-check"; import "./testing/index.ts"; import "@resource-broker/testkit";`,
  "packages/domain/src/testing/index.ts": `import "fast-check"; export * from "../decide.ts";`,
  "packages/domain/src/ledger/testing/model.ts": `import "fast-check"; import "../../testing/index.ts";`,
  "packages/contract/src/index.ts": `import "@resource-broker/base"; export { decide } from "@resource-broker/domain";`,
  "packages/contract/src/crd/index.ts": `export const kind = 1;`,
  "packages/contract/generate/main.ts": `import "node:fs"; import "fast-check"; import "../src/index.ts";`,
  "packages/accounting/src/index.ts": `import "@resource-broker/base"; import "@resource-broker/domain";`,
  "packages/runtime/src/index.ts": `import "node:tls"; import "declared"; import "@resource-broker/base";`,
  "packages/kube/src/index.ts": `import "node:https"; import "declared"; import "@resource-broker/base"; import "@resource-broker/runtime";`,
  "test/kube-sim/src/index.ts": `import "@resource-broker/kube";`,
  "packages/client/src/index.ts": `import "node:https"; import "@resource-broker/contract"; import "@resource-broker/runtime";`,
  "packages/broker/src/index.ts": `import "@resource-broker/kube"; import "@resource-broker/runtime";`,
  "packages/broker/src/broker.test.ts": `import "@resource-broker/kube-sim"; import "@resource-broker/domain/testing";`,
  "packages/broker/src/store/choose-store.ts": `import "./sqlite/store.ts"; import "./common/seal.ts";`,
  "packages/broker/src/store/sqlite/store.ts": `import "../common/seal.ts"; import "./rows.ts";`,
  "packages/broker/src/store/sqlite/rows.ts": "",
  "packages/broker/src/store/common/seal.ts": "",
  "packages/agent/src/index.ts": `import "@resource-broker/accounting"; import "@resource-broker/client"; import "@resource-broker/kube"; import "@resource-broker/runtime";`,
  "packages/agent/src/app.ts": `import "./liqo/provider/liqo-provider.ts";`,
  "packages/agent/src/data-plane/settings.ts": `import "../liqo/index.ts";`,
  "packages/agent/src/liqo/index.ts": `export { liqo } from "./provider/liqo-provider.ts";`,
  "packages/agent/src/liqo/provider/liqo-provider.ts": `export const liqo = 1;`,
  "test/testkit/src/index.ts": `import "@resource-broker/broker"; import "@resource-broker/agent"; import "@resource-broker/agent/liqo"; import "fast-check";`,
  "test/campaigns/fuzz/main.ts": `import "node:fs"; import "fast-check"; import "@resource-broker/testkit"; import "./attacks/json.ts"; import "../frame/campaign.ts";`,
  "test/campaigns/frame/campaign.ts": "",
  "test/campaigns/fuzz/attacks/json.ts": "",
  "test/campaigns/simulation/main.ts": `import "@resource-broker/broker";`,
  "packages/newcomer/src/index.ts": `export const newcomer = 1;`,
  "apps/demo/package.json": `{ "name": "@resource-broker/demo" }`,
  "apps/demo/src/main.ts": `import "@resource-broker/broker"; import "@resource-broker/testkit";`,
  "apps/cli/package.json": `{ "name": "@resource-broker/cli" }`,
  "apps/cli/src/main.ts": `import "@resource-broker/contract"; import "@resource-broker/contract/crd";`,
  "apps/dashboard/package.json": `{ "name": "@resource-broker/dashboard" }`,
  "apps/dashboard/src/main.tsx": `import type { T } from "@resource-broker/contract";`,
  "evaluation/main.ts": `import "@resource-broker/testkit"; import "@resource-broker/domain";`,
};

/** Writes the clean workspace with `planted` on top into a new folder, whose path it returns. */
export function plantTree(planted: Files = {}): string {
  const root = mkdtempSync(join(tmpdir(), "layers-"));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write(
    "package.json",
    JSON.stringify({
      workspaces: ["packages/*", "apps/*", "test/*"],
      devDependencies: { "fast-check": "1.0.0" },
    }),
  );
  for (const name of ["fast-check", "declared"]) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: "1.0.0", main: "index.js" }));
    write(`node_modules/${name}/index.js`, "");
  }
  mkdirSync(join(root, "node_modules/@resource-broker"));
  for (const folder of PACKAGES) {
    const name = basename(folder);
    write(`${folder}/package.json`, JSON.stringify(manifestOf(name)));
    symlinkSync(`../../${folder}`, join(root, "node_modules/@resource-broker", name));
  }
  for (const [path, text] of Object.entries({ ...CLEAN, ...planted })) write(path, text);
  return root;
}

function manifestOf(name: string): object {
  return {
    name: `@resource-broker/${name}`,
    type: "module",
    exports: {
      ".": "./src/index.ts",
      "./crd": "./src/crd/index.ts",
      "./testing": "./src/testing/index.ts",
      "./liqo": "./src/liqo/index.ts",
      "./inside": "./src/decide.ts",
    },
    dependencies: { declared: "1.0.0" },
  };
}
