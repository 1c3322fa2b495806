import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type ToolBench, toolBench } from "../testing/tool-bench.ts";
import { readPins } from "../go-assets/cache.ts";
import { GO_MODULE } from "./assets.ts";
import { DEFINITIONS, helmVersions } from "./recipe.ts";

const MAIN = join(import.meta.dirname, "main.ts");
const VERSION = helmVersions(readPins(GO_MODULE)).helm;

/** What Go says of a module that it has in the folder MODULES. */
const REPLIES = DEFINITIONS.map(
  ({ name, path, sum }) =>
    `*${path}*) echo "{\\"Dir\\":\\"$MODULES/${name}\\",\\"Sum\\":\\"\${SUM:-${sum}}\\"}" ;;`,
).join("\n    ");

/** Stands in for Go: it "builds" a helm that says SAYS. */
const FAKE_GO = `#!/bin/sh
case "$1" in
  list) echo a/b; echo c/d ;;
  mod)
    if [ -n "$MISSING" ]; then echo '{"Error": "module lookup disabled"}'; exit 1; fi
    case "$4" in
    ${REPLIES}
    esac ;;
  build)
    while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
    echo "$1" >> "$NOTES"
    if [ -n "$BREAKS" ]; then echo "undefined: x" >&2; exit 1; fi
    printf '#!/bin/sh\\necho %s+g123\\n' "$SAYS" > "$out"; chmod +x "$out" ;;
esac
`;

let bench: ToolBench;

beforeEach(() => {
  bench = toolBench({
    main: MAIN,
    fakeGo: FAKE_GO,
    files: Object.fromEntries(
      DEFINITIONS.flatMap(({ name, folder }) => [
        [`modules/${name}/${folder}/things.yaml`, "kind: CustomResourceDefinition\n"],
        [`modules/${name}/${folder}/README.md`, "not one\n"],
      ]),
    ),
    env: (folder) => ({
      DEPLOY_ASSETS_CACHE: join(folder, "cache"),
      MODULES: join(folder, "modules"),
      SAYS: VERSION,
    }),
  });
  return bench.dispose;
});

const cached = (): string => bench.path("cache", readdirSync(bench.path("cache"))[0] ?? "");

test("without Go and without assets it says what to do, exits with 3 and writes nothing", async () => {
  const { code, stdout, stderr } = await bench.run({ hasGo: false });
  expect([code, stdout]).toEqual([3, ""]);
  expect(stderr).toMatch(/Go is not installed.+Install Go/);
  expect(readdirSync(bench.path())).toEqual([]);
});

test("it takes helm and definitions once, and then finds them without Go", async () => {
  const first = await bench.run();
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toContain(`deploy-assets: helm ${VERSION}, 1 definitions of cert-manager v`);
  expect(readdirSync(cached()).sort()).toEqual(["cert-manager", "complete", "helm", "prometheus-operator"]);
  expect(readdirSync(join(cached(), "prometheus-operator"))).toEqual(["things.yaml"]);
  expect(await bench.run({ hasGo: false })).toMatchObject({ code: 0, stderr: "" });
  expect(bench.built()).toHaveLength(1);
});

const failures: [name: string, env: Record<string, string>, says: string][] = [
  ["a build that fails shows Go's words", { BREAKS: "1" }, "go build failed:\nundefined: x"],
  ["a module that cannot be had shows Go's words", { MISSING: "1" }, "module lookup disabled"],
  ["a module that somebody changed is not taken", { SUM: "h1:other" }, "has the checksum h1:other"],
  ["a helm of another version is not taken", { SAYS: "v2.0.0" }, `helm is not ${VERSION}`],
];
test.each(failures)("%s, and nothing counts as whole", async (_, env, says) => {
  expect(await bench.run({ env })).toMatchObject({ code: 1, stderr: expect.stringContaining(says) });
  expect(existsSync(join(cached(), "complete"))).toBe(false);
});

test("an unknown option is refused", async () => {
  expect(await bench.run({ args: ["--force"] })).toMatchObject({
    code: 2,
    stderr: "deploy-assets: unknown option --force. Usage: npm run deploy:assets\n",
  });
});
