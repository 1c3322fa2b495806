import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { liqoVersion, readPins } from "./assets.ts";
import { DEFINITIONS } from "./recipe.ts";

const MAIN = join(import.meta.dirname, "main.ts");
const VERSION = liqoVersion(readPins());

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

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "liqo-assets-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

interface Settings {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly hasGo?: boolean;
}

interface End {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run({ args = [], env = {}, hasGo = true }: Settings = {}): Promise<End> {
  if (hasGo) {
    write(join(folder, "bin/go"), FAKE_GO);
    write(join(folder, "liqo", DEFINITIONS, "slices.yaml"), "kind: CustomResourceDefinition\n");
    write(join(folder, "liqo", DEFINITIONS, "README.md"), "not one\n");
  }
  const surroundings = {
    PATH: hasGo ? `${join(folder, "bin")}:/usr/bin:/bin` : join(folder, "nowhere"),
    LIQO_ASSETS_CACHE: join(folder, "cache"),
    LIQO: join(folder, "liqo"),
    NOTES: join(folder, "notes"),
    SAYS: VERSION,
    ...env,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: surroundings }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
  });
}

const builds = (): number => readFileSync(join(folder, "notes"), "utf8").trimEnd().split("\n").length;
const cached = (): string => join(folder, "cache", readdirSync(join(folder, "cache"))[0] ?? "");

test("without Go and without assets it says what to do, exits with 3 and writes nothing", async () => {
  const { code, stdout, stderr } = await run({ hasGo: false });
  expect([code, stdout]).toEqual([3, ""]);
  expect(stderr).toMatch(/Go is not installed.+Install Go/);
  expect(readdirSync(folder)).toEqual([]);
});

test("it takes definitions and liqoctl once, and then finds them without Go", async () => {
  const first = await run();
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toContain(`liqo-assets: liqoctl ${VERSION} and 1 definitions are in ${cached()}\n`);
  expect(readdirSync(cached()).sort()).toEqual(["complete", "crds", "liqoctl"]);
  expect(readdirSync(join(cached(), "crds"))).toEqual(["slices.yaml"]);
  expect(await run({ hasGo: false })).toMatchObject({ code: 0, stderr: "" });
  expect(builds()).toBe(1);
});

test("two runs at once build once", async () => {
  const ends = await Promise.all([run(), run()]);
  expect(ends).toMatchObject([{ code: 0 }, { code: 0 }]);
  expect(builds()).toBe(1);
  expect(readdirSync(join(folder, "cache"))).toHaveLength(1);
});

const failures: [name: string, env: Settings["env"], says: string][] = [
  ["a build that fails shows Go's words", { BREAKS: "1" }, "go build failed:\nundefined: x"],
  ["a module that cannot be had shows Go's words", { MISSING: "1" }, "module lookup disabled"],
  ["a liqoctl of another version is not taken", { SAYS: "v0.9.0" }, `liqoctl is not ${VERSION}`],
];
test.each(failures)("%s, and nothing counts as whole", async (_, env = {}, says) => {
  expect(await run({ env })).toMatchObject({ code: 1, stderr: expect.stringContaining(says) });
  expect(existsSync(join(cached(), "complete"))).toBe(false);
});

test("an unknown option is refused", async () => {
  expect(await run({ args: ["--force"] })).toMatchObject({
    code: 2,
    stderr: "liqo-assets: unknown option --force. Usage: npm run liqo:assets\n",
  });
});
