import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { helpText } from "./help-text.ts";

const CAMPAIGNS = join(import.meta.dirname, "..");

test("the help of a campaign is the comment at the top of its program, and its flags", () => {
  const source =
    "/**\n * `npm run x -- --rounds 5`: does\n * something.\n */\nimport a;\n/**\n * Not this.\n */\n";
  const defaults = { rounds: 50, store: "sqlite", minutes: Number.POSITIVE_INFINITY, real: false, seed: 7 };
  expect(helpText(source, defaults)).toBe(
    `npm run x -- --rounds 5: does
something.

  --rounds N (default 50)
  --store TEXT (default sqlite)
  --minutes N
  --real
  --seed N
  --record
  --help`,
  );
});

test.each([
  ["simulation", "simulate"],
  ["starvation", "starvation"],
  ["broker", "chaos:broker"],
  ["broker/histories", "chaos:histories"],
  ["broker/overload", "overload"],
  ["mutants", "mutants"],
  ["fuzz", "fuzz:api"],
  ["agents", "chaos:agents"],
  ["kube", "chaos:kube"],
])("the program of %s begins with its help", (folder, script) => {
  const source = readFileSync(join(CAMPAIGNS, folder, "main.ts"), "utf8");
  expect(helpText(source, {})).toMatch(new RegExp(`^npm run ${script}\\b[^]{80}`, "u"));
});

test("--help runs nothing", () => {
  const program = join(CAMPAIGNS, "simulation/main.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "--help"], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toBe(
    `${helpText(readFileSync(program, "utf8"), { seeds: 200, ops: 100, seed: 1, minutes: Number.POSITIVE_INFINITY })}\n`,
  );
});
