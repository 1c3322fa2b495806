import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { validate } from "dockerfile-utils";
import { describe, expect, onTestFinished, test } from "vitest";
import { bundle } from "../../scripts/bundle/bundle.ts";
import { PROGRAMS } from "../../scripts/bundle/programs.ts";
import { LIQO } from "../../tools/liqo-assets/recipe.ts";
import { buildContext } from "./build-context.ts";
import { type Instruction, readDockerfile, wholeStage } from "./read-dockerfile.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const MANIFEST = JSON.parse(read("package.json")) as {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
};
/** A name, an optional digest, and a tag that says more than "the newest". */
const PINNED = /^[a-z0-9./-]+:(?!latest)[\w.-]+(@sha256:[0-9a-f]{64})?$/;
const IN_AN_IMAGE = ["FROM", "ARG", "LABEL", "WORKDIR", "COPY", "ENV", "USER", "EXPOSE", "ENTRYPOINT"];
const IMAGES = [
  { program: "broker", besides: ["openapi.json", "dashboard"] },
  { program: "agent", flags: "packages/agent/node-flags.json" },
  { program: "brokerctl", besides: ["agent-chart.json"] },
].map(({ flags, besides = [], ...image }) => {
  const text = read(`deploy/images/${image.program}.Dockerfile`);
  const nodeFlags = flags === undefined ? [] : (JSON.parse(read(flags)) as string[]);
  const stages = readDockerfile(text);
  return { ...image, text, nodeFlags, besides, stages, shipped: wholeStage(stages, image.program) };
});

const copies = (instructions: readonly Instruction[]): string[][] =>
  instructions.filter(({ keyword }) => keyword === "COPY").map(({ value }) => value.split(/\s+/));

describe.each(IMAGES)("deploy/images/$program.Dockerfile", (image) => {
  test("is a Dockerfile without complaints", () => {
    expect(validate(image.text)).toEqual([]);
  });

  test("stands on tags that name a version or a variant, runs as 65532, and needs no shell", () => {
    const { stages, shipped } = image;
    const bases = stages.map(({ from }) => from).filter((from) => !stages.some(({ name }) => name === from));
    expect(bases.filter((from) => !PINNED.test(from))).toEqual([]);
    const valuesOf = (keyword: string): string[] =>
      shipped.filter((each) => each.keyword === keyword).map(({ value }) => value);
    expect([valuesOf("USER"), valuesOf("ENTRYPOINT").length]).toEqual([["65532:65532"], 1]);
    // Anything that runs needs a shell; what is unpacked or downloaded has no checksum.
    expect(shipped.map(({ keyword }) => keyword).filter((each) => !IN_AN_IMAGE.includes(each))).toEqual([]);
    expect(
      stages.flatMap(({ instructions }) => instructions).filter((each) => each.keyword === "ADD"),
    ).toEqual([]);
    for (const label of ["title", "description", "licenses", "version", "revision"])
      expect(valuesOf("LABEL").join(" ")).toContain(`org.opencontainers.image.${label}=`);
  });

  test("bundles what it copies, and copies all that the bundle consists of", () => {
    const { program, besides, stages, shipped } = image;
    const built = ["licenses.txt", "mjs"].map((end) => `${program}.${end}`).concat(besides);
    const sources = copies(shipped).map(([source]) => source);
    expect(new Set(sources)).toEqual(new Set(["/src/LICENSE", ...built.map((file) => `/out/${file}`)]));
    const runs = stages[0]?.instructions.filter(({ keyword }) => keyword === "RUN") ?? [];
    expect(runs.map(({ value }) => value)).toEqual([
      "npm ci --ignore-scripts",
      `node scripts/bundle/main.ts --into=/out --program=${program}`,
    ]);
  });

  test("starts the bundle on the Node of distroless, with the flags that it is measured with", () => {
    const [entry = "[]"] = image.shipped
      .filter(({ keyword }) => keyword === "ENTRYPOINT")
      .map(({ value }) => value);
    const file = `/app/${image.program}.mjs`;
    expect(JSON.parse(entry)).toEqual(["/nodejs/bin/node", ...image.nodeFlags, file]);
    expect(copies(image.shipped).map(([, target]) => target)).toContain(file);
  });

  test("has the environment that the program is measured in", () => {
    const settings = image.shipped
      .filter(({ keyword }) => keyword === "ENV")
      .flatMap(({ value }) => value.split(" "));
    const { environment = {} } = PROGRAMS.find(({ name }) => name === image.program) ?? {};
    expect(settings).toEqual(Object.entries(environment).map(([name, value]) => `${name}=${value}`));
  });

  test("is built with the Node that is tested, and for the same major release of it", () => {
    const [builder, ...others] = image.stages.map(({ from }) => from);
    const node = MANIFEST.devDependencies["node"] ?? "";
    expect(builder).toBe(`node:${node}-trixie-slim`);
    expect(others.some((from) => from.includes(`/nodejs${node.split(".")[0]}-`))).toBe(true);
  });

  test("carries the version of the project", () => {
    const labels = image.shipped.find(({ keyword }) => keyword === "LABEL")?.value;
    expect(labels).toContain(`org.opencontainers.image.version="${MANIFEST.version}"`);
    expect(image.text).toContain(`-t resource-broker/${image.program}:${MANIFEST.version} .`);
  });
});

