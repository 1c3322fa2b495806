import { execFile, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const NAMES = ["build", "build-prod", "test", "install", "uninstall", "deploy", "undeploy", "run"];
const makefile = readFileSync(join(ROOT, "Makefile"), "utf8");
/** Each with its one line, as make would run it for the broker. */
const targets = [...makefile.matchAll(/^([a-z%-]+):(?!=).*\n((?:\t.*\n)*)/gm)].map(
  ([text, name = "", recipe = ""]) => ({
    text,
    name,
    command: recipe.replaceAll(/\$\(COMPONENT\)|\$\*/g, "broker"),
  }),
);
const namedIn = (pattern: RegExp): string[] =>
  targets.flatMap(({ command }) => [...command.matchAll(pattern)].map(([whole, name]) => name ?? whole));

test("the Makefile has what people expect of one; each target says what it does, in one line", () => {
  expect(targets.map(({ name }) => name)).toEqual(expect.arrayContaining(NAMES));
  for (const { text, command } of targets) {
    expect(text).toMatch(/ ## [A-Z]/);
    expect(command.split("\n").length - 1 + Number(/: \w/.test(text.replace(/##.*/s, "")))).toBe(1);
  }
});

test("it runs npm scripts, and names files and folders, that are there", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
  const called = namedIn(/npm (?:run )?([a-z:]+)/g).filter((name) => !["exec", "run"].includes(name));
  expect(called).toContain("bundle");
  expect(called.filter((name) => !(name in scripts))).toEqual([]);
  const paths = namedIn(/(?:deploy|scripts)\/[\w./-]+/g);
  expect(paths.length).toBeGreaterThan(3);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

describe.skipIf(spawnSync("make", ["--version"]).status !== 0)("make", () => {
  const folder = mkdtempSync(join(tmpdir(), "engines-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const make = async (...args: readonly string[]): Promise<{ stdout: string; stderr: string }> =>
    await promisify(execFile)("make", ["-C", ROOT, "--no-print-directory", "-s", ...args]).catch(
      (error: unknown) => error as { stdout: string; stderr: string },
    );
  /** An engine that prints how it is called; its help is what the real one prints with DOCKER_BUILDKIT=1. */
  const engine = (name: string, help: string): string => {
    const file = join(folder, name, "docker");
    mkdirSync(join(folder, name));
    writeFileSync(
      file,
      `#!/bin/sh\ncase "$*" in --version) echo "Docker version 28.2.2" ;; *--help) echo "${help}" ;; *) echo "BuildKit=$DOCKER_BUILDKIT: $*" ;; esac\n`,
    );
    chmodSync(file, 0o755);
    return `ENGINE=${file}`;
  };

  test("lists its targets, and takes another component and cluster", async () => {
    expect((await make()).stdout.match(/^[a-z%-]+ +\w/gm)).toHaveLength(targets.length);
    const { stdout } = await make("-n", "deploy", "COMPONENT=agent", "KUBECTL=kubectl --context paris");
    expect(stdout).toContain("kubectl --context paris apply -k deploy/kustomize/agent\n");
  });

  test.each([
    ["/no/such/docker", "/no/such/docker is not installed: install it, or name another engine"],
    ["/no/such/docker", "such as make images ENGINE=podman\n"],
    ["/no/such/podman", "such as make images ENGINE=docker\n"],
  ])("images says where there is no %s: %s", async (wanted, says) => {
    expect((await make("image-agent", `ENGINE=${wanted}`)).stderr).toContain(says);
  });

  test("images builds with BuildKit only, and on other bases where they are named", async () => {
    const old = engine("old", "ERROR: BuildKit is enabled but the buildx component is missing or broken.");
    const refused = await make("images", old);
    expect(refused.stdout).toBe("");
    expect(refused.stderr).toContain("they need BuildKit, and here it has none (Docker version 28.2.2)");
    const good = engine("good", "      --secret stringArray   Secret file to expose to the build");
    const lines = ["broker", "agent", "brokerctl"].map(
      (name) =>
        `BuildKit=1: build -f deploy/images/${name}.Dockerfile --build-arg=VERSION=0.1.0 -t resource-broker/${name}:0.1.0 .\n`,
    );
    expect(await make("images", good)).toEqual({ stdout: lines.join(""), stderr: "" });
    const bases = ["BUILD_IMAGE=local/node:24", "RUNTIME_IMAGE=local/run:24", "BUILD_FLAGS=--network=host"];
    expect((await make("image-agent", good, ...bases)).stdout).toContain(
      " --build-arg=BUILD_IMAGE=local/node:24 --build-arg=RUNTIME_IMAGE=local/run:24 --network=host -t ",
    );
  });
});
