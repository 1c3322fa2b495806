import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { bundle } from "./bundle.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

test("the bundles run where there are no packages", async () => {
  const into = await mkdtemp(join(tmpdir(), "bundle-"));
  onTestFinished(() => rm(into, { recursive: true }));
  const files = await bundle({ root, into });
  expect(files.map(({ file }) => file)).toEqual([
    "broker.mjs",
    "openapi.json",
    "agent.mjs",
    "agent",
    "brokerctl.mjs",
  ]);

  const broker = await run(process.execPath, [join(into, "broker.mjs"), "--version"], { cwd: into });
  expect(broker.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const agent = await run(process.execPath, [join(into, "agent.mjs"), "--version"], { cwd: into });
  expect(agent.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const cli = await run(process.execPath, [join(into, "brokerctl.mjs"), "--help"], { cwd: into });
  expect(cli.stdout).toContain("brokerctl");
});

test("the agent's launcher finds Node and the bundle, and passes flags on", async () => {
  const into = await mkdtemp(join(tmpdir(), "bundle-"));
  onTestFinished(() => rm(into, { recursive: true }));
  await bundle({ root, into });
  const link = join(into, "linked agent");
  await symlink("agent", link);
  const env = { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };
  const { stdout } = await run(link, ["--version"], { cwd: "/", env });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  await expect(run(link, ["--no such flag"], { cwd: "/", env })).rejects.toMatchObject({ code: 2 });
});

test("no bundle needs two bytes for a character", async () => {
  const into = await mkdtemp(join(tmpdir(), "bundle-"));
  onTestFinished(() => rm(into, { recursive: true }));
  const files = (await bundle({ root, into }))
    .map(({ file }) => file)
    .filter((file) => file.endsWith(".mjs"));
  const texts = await Promise.all(files.map((file) => readFile(join(into, file), "utf8")));
  expect(texts.map((text) => /[\u0100-\uffff]/.exec(text)?.[0])).toEqual(files.map(() => undefined));
});

test("what a program reads from a package lies beside its bundle", async () => {
  const into = await mkdtemp(join(tmpdir(), "bundle-"));
  onTestFinished(() => rm(into, { recursive: true }));
  await bundle({ root, into });
  const [code, copy, original] = await Promise.all([
    readFile(join(into, "broker.mjs"), "utf8"),
    readFile(join(into, "openapi.json"), "utf8"),
    readFile(join(root, "packages/contract/openapi.json"), "utf8"),
  ]);
  expect(code).not.toContain("import.meta.resolve(");
  expect(copy).toBe(original);
});
