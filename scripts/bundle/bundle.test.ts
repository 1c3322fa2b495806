import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type BundledFile, bundle } from "./bundle.ts";
import { packagesOf } from "./packages.ts";
import { bundlePages } from "./pages.ts";
import { PROGRAMS, programsNamed } from "./programs.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
let into: string;
let files: BundledFile[];

beforeAll(async () => {
  into = await mkdtemp(join(tmpdir(), "bundle-"));
  files = await bundle({ root, into });
});
afterAll(() => rm(into, { recursive: true }));

test("the bundles run where there are no packages", async () => {
  expect(files.map(({ file }) => file)).toEqual([
    "broker.mjs",
    "openapi.json",
    "broker.licenses.txt",
    "broker",
    "agent.mjs",
    "agent.licenses.txt",
    "agent",
    "brokerctl.mjs",
    "brokerctl.licenses.txt",
    "brokerctl",
    "agent-chart.json",
  ]);
  const broker = await run(process.execPath, [join(into, "broker.mjs"), "--version"], { cwd: into });
  expect(broker.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const agent = await run(process.execPath, [join(into, "agent.mjs"), "--version"], { cwd: into });
  expect(agent.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const cli = await run(process.execPath, [join(into, "brokerctl.mjs"), "--help"], { cwd: into });
  expect(cli.stdout).toContain("brokerctl");
});

test("the agent's chart lies beside brokerctl, whole", async () => {
  const chart = JSON.parse(await readFile(join(into, "agent-chart.json"), "utf8")) as Record<string, string>;
  for (const path of ["Chart.yaml", "values.yaml", "values.schema.json", "templates/deployment.yaml"])
    expect(chart[path]).toBe(await readFile(join(root, "deploy/helm/agent", path), "utf8"));
});

test.each(PROGRAMS)("$file weighs no more than $budgetBytes bytes", ({ file, budgetBytes }) => {
  expect(files.find((each) => each.file === file)?.bytes).toBeLessThanOrEqual(budgetBytes);
});

test.each(PROGRAMS)(
  "the launcher of $name finds Node and the bundle, and passes on what it is told",
  async ({ name }) => {
    const link = join(into, `linked ${name}`);
    await symlink(name, link);
    const env = { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };
    const { stdout } = await run(link, ["--help"], { cwd: "/", env });
    expect(stdout).toContain(name);
    await expect(run(link, ["--no such flag"], { cwd: "/", env })).rejects.toMatchObject({ code: 2 });
  },
);

test("the broker's launcher sets what glibc is to do, and leaves what somebody else has set", async () => {
  const folder = await mkdtemp(join(tmpdir(), "launcher-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "node"), "#!/bin/sh\nenv\n", { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env["PATH"] ?? ""}`, MALLOC_TOP_PAD_: "4096" };
  const { stdout } = await run(join(into, "broker"), [], { env });
  const settings = stdout.split("\n").filter((line) => line.startsWith("MALLOC_"));
  expect(settings.sort()).toEqual([
    "MALLOC_MMAP_THRESHOLD_=65536",
    "MALLOC_TOP_PAD_=4096",
    "MALLOC_TRIM_THRESHOLD_=65536",
  ]);
});

test("no bundle needs two bytes for a character, and none carries our comments", async () => {
  const texts = await Promise.all(PROGRAMS.map(({ file }) => readFile(join(into, file), "utf8")));
  expect(texts.map((text) => /[\u0080-\uffff]/.exec(text)?.[0])).toEqual(PROGRAMS.map(() => undefined));
  expect(texts.map((text) => /^\s*\/\*\*/m.exec(text)?.[0])).toEqual(PROGRAMS.map(() => undefined));
});

test("the agent does without the built-in modules that cost it most", async () => {
  const code = await readFile(join(into, "agent.mjs"), "utf8");
  expect(code).not.toMatch(/"node:(fs\/promises|perf_hooks|readline|worker_threads)"/);
});

test("what a program reads from a package lies beside its bundle", async () => {
  const [code, copy, original] = await Promise.all([
    readFile(join(into, "broker.mjs"), "utf8"),
    readFile(join(into, "openapi.json"), "utf8"),
    readFile(join(root, "packages/contract/openapi.json"), "utf8"),
  ]);
  expect(code).not.toContain("import.meta.resolve(");
  expect(copy).toBe(original);
});

test("the license of each package in a bundle is passed on with it", async () => {
  for (const { name, file } of PROGRAMS) {
    const packages = await packagesOf(files.find((each) => each.file === file)?.sources ?? []);
    expect(packages.map((each) => each.name)).toContain("yaml");
    const text = await readFile(join(into, `${name}.licenses.txt`), "utf8");
    for (const each of packages) expect(text).toContain(`${each.name} ${each.version} (${each.license})`);
    expect(text.match(/permission|apache license/gi)?.length).toBeGreaterThanOrEqual(packages.length);
  }
});

test("programs can be bundled one by one, by names that exist", () => {
  expect(programsNamed(["agent"]).map(({ file }) => file)).toEqual(["agent.mjs"]);
  expect(programsNamed([])).toBe(PROGRAMS);
  expect(() => programsNamed(["agnet"])).toThrow(
    "there is no program agnet; there are broker, agent, brokerctl",
  );
});

test("the dashboard's pages are built, and older ones do not stay", async () => {
  const planted = await mkdtemp(join(tmpdir(), "pages-"));
  onTestFinished(() => rm(planted, { recursive: true }));
  const target = join(planted, "out");
  expect(await bundlePages({ root: planted, into: target })).toBeUndefined();
  await mkdir(join(planted, "apps/dashboard"), { recursive: true });
  await mkdir(join(target, "dashboard"), { recursive: true });
  await writeFile(join(target, "dashboard/old.js"), "old");
  await writeFile(
    join(planted, "apps/dashboard/build.ts"),
    `import { mkdirSync, writeFileSync } from "node:fs";
     mkdirSync("apps/dashboard/dist/assets", { recursive: true });
     writeFileSync("apps/dashboard/dist/index.html", "<h1>");
     writeFileSync("apps/dashboard/dist/assets/app.js", "app");`,
  );
  expect(await bundlePages({ root: planted, into: target })).toEqual({ folder: "dashboard", bytes: 7 });
  expect(await readFile(join(target, "dashboard/assets/app.js"), "utf8")).toBe("app");
  await expect(readFile(join(target, "dashboard/old.js"))).rejects.toMatchObject({ code: "ENOENT" });
});
