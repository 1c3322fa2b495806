import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

test("where no Docker Engine can be had it says NOT TESTED with every reason, and makes nothing", () => {
  symlinkSync("/bin/uname", join(folder, "uname"));
  const env = { HOME: folder, PATH: folder };
  const { status, stderr } = spawnSync("/bin/bash", [ENGINE, "true"], { env, encoding: "utf8" });
  expect(status).toBe(3);
  for (const program of ["dockerd", "debootstrap", "iptables"]) {
    expect(stderr).toMatch(
      new RegExp(`^NOT TESTED: no kind cluster can be had: ${program} is not installed`, "m"),
    );
  }
  expect(readdirSync(folder)).toEqual(["uname"]);
});

test.each([
  { row: "no command", args: [], status: 2, says: "Usage: engine.sh COMMAND" },
  { row: "an unknown flag", args: ["--perpare"], status: 2, says: "unknown flag --perpare" },
  { row: "a command too many", args: ["--prepare", "kind"], status: 2, says: "--prepare takes no command" },
  {
    row: "its own flag",
    args: ["--in-namespaces", "run", "true"],
    status: 2,
    says: "only for this script itself",
  },
  { row: "no HOME", args: ["true"], home: {}, status: 1, says: "HOME is not set: set it, or name a folder" },
])("$row is a wrong command line, and nothing is made", ({ args, status, says, home = { HOME: folder } }) => {
  const env = { PATH: "/usr/bin:/bin", ...home };
  const end = spawnSync("/bin/bash", [ENGINE, ...args], { env, encoding: "utf8" });
  expect([end.status, `${end.stdout}${end.stderr}`]).toEqual([status, expect.stringContaining(says)]);
  expect(readdirSync(folder)).toEqual([]);
});

test("equal work trees have equal keys wherever they are, and a change gives another", () => {
  const key = (name: string): string => {
    const script = 'source "$1/test-setup/kind/images.sh"; ROOT=$1; digest_of test-setup/kind/{node,runc}';
    const root = join(folder, name);
    const { stdout, stderr } = spawnSync("/bin/bash", ["-c", script, "bash", root], { encoding: "utf8" });
    expect(stderr).toBe("");
    return stdout;
  };
  for (const name of ["a", "b c"]) {
    cpSync(join(SETUP, "kind"), join(folder, name, "test-setup/kind"), { recursive: true });
  }
  expect(key("a")).toMatch(/^[0-9a-f]{16}\n$/);
  expect(key("b c")).toBe(key("a"));
  writeFileSync(join(folder, "b c/test-setup/kind/runc"), "other");
  expect(key("b c")).not.toBe(key("a"));
});

test("nothing is removed below which something is mounted", () => {
  // "rm" is a stand-in: below "/" a /proc is mounted on every Linux.
  const script = 'fail() { echo "$1"; exit 1; }; rm() { echo removed; }; source "$1"; remove_folder "$2"';
  const remove = (path: string) =>
    spawnSync("/bin/bash", ["-c", script, "bash", join(SETUP, "kind/images.sh"), path], {
      encoding: "utf8",
    });
  expect(remove("")).toMatchObject({
    status: 1,
    stdout: expect.stringContaining("something is mounted below"),
  });
  expect(remove(folder)).toMatchObject({ status: 0, stdout: "removed\n" });
});
