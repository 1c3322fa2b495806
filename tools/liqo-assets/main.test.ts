import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type ToolBench, toolBench } from "../testing/tool-bench.ts";
import { readPins } from "../go-assets/cache.ts";
import { GO_MODULE, liqoVersion } from "./assets.ts";
import { DEFINITIONS } from "./recipe.ts";

const MAIN = join(import.meta.dirname, "main.ts");
const VERSION = liqoVersion(readPins(GO_MODULE));

/** Stands in for Go: its module cache is the folder LIQO, and it "builds" a liqoctl that says SAYS. */
const FAKE_GO = `#!/bin/sh
case "$1" in
  list) if [ "$2" = -m ]; then echo "$LIQO"; else echo a/b; echo c/d; fi ;;
  mod) if [ -n "$MISSING" ]; then echo "go: module lookup disabled" >&2; exit 1; fi ;;
  build)
    while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
    echo "$1" >> "$NOTES"
    if [ -n "$BREAKS" ]; then echo "undefined: x" >&2; exit 1; fi
    printf '#!/bin/sh\\necho Client version: %s\\n' "$SAYS" > "$out"; chmod +x "$out" ;;
esac
`;

let bench: ToolBench;

beforeEach(() => {
  bench = toolBench({
    main: MAIN,
    fakeGo: FAKE_GO,
    files: {
      [`liqo/${DEFINITIONS}/slices.yaml`]: "kind: CustomResourceDefinition\n",
      [`liqo/${DEFINITIONS}/README.md`]: "not one\n",
    },
    env: (folder) => ({
      LIQO_ASSETS_CACHE: join(folder, "cache"),
      LIQO: join(folder, "liqo"),
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

test("it takes definitions and liqoctl once, and then finds them without Go", async () => {
  const first = await bench.run();
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toContain(`liqo-assets: liqoctl ${VERSION} and 1 definitions are in ${cached()}\n`);
  expect(readdirSync(cached()).sort()).toEqual(["complete", "crds", "liqoctl"]);
  expect(readdirSync(join(cached(), "crds"))).toEqual(["slices.yaml"]);
  expect(await bench.run({ hasGo: false })).toMatchObject({ code: 0, stderr: "" });
  expect(bench.built()).toHaveLength(1);
});

test("two runs at once build once", async () => {
  const ends = await Promise.all([bench.run(), bench.run()]);
  expect(ends).toMatchObject([{ code: 0 }, { code: 0 }]);
  expect(bench.built()).toHaveLength(1);
  expect(readdirSync(bench.path("cache"))).toHaveLength(1);
});

const failures: [name: string, env: Record<string, string>, says: string][] = [
  ["a build that fails shows Go's words", { BREAKS: "1" }, "go build failed:\nundefined: x"],
  ["a module that cannot be had shows Go's words", { MISSING: "1" }, "module lookup disabled"],
  ["a liqoctl of another version is not taken", { SAYS: "v0.9.0" }, `liqoctl is not ${VERSION}`],
];
test.each(failures)("%s, and nothing counts as whole", async (_, env, says) => {
  expect(await bench.run({ env })).toMatchObject({ code: 1, stderr: expect.stringContaining(says) });
  expect(existsSync(join(cached(), "complete"))).toBe(false);
});

test("an unknown option is refused", async () => {
  expect(await bench.run({ args: ["--force"] })).toMatchObject({
    code: 2,
    stderr: "liqo-assets: unknown option --force. Usage: npm run liqo:assets\n",
  });
});
