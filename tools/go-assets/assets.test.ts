import { readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { DEPLOY_ASSETS } from "../deploy-assets/assets.ts";
import { KIND_ASSETS } from "../kind-assets/assets.ts";
import { describeVersions, findControlPlane, KUBE_ASSETS, KUBERNETES, PINS } from "../kube-assets/assets.ts";
import { DEFINITIONS, LIQO, LIQO_ASSETS } from "../liqo-assets/recipe.ts";
import { type Assets, findAssets, pinnedRelease, readPins } from "./assets-tool.ts";
import { namesIn } from "./bring.ts";
import { buildProgress, duration, folderInOutput } from "./go.ts";
import { type BenchOptions, type ToolBench, toolBench } from "./testing/tool-bench.ts";

const HELM_VERSION = DEPLOY_ASSETS.label.replace("helm-", "");
const KIND_VERSION = KIND_ASSETS.label;

/** Each tool with what its stand-in programs say, and how they can be wrong. */
const TOOLS: readonly (BenchOptions & { readonly old: string; readonly refusal: string })[] = [
  { assets: KUBE_ASSETS, says: "v1.34.4", old: "v1.30.0", refusal: "kube-apiserver is 1.30.0" },
  {
    assets: LIQO_ASSETS,
    says: `Client version: ${LIQO.version}`,
    files: {
      [`modules/${LIQO.path}/deployments/liqo/Chart.yaml`]: "name: liqo\n",
      [`modules/${LIQO.path}/${DEFINITIONS.replace("chart", "deployments/liqo")}/slices.yaml`]: "kind: X\n",
    },
    old: "v0.9.0",
    refusal: `liqoctl is not ${LIQO.version}`,
  },
  {
    assets: KIND_ASSETS,
    says: `kind ${KIND_VERSION} ${KUBERNETES}`,
    files: { "modules/sigs.k8s.io/kind/images/base/files/usr/local/bin/entrypoint": "#!/bin/bash\n" },
    old: KIND_VERSION,
    refusal: `kubeadm is not ${KUBERNETES}`,
  },
  {
    assets: DEPLOY_ASSETS,
    says: `${HELM_VERSION}+g123`,
    files: Object.fromEntries(
      DEPLOY_ASSETS.list.copies.flatMap(({ module, from }) => [
        [`modules/${module.path}/${String(from)}/things.yaml`, "kind: X\n"],
        [`modules/${module.path}/${String(from)}/README.md`, "not one\n"],
      ]),
    ),
    old: "v2.0.0",
    refusal: `helm is not ${HELM_VERSION}`,
  },
];

describe.each(TOOLS)("$assets.name", ({ assets, old, refusal, ...more }) => {
  const { goMod, goSum } = readPins(assets.goModule);
  let bench: ToolBench;
  beforeEach(() => {
    bench = toolBench({ assets, ...more });
    return bench.dispose;
  });

  test("keeps what it brings by its pins and its recipe, where it is told to", () => {
    const name = `resource-broker/${assets.name}/${assets.label}-`;
    const variable = `${assets.name.replace("-", "_").toUpperCase()}_CACHE`;
    const none = { [variable]: "", XDG_CACHE_HOME: "", HOME: "/home/ada" };
    expect(findAssets(assets, none).folder).toContain(`/home/ada/.cache/${name}`);
    expect(findAssets(assets, { XDG_CACHE_HOME: "/c" }).folder).toContain(`/c/${name}`);
    const { folder } = findAssets(assets, { XDG_CACHE_HOME: "/c", [variable]: "/a" });
    expect(folder).toMatch(/^\/a\/.*-[0-9a-f]{8}$/);
    expect(assets.recipe).toEqual(expect.arrayContaining([goMod, goSum]));
    const other: Assets = { ...assets, recipe: [] };
    expect(findAssets(other, { [variable]: "/a" }).folder).not.toBe(folder);
  });

  test("only a whole folder counts", () => {
    const { folder } = findAssets(assets, { HOME: "/home/ada" });
    const whole = ["complete", ...namesIn(assets.list)].map((name) => join(folder, name));
    const isThere = (files: readonly string[]): boolean =>
      findAssets(assets, { HOME: "/home/ada" }, (path) => files.includes(String(path))).isThere;
    expect(isThere(whole)).toBe(true);
    expect(whole.filter((gone) => isThere(whole.filter((path) => path !== gone)))).toEqual([]);
  });

  test("without Go and without assets it says what to do, exits with 3 and writes nothing", async () => {
    const { code, stdout, stderr } = await bench.run({ hasGo: false });
    expect([code, stdout, stderr]).toEqual([3, "", `${assets.name}: ${assets.noGo}\n`]);
    expect(readdirSync(bench.path())).toEqual([]);
  });

  test("takes everything once, and then finds it without Go", async () => {
    const first = await bench.run();
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(
      new RegExp(`built in \\d+ s\\n${assets.name}: .+ are in ${bench.kept()}\\n`, "s"),
    );
    expect(readdirSync(bench.kept()).sort()).toEqual(["complete", ...namesIn(assets.list)].sort());
    expect(await bench.run({ hasGo: false })).toMatchObject({ code: 0, stderr: "" });
    expect(bench.built()).toHaveLength(assets.list.programs.length);
  });

  test("a program of another version is not taken", async () => {
    const end = await bench.run({ env: { SAYS: old } });
    expect(end).toMatchObject({ code: 1, stderr: expect.stringContaining(refusal) });
    expect(bench.isWhole()).toBe(false);
  });
});

describe("bringing", () => {
  const [kube, liqo] = TOOLS;
  if (kube === undefined || liqo === undefined) throw new Error("the tools are not listed");
  const PROGRAMS = namesIn(KUBE_ASSETS.list);
  let bench: ToolBench;
  beforeEach(() => {
    bench = toolBench(kube);
    return bench.dispose;
  });

  test("takes copies of modules, and builds each program in its own module's folder", async () => {
    const ofLiqo = toolBench(liqo);
    await ofLiqo.run();
    expect(readdirSync(join(ofLiqo.kept(), DEFINITIONS))).toEqual(["slices.yaml"]);
    expect(readFileSync(join(ofLiqo.kept(), "kwok-stages.yaml"), "utf8").split("\n---\n")).toHaveLength(5);
    const folders = new Map(ofLiqo.builtIn());
    expect(folders.get(`${LIQO.path}/cmd/webhook`)).toBe(ofLiqo.path("modules", LIQO.path));
    expect(folders.get("k8s.io/kubernetes/cmd/kube-scheduler")).toMatch(/tools\/kube-assets$/);
    ofLiqo.dispose();
  });

  test.each([
    ["a build that fails shows Go's words", { BREAKS_AT: "liqoctl" }, "go build failed:\nundefined: x"],
    ["a module that cannot be had shows Go's words", { MISSING: "1" }, "module lookup disabled"],
    ["a module that somebody changed is not taken", { SUM: "h1:other" }, "has the checksum h1:other"],
  ])("%s, and nothing counts as whole", async (_, env, says) => {
    const ofLiqo = toolBench(liqo);
    expect(await ofLiqo.run({ env })).toMatchObject({ code: 1, stderr: expect.stringContaining(says) });
    expect(ofLiqo.isWhole()).toBe(false);
    ofLiqo.dispose();
  });

  test.each([
    ["unknown option --force", ["--force"]],
    ["--within lacks its number of minutes", ["--within"]],
    ["--within soon is no number of minutes", ["--within", "soon"]],
  ])("%s is refused, with the usage", async (problem, args) => {
    const usage = `kube-assets: ${problem}. Usage: npm run kube:assets [-- --within MINUTES`;
    expect(await bench.run({ args })).toMatchObject({ code: 2, stderr: expect.stringContaining(usage) });
  });

  test("two runs at once build once", async () => {
    expect(await Promise.all([bench.run(), bench.run()])).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(bench.built()).toHaveLength(PROGRAMS.length);
  });

  test("out of time, it stops Go, exits with 4 and says what is missing; the next run goes on", async () => {
    const late = await bench.run({ args: ["--within", "0.01"], env: { HANGS: "1" } });
    expect(late.code).toBe(4);
    expect(late.stderr).toMatch(
      /: not done within 1 s: \S+ lacks \S.+\. The next run goes on from here\.\n$/,
    );
    expect(await bench.run()).toMatchObject({ code: 0, stderr: "" });
  });

  test("a folder from which a part was removed is not whole; the next run brings it back", async () => {
    await bench.run();
    expect(await bench.run({ args: ["--where"], hasGo: false })).toEqual({
      code: 0,
      stdout: `${bench.kept()}\n`,
      stderr: "",
    });
    rmSync(join(bench.kept(), "etcd"));
    expect(await bench.run({ args: ["--where"] })).toMatchObject({
      code: 3,
      stderr: `kube-assets: ${bench.kept()} lacks etcd. Run npm run kube:assets.\n`,
    });
    expect(await bench.run()).toMatchObject({ code: 0, stderr: "" });
    expect(bench.built()).toHaveLength(PROGRAMS.length + 1);
  });

  test("a run that is killed while it builds leaves no half program that the next one would take", async () => {
    await expect(bench.run({ env: { KILLS: "1" } })).rejects.toThrow("did not end by itself");
    expect(await bench.run()).toMatchObject({ code: 0, stderr: "" });
    expect(bench.built()).toHaveLength(1 + PROGRAMS.length);
  });

  test("what another process has finished, or is at, is left as it is", async () => {
    await bench.run();
    const marker = join(bench.kept(), "complete");
    rmSync(marker);
    expect(await bench.run({ env: { MARKS: marker } })).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(marker, "utf8")).toBe("by another\n");
    rmSync(marker);
    symlinkSync(String(process.pid), `${bench.kept()}.lock`);
    expect(await bench.run({ args: ["--within", "0.001"] })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("lacks the last check. The next run goes on from here."),
    });
    expect(readlinkSync(`${bench.kept()}.lock`)).toBe(String(process.pid));
  });

  test("KUBEBUILDER_ASSETS is used as it is, and refused where it is too old or lacks something", async () => {
    const env = { KUBEBUILDER_ASSETS: bench.path("given") };
    const given = (version: string): void => {
      for (const name of PROGRAMS) bench.write(`given/${name}`, `#!/bin/sh\necho ${version}\n`);
    };
    given("v1.35.2");
    const taken = await bench.run({ env, hasGo: false });
    expect(taken).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/kubectl 1\.35\.2 are in \S+given\n$/),
    });
    given("v1.33.0");
    expect(await bench.run({ env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("1.34 or newer"),
    });
    rmSync(bench.path("given/kubectl"));
    const lacking = {
      code: 3,
      stderr: expect.stringContaining("where there is no kubectl. Put the missing"),
    };
    expect(await bench.run({ env })).toMatchObject(lacking);
    expect(findControlPlane({ KUBE_ASSETS_CACHE: "/nowhere" }).why).toMatch(
      /no etcd, .* and kubectl in \/nowhere\/v1\S+\. Run npm run kube:assets, or set KUBEBUILDER_ASSETS\./,
    );
  });
});

