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
import { IMAGE_RULES } from "./image-rules.ts";
import { type Instruction, readDockerfile, wholeStage } from "./read-dockerfile.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const MANIFEST = JSON.parse(read("package.json")) as {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
};
const IMAGES = [
  { program: "broker", besides: ["openapi.json", "dashboard"] },
  { program: "agent", flags: "packages/agent/node-flags.json" },
  { program: "brokerctl" },
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

  test.each(IMAGE_RULES)("$name", ({ broken }) => {
    expect(broken(image.stages)).toEqual([]);
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

const WRONG = [
  { rule: "tag", from: "FROM node:24", to: "FROM node" },
  { rule: "tag", from: "FROM node:24", to: "FROM node:latest" },
  { rule: "65532", from: "USER 65532:65532", to: "USER root" },
  { rule: "65532", from: "USER 65532:65532", to: "USER 65532:65532\nUSER 0" },
  { rule: "never unpacks", from: "COPY . .", to: "ADD . ." },
  { rule: "exec form", from: 'ENTRYPOINT ["node"]', to: "ENTRYPOINT node" },
  { rule: "exec form", from: 'ENTRYPOINT ["node"]', to: "" },
  { rule: "runs nothing", from: "USER", to: "HEALTHCHECK CMD true\nUSER" },
  { rule: "runs nothing", from: "USER", to: "RUN chmod 777 /app\nUSER" },
  { rule: "stages of its own", from: "COPY --from=build /a", to: "COPY a" },
  { rule: "stages of its own", from: " /app/a", to: " a" },
  { rule: "labels", from: "org.opencontainers.image.title=a", to: "title=a" },
];
const RIGHT = `FROM node:24 AS build
COPY . .
FROM node:24 AS end
LABEL ${["title", "description", "licenses", "version", "revision"].map((each) => `org.opencontainers.image.${each}=a`).join(" ")}
COPY --from=build /a /app/a
USER 65532:65532
ENTRYPOINT ["node"]
`;

test("the rules find nothing in a right file", () => {
  expect(IMAGE_RULES.flatMap(({ broken }) => broken(readDockerfile(RIGHT)))).toEqual([]);
});

test.each(WRONG)("the rules find $to where $from should be", ({ rule, from, to }) => {
  const stages = readDockerfile(RIGHT.replace(from, to));
  const broken = IMAGE_RULES.filter((each) => each.broken(stages).length > 0).map(({ name }) => name);
  expect(broken).toEqual([expect.stringContaining(rule)]);
});
