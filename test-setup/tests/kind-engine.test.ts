import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SETUP } from "./testing/scripts.ts";

const ENGINE = join(SETUP, "kind/engine.sh");
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kind-engine-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  spawnSync("/bin/bash", [ENGINE, ...args], { env: { HOME: folder, ...env }, encoding: "utf8" });

test("where no Docker Engine can be had it says NOT TESTED with every reason, and makes nothing", () => {
  symlinkSync("/bin/uname", join(folder, "uname"));
  const { status, stderr } = run({ PATH: folder }, "true");
  expect(status).toBe(3);
  for (const program of ["dockerd", "debootstrap", "iptables"]) {
    expect(stderr).toMatch(
      new RegExp(`^NOT TESTED: no kind cluster can be had: ${program} is not installed`, "m"),
    );
  }
  expect(readdirSync(folder)).toEqual(["uname"]);
});

test("without a command it says how it is called", () => {
  const { status, stdout } = run({ PATH: "/usr/bin:/bin" });
  expect(status).toBe(2);
  expect(stdout).toContain("Usage: engine.sh COMMAND");
});