describe("versions", () => {
  const SAID = {
    etcd: "3.6.4",
    "kube-apiserver": "v1.34.4",
    "kube-controller-manager": "v1.34.4",
    kubectl: "v1.34.1",
  };
  const said = (change: Partial<typeof SAID>) =>
    describeVersions(new Map(Object.entries({ ...SAID, ...change }) as [keyof typeof SAID, string][]));

  test("patches of one release go together", () => {
    expect(said({})).toBe(
      "etcd 3.6.4, kube-apiserver 1.34.4, kube-controller-manager 1.34.4, kubectl 1.34.1",
    );
  });

  test.each<[Partial<typeof SAID>, string]>([
    [{ "kube-apiserver": "Kubernetes v1.33.6" }, "1.34 or newer"],
    [{ kubectl: "Client Version: v1.32.4" }, "not of one release: etcd 3.6.4"],
    [{ etcd: "" }, "etcd does not say its version"],
    [{ "kube-apiserver": "Kubernetes devel" }, "but: Kubernetes devel"],
  ])("%j are refused", (change, message) => {
    expect(() => said(change)).toThrow(message);
  });

  test("every part of Kubernetes is replaced by its release of the same number", () => {
    const replaced = [...PINS.goMod.matchAll(/^\s*(k8s\.io\/\S+) => (\S+) (\S+)$/gm)];
    expect(replaced.length).toBeGreaterThanOrEqual(31);
    for (const [, part, by, release] of replaced)
      expect([by, release]).toEqual([part, KUBERNETES.replace(/^v1\./, "v0.")]);
    expect(() => pinnedRelease({ goMod: "require k8s.io/api v0.34.4\n" }, "k8s.io/kubernetes")).toThrow(
      "go.mod pins no release",
    );
  });
});

