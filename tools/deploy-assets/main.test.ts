import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPins } from "../go-assets/cache.ts";
import { testAssetsTool } from "../go-assets/testing/tool-promises.ts";
import { GO_MODULE } from "./assets.ts";
import { DEFINITIONS, helmVersions } from "./recipe.ts";

const VERSION = helmVersions(readPins(GO_MODULE)).helm;

/** What Go says of a module that it has. */
const REPLIES = DEFINITIONS.map(
  ({ name, path, sum }) =>
    `*${path}*) echo "{\\"Dir\\":\\"$BENCH/modules/${name}\\",\\"Sum\\":\\"\${SUM:-${sum}}\\"}" ;;`,
).join("\n    ");

const bench = testAssetsTool({
  tool: "deploy-assets",
  script: "deploy:assets",
  noGo: /Go is not installed.+Install Go/,
  says: `${VERSION}+g123`,
  answers: `"mod "*)
    if [ -n "$MISSING" ]; then echo '{"Error": "module lookup disabled"}'; exit 1; fi
    case "$4" in
    ${REPLIES}
    esac ;;`,
  files: Object.fromEntries(
    DEFINITIONS.flatMap(({ name, folder }) => [
      [`modules/${name}/${folder}/things.yaml`, "kind: CustomResourceDefinition\n"],
      [`modules/${name}/${folder}/README.md`, "not one\n"],
    ]),
  ),
  programs: 1,
  failures: [
    ["a build that fails shows Go's words", { BREAKS_AT: "helm" }, "go build failed:\nundefined: x"],
    ["a module that cannot be had shows Go's words", { MISSING: "1" }, "module lookup disabled"],
    ["a module that somebody changed is not taken", { SUM: "h1:other" }, "has the checksum h1:other"],
    ["a helm of another version is not taken", { SAYS: "v2.0.0" }, `helm is not ${VERSION}`],
  ],
});

test("it takes helm and definitions once, and then finds them without Go", async () => {
  const first = await bench().run();
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toContain(`deploy-assets: helm ${VERSION}, 1 definitions of cert-manager v`);
  expect(readdirSync(bench().kept()).sort()).toEqual([
    "cert-manager",
    "complete",
    "helm",
    "prometheus-operator",
  ]);
  expect(readdirSync(join(bench().kept(), "prometheus-operator"))).toEqual(["things.yaml"]);
  expect(await bench().run({ hasGo: false })).toMatchObject({ code: 0, stderr: "" });
  expect(bench().built()).toHaveLength(1);
});
