import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPins } from "../go-assets/cache.ts";
import { testAssetsTool } from "../go-assets/testing/tool-promises.ts";
import { GO_MODULE, liqoVersion } from "./assets.ts";
import { DEFINITIONS } from "./recipe.ts";

const VERSION = liqoVersion(readPins(GO_MODULE));

const bench = testAssetsTool({
  tool: "liqo-assets",
  script: "liqo:assets",
  noGo: /Go is not installed.+Install Go/,
  says: `Client version: ${VERSION}`,
  answers: `"list -m") echo "$BENCH/liqo" ;;
  "mod "*) if [ -n "$MISSING" ]; then echo "go: module lookup disabled" >&2; exit 1; fi ;;`,
  files: {
    [`liqo/${DEFINITIONS}/slices.yaml`]: "kind: CustomResourceDefinition\n",
    [`liqo/${DEFINITIONS}/README.md`]: "not one\n",
  },
  programs: 1,
  failures: [
    ["a build that fails shows Go's words", { BREAKS_AT: "liqoctl" }, "go build failed:\nundefined: x"],
    ["a module that cannot be had shows Go's words", { MISSING: "1" }, "module lookup disabled"],
    ["a liqoctl of another version is not taken", { SAYS: "v0.9.0" }, `liqoctl is not ${VERSION}`],
  ],
});

test("it takes definitions and liqoctl once, and then finds them without Go", async () => {
  const first = await bench().run();
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toContain(
    `liqo-assets: liqoctl ${VERSION} and 1 definitions are in ${bench().kept()}\n`,
  );
  expect(readdirSync(bench().kept()).sort()).toEqual(["complete", "crds", "liqoctl"]);
  expect(readdirSync(join(bench().kept(), "crds"))).toEqual(["slices.yaml"]);
  expect(await bench().run({ hasGo: false })).toMatchObject({ code: 0, stderr: "" });
  expect(bench().built()).toHaveLength(1);
});