test("a module with another checksum, or none, is not taken", () => {
  const module = { path: "example.com/thing", version: "v1.2.3", sum: "h1:pinned" };
  expect(folderInOutput(module, '{"Dir":"/mod/x","Sum":"h1:pinned"}')).toBe("/mod/x");
  expect(() => folderInOutput(module, '{"Dir":"/mod/x","Sum":"h1:other"}')).toThrow("the checksum h1:other");
  expect(() => folderInOutput(module, '{"Error": "not found"}')).toThrow(
    /thing is: \{"Error": "not found"\}/,
  );
});

test("packages and downloads are counted, however the output is cut; the rest is what Go complains about", () => {
  const progress = buildProgress("etcd", 3);
  const pieces = [
    "go: downloading k8s.io/api v0.34.4\nin",
    "ternal/cpu\nnet/http\n# k8s.io/api/core/v1\n",
    "go: no",
  ];
  for (const piece of pieces) progress.take(piece);
  expect(progress.line(65_000)).toBe("etcd: 2 of 3 packages compiled, 1 modules downloaded, 1 min 05 s");
  expect(progress.complaints()).toBe("# k8s.io/api/core/v1\ngo: no");
  expect([duration(400), duration(59_600)]).toEqual(["0 s", "1 min 00 s"]);
});
