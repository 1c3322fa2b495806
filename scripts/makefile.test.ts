import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

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
