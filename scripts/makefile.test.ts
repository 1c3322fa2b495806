import { execFile, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const NAMES = ["build", "build-prod", "test", "install", "uninstall", "deploy", "undeploy", "run"];
const COMPONENTS = ["broker", "agent"];
const lines = readFileSync(join(ROOT, "Makefile"), "utf8").split("\n");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const targets = lines
  .map((line, index) => ({ found: /^([a-z%-]+):(?!=)/.exec(line), index }))
  .flatMap(({ found, index }) => (found === null ? [] : [{ name: found[1] ?? "", index }]))
  .map(({ name, index }) => {
    const recipe = lines.slice(index + 1);
    const end = recipe.findIndex((line) => !line.startsWith("\t"));
    return { name, text: lines[index] ?? "", recipe: end < 0 ? recipe : recipe.slice(0, end) };
  });
/** As make would run them, for every component. */
const commands = targets.flatMap(({ name, recipe }) =>
  recipe.flatMap((line) =>
    COMPONENTS.map((component) => ({
      name,
      command: line.trim().replaceAll("$(COMPONENT)", component).replaceAll("$*", component),
    })),
  ),
);

describe("the Makefile", () => {
  test("has what people expect of one", () => {
    expect(targets.map(({ name }) => name)).toEqual(expect.arrayContaining(NAMES));
  });

  test.each(targets)("$name says what it does, and does it in one line", ({ text, recipe }) => {
    expect(text).toMatch(/ ## [A-Z]/);
    expect(recipe.length + Number(/: \w/.test(text.replace(/##.*/, "")))).toBe(1);
  });

  test("runs npm scripts that are there", () => {
    const called = commands.flatMap(({ command }) => [...command.matchAll(/npm (?:run )?([a-z:]+)/g)]);
    const names = called.map(([, name = ""]) => name).filter((name) => name !== "exec");
    expect(names).toContain("bundle");
    expect(names.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test("names files and folders that are there", () => {
    const named = commands.flatMap(({ command }) => [...command.matchAll(/(?:deploy|scripts)\/[\w./-]+/g)]);
    expect(named.length).toBeGreaterThan(5);
    expect(named.map(([path]) => path).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test("is understood by make, and lists its targets", async ({ skip }) => {
    const make = promisify(execFile);
    const isThere = await make("make", ["--version"]).catch(() => undefined);
    if (isThere === undefined) skip("make is not installed");
    const { stdout } = await make("make", ["-C", ROOT, "--no-print-directory"]);
    expect(stdout.match(/^[a-z%-]+ +\w/gm)).toHaveLength(targets.length);
    const plan = await make("make", [
      "-C",
      ROOT,
      "-n",
      "images",
      "deploy",
      "COMPONENT=agent",
      "KUBECTL=kubectl --context paris",
    ]);
    expect(plan.stdout).toContain("docker build -f deploy/images/agent.Dockerfile");
    expect(plan.stdout).toContain("kubectl --context paris apply -k deploy/kustomize/agent\n");
  });
});

describe.skipIf(spawnSync("make", ["--version"]).status !== 0)("make images", () => {
  const run = promisify(execFile);
  const folder = mkdtempSync(join(tmpdir(), "engines-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  /** An engine that prints how it is called; its help is what the real one prints with DOCKER_BUILDKIT=1. */
  const engine = (name: string, help: string): string => {
    const file = join(folder, name, "docker");
    mkdirSync(join(folder, name));
    writeFileSync(
      file,
      `#!/bin/sh\ncase "$*" in --version) echo "Docker version 28.2.2" ;; *--help) echo "${help}" ;; *) echo "BuildKit=$DOCKER_BUILDKIT: $*" ;; esac\n`,
    );
    chmodSync(file, 0o755);
    return file;
  };
  const make = async (...args: readonly string[]): Promise<{ stdout: string; stderr: string }> =>
    await run("make", ["-C", ROOT, "--no-print-directory", "-s", ...args]).catch(
      (error: unknown) => error as { stdout: string; stderr: string },
    );

  test("says what to install where the engine has no BuildKit, and builds nothing", async () => {
    const old = engine("old", "ERROR: BuildKit is enabled but the buildx component is missing or broken.");
    const { stdout, stderr } = await make("images", `ENGINE=${old}`);
    expect(stdout).toBe("");
    expect(stderr).toContain("they need BuildKit, and here it has none (Docker version 28.2.2)");
    expect(stderr).toContain("install docker-buildx-plugin");
  });

  test("says so where there is no engine", async () => {
    const { stderr } = await make("image-agent", "ENGINE=/no/such/engine");
    expect(stderr).toContain("/no/such/engine is not installed: install it, or name another engine");
  });

  test.each([
    ["podman", "docker"],
    ["docker", "podman"],
  ])("names another engine where there is no %s", async (wanted, other) => {
    const { stderr } = await make("image-agent", `ENGINE=/no/such/${wanted}`);
    expect(stderr).toContain(`such as make images ENGINE=${other}\n`);
  });

  test("builds all three with BuildKit, on other bases and with other flags where they are named", async () => {
    const good = engine("good", "      --secret stringArray   Secret file to expose to the build");
    const { stdout, stderr } = await make("images", `ENGINE=${good}`);
    expect(stderr).toBe("");
    expect(stdout.split("\n")).toEqual([
      ...["broker", "agent", "brokerctl"].map(
        (name) =>
          `BuildKit=1: build -f deploy/images/${name}.Dockerfile --build-arg=VERSION=0.1.0 -t resource-broker/${name}:0.1.0 .`,
      ),
      "",
    ]);
    const other = await make(
      "image-agent",
      `ENGINE=${good}`,
      "BUILD_IMAGE=local/node:24",
      "RUNTIME_IMAGE=local/run:24",
      "BUILD_FLAGS=--network=host",
    );
    expect(other.stdout).toContain(
      " --build-arg=BUILD_IMAGE=local/node:24 --build-arg=RUNTIME_IMAGE=local/run:24 --network=host -t ",
    );
  });
});