test("the agent's image has liqoctl only where it is asked for, of the release that is tested", () => {
  const { stages, shipped } = IMAGES.find(({ program }) => program === "agent") ?? {
    stages: [],
    shipped: [],
  };
  expect(copies(shipped).flat()).not.toContain("/out/liqoctl");
  const withLiqoctl = copies(wholeStage(stages, "agent-with-liqoctl"));
  expect(withLiqoctl).toContainEqual(["/out/liqoctl", "/usr/local/bin/liqoctl"]);
  const go = stages.find(({ name }) => name === "liqoctl");
  const args = go?.instructions.filter(({ keyword }) => keyword === "ARG").map(({ value }) => value);
  expect(args).toEqual(expect.arrayContaining([`LIQO_VERSION=${LIQO.version}`, `LIQO_SUM=${LIQO.sum}`]));
  expect(go?.from).toMatch(/^golang:1\.\d+\.\d+-trixie$/);
});

describe("what is sent to the builder", () => {
  const isSent = buildContext(read(".dockerignore"));

  test("has all that the bundles are made of, and what the builds name", async () => {
    const into = await mkdtemp(join(tmpdir(), "images-"));
    onTestFinished(() => rm(into, { recursive: true }));
    const sources = (await bundle({ root: ROOT, into })).flatMap((file) => file.sources);
    const own = sources.filter((path) => path.startsWith(`${ROOT}/`) && !path.includes("/node_modules/"));
    expect(own.length).toBeGreaterThan(100);
    expect(own.map((path) => relative(ROOT, path)).filter((path) => !isSent(path))).toEqual([]);
    const named = ["LICENSE", "package-lock.json", "scripts/bundle/main.ts", "test/testkit/package.json"];
    expect(named.filter((path) => !isSent(path))).toEqual([]);
  });

  const KEPT_BACK = [
    ".git/config",
    "certs/ca/tls.key",
    "data/ledger.db",
    "dist/broker.mjs",
    "node_modules/pg/package.json",
    "packages/broker/node_modules/x/index.js",
    "apps/dashboard/dist/index.html",
    "packages/broker/src/app.test.ts",
    "packages/agent/e2e/testing/fleet.ts",
    "test/testkit/src/index.ts",
    "test/campaigns/fuzz/main.ts",
    "tools/liqo-assets/main.ts",
  ];

  test.each(KEPT_BACK)("has not %s", (path) => {
    expect(isSent(path)).toBe(false);
  });
});
