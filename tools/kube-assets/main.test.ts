import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type ToolBench, toolBench } from "../testing/tool-bench.ts";
import { PROGRAMS } from "./recipe.ts";

const MAIN = join(import.meta.dirname, "main.ts");

/** Stands in for Go: notes what it is asked to build, and "builds" programs that say the version VERSION. */
const FAKE_GO = `#!/bin/sh
case "$1" in
  list) echo a/b; echo c/d ;;
  build)
    while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
    echo "$1" >> "$NOTES"
    case "$1" in *"$BREAKS_AT") echo "undefined: x" >&2; exit 1 ;; esac
    echo "go: downloading k8s.io/api v0.34.4" >&2
    printf '#!/bin/sh\\necho %s\\n' "$VERSION" > "$out"; chmod +x "$out" ;;
esac
`;

let bench: ToolBench;

beforeEach(() => {
  bench = toolBench({
    main: MAIN,
    fakeGo: FAKE_GO,
    env: (folder) => ({
      KUBE_ASSETS_CACHE: join(folder, "cache"),
      VERSION: "v1.34.4",
      BREAKS_AT: "nothing",
    }),
  });
  return bench.dispose;
});

const given = (version: string): void => {
  for (const name of PROGRAMS) bench.write(`given/${name}`, `#!/bin/sh\necho ${version}\n`);
};

test("without Go and without programs it says what to do, exits with 3 and writes nothing", async () => {
  const { code, stdout, stderr } = await bench.run({ hasGo: false });
  expect([code, stdout]).toEqual([3, ""]);
  expect(stderr).toMatch(/Go is not installed.+Install Go .+ or set KUBEBUILDER_ASSETS/);
  expect(readdirSync(bench.path())).toEqual([]);
});

test("it builds every program once and then finds them", async () => {
  const first = await bench.run();
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toMatch(
    /kubectl: built in 0 s\nkube-assets: etcd 1\.34\.4, .+ are in \S+\/cache\/v1\.34/s,
  );
  expect(bench.built()).toHaveLength(PROGRAMS.length);
  const second = await bench.run({ hasGo: false });
  expect(second).toMatchObject({ code: 0, stdout: expect.not.stringContaining("built") });
  expect(bench.built()).toHaveLength(PROGRAMS.length);
});

test("a build that fails shows Go's words, and the next run keeps what was whole", async () => {
  const failed = await bench.run({ env: { BREAKS_AT: "kube-controller-manager" } });
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("failed:\nundefined: x") });
  expect(await bench.run()).toMatchObject({ code: 0 });
  const names = bench.built().map((path) => path.split("/").at(-1));
  expect(names).toEqual([
    "v3",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-controller-manager",
    "kubectl",
  ]);
});

test("programs that are not what was wanted are not taken for a whole build", async () => {
  const old = await bench.run({ env: { VERSION: "v1.30.0" } });
  expect(old).toMatchObject({ code: 1, stderr: expect.stringContaining("kube-apiserver is 1.30.0") });
  const [name = ""] = readdirSync(bench.path("cache"));
  expect(existsSync(bench.path("cache", name, "complete"))).toBe(false);
});

test("two runs at once build once", async () => {
  const ends = await Promise.all([bench.run(), bench.run()]);
  expect(ends).toMatchObject([{ code: 0 }, { code: 0 }]);
  expect(bench.built()).toHaveLength(PROGRAMS.length);
  expect(readdirSync(bench.path("cache")).filter((name) => name.endsWith(".lock"))).toEqual([]);
});

test("KUBEBUILDER_ASSETS is used as it is, and nothing is built", async () => {
  given("v1.35.2");
  const { code, stdout } = await bench.run({
    env: { KUBEBUILDER_ASSETS: bench.path("given") },
    hasGo: false,
  });
  expect(code).toBe(0);
  expect(stdout).toMatch(/kubectl 1\.35\.2 are in \S+\/given\n$/);
});

test("KUBEBUILDER_ASSETS that is too old, or lacks something, is refused", async () => {
  const env = { KUBEBUILDER_ASSETS: bench.path("given") };
  given("v1.33.0");
  expect(await bench.run({ env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("1.34 or newer"),
  });
  rmSync(bench.path("given/kube-controller-manager"));
  expect(await bench.run({ env })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("no kube-controller-manager"),
  });
});

test("an unknown option is refused", async () => {
  expect(await bench.run({ args: ["--force"] })).toMatchObject({
    code: 2,
    stderr: "kube-assets: unknown option --force. Usage: npm run kube:assets\n",
  });
});
