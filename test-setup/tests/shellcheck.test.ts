import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { NAMES, SCRIPTS, SETUP } from "./testing/scripts.ts";

describe.skipIf(!hasShellcheck())("shellcheck", () => {
  test("has nothing to say about the scripts and what they load", () => {
    const { stdout, stderr } = spawnSync("shellcheck", ["--check-sourced", ...NAMES], {
      cwd: SCRIPTS,
      encoding: "utf8",
    });
    expect(`${stdout}${stderr}`).toBe("");
  });

  test("has nothing to say about the engine for kind and what is in its nodes", () => {
    const files = ["engine.sh", "runc", "node/copy-programs.sh", "node/queue-packets.sh"];
    const { stdout, stderr } = spawnSync("shellcheck", ["--external-sources", "--check-sourced", ...files], {
      cwd: join(SETUP, "kind"),
      encoding: "utf8",
    });
    expect(`${stdout}${stderr}`).toBe("");
  });
});

test("every file in lib is loaded by load.sh, and so seen by shellcheck", () => {
  const files = readdirSync(join(SCRIPTS, "lib")).filter((name) => name !== "load.sh");
  const { stdout } = spawnSync("grep", ["-oP", "(?<=source=lib/).*", join(SCRIPTS, "lib/load.sh")], {
    encoding: "utf8",
  });
  expect(stdout.trim().split("\n").toSorted()).toEqual(files.toSorted());
});

function hasShellcheck(): boolean {
  if (spawnSync("shellcheck", ["--version"]).status === 0) return true;
  const why = "shellcheck is not installed: apt-get install shellcheck";
  if (process.env["SHELLCHECK_REQUIRED"] === "1") throw new Error(`SHELLCHECK_REQUIRED is set, but ${why}`);
  process.stderr.write(`The check of shell scripts is SKIPPED: ${why}\n`);
  return false;
}
