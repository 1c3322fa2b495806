import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allowed, violations } from "./planted-violations.ts";

interface Finding {
  readonly code: string;
  readonly filename: string;
}

const PLANTED = Object.entries(violations).flatMap(([rule, files]) =>
  Object.entries(files).map(([path, text]) => ({ rule, path, text })),
);
const REPOSITORY = join(import.meta.dirname, "../..");
const tree = mkdtempSync(join(tmpdir(), "lint-"));
let findings: readonly Finding[] = [];

/** All files are linted in one run: starting the type-aware linter costs more than the linting. */
beforeAll(() => {
  for (const file of [".oxlintrc.json", "tsconfig.json", "tsconfig.base.json"]) {
    copyFileSync(join(REPOSITORY, file), join(tree, file));
  }
  symlinkSync(join(REPOSITORY, "node_modules"), join(tree, "node_modules"));
  write("scripts/lint/house-rules.ts", "");
  copyFileSync(join(REPOSITORY, "scripts/lint/house-rules.ts"), join(tree, "scripts/lint/house-rules.ts"));
  for (const [path, text] of Object.entries(allowed)) write(path, text);
  for (const { path, text } of PLANTED) write(path, text);
  const oxlint = join(REPOSITORY, "node_modules/.bin/oxlint");
  const paths = ["packages", "scripts", "test", "vitest.config.ts"];
  const { stdout } = spawnSync(oxlint, ["--type-aware", "--format=json", ...paths], {
    cwd: tree,
    encoding: "utf8",
  });
  const report: { readonly diagnostics: readonly Finding[] } = JSON.parse(stdout);
  findings = report.diagnostics;
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), text);
}

const rulesFiredIn = (path: string): readonly string[] =>
  findings.filter(({ filename }) => filename === path).map(({ code }) => code);

describe("lint", () => {
  it.each(PLANTED)("$rule finds $path", ({ path, rule }) => {
    expect(rulesFiredIn(path)).toContain(rule);
  });

  it.each(Object.keys(allowed))("accepts %s", (path) => {
    expect(rulesFiredIn(path)).toEqual([]);
  });
});
