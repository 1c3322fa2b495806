import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { NAMES, runScript, SETUP, stateFolder } from "./testing/scripts.ts";

const NOWHERE = { PATH: "/nonexistent", HOME: "/nonexistent" };
const folder = stateFolder();
const bare = mkdtempSync(join(tmpdir(), "bare-path-"));
afterAll(async () => {
  rmSync(bare, { recursive: true });
  await folder.dispose("sim");
});

test.each(NAMES)("%s says what it does, and can be tried out where nothing is installed", async (name) => {
  const { code, stdout, stderr } = await runScript(name, ["--help"], NOWHERE);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const part of [
    `Usage: ${name} [flags]`,
    "--on kind|sim|real|liqo",
    "--state DIR",
    "--dry-run",
    "--help",
  ])
    expect(stdout).toContain(part);
  for (const on of ["kind", "sim", "real", "liqo"]) {
    const tried = await runScript(name, ["--dry-run", "--on", on, "--state", folder.path], NOWHERE);
    expect(tried).toEqual({ code: 0, stderr: "", stdout: expect.stringMatching(/^\+ /m) });
  }
  expect(folder.isThere()).toBe(false);
});

describe("a command line that is wrong is refused, and named", () => {
  test.each([
    ["status.sh --colour", "unknown flag --colour"],
    ["status.sh -x", "unknown flag -x"],
    ["status.sh now", 'unexpected argument "now"'],
    ["status.sh --on minikube", '--on is "minikube", but must be kind, sim, real or liqo'],
    ["status.sh --state", "--state needs a value"],
    ["status.sh --state --dry-run", "--state needs a value"],
    ["status.sh --dry-run=yes", "--dry-run takes no value"],
    ["run-broker.sh --port 0", "must be a port"],
    ["run-broker.sh --port https", "must be a port"],
    ["test-reservation.sh --cpu -1", "must be a quantity"],
    ["test-reservation.sh --memory 999999999Ti", "must be a quantity"],
    ["test-reservation.sh --memory 1;ls", "must be a quantity"],
    ["test-reservation.sh --timeout soon", "must be seconds"],
    ["setup-certmanager.sh --manifest /no/such.yaml", "must be a file that can be read, a URL, or none"],
    [
      "setup-clusters.sh --on sim --node-image local/node:1",
      "--node-image is for --on kind, not for --on sim",
    ],
    ["setup-certmanager.sh --on sim --manifest https://example.org/x", "--manifest is for --on kind"],
  ])("%s", async (line, problem) => {
    const [name = "", ...flags] = line.split(" ");
    const { code, stdout, stderr } = await runScript(name, flags);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(problem);
    expect(stderr).toMatch(new RegExp(`^${name}: .*\n$`));
  });

  test("values of flags come after = as well; those after -- are passed on to the program", async () => {
    const flags = ["--dry-run", "--on=sim", `--state=${folder.path}`, "--port=9443", "--", "--views=off"];
    const { stdout } = await runScript("run-broker.sh", flags);
    expect(stdout).toMatch(/--http-port=9443.* --views=off/s);
    expect(stdout).toContain(`${folder.path}/sim/`);
  });
});

describe("what is missing is said with its remedy", () => {
  const withPrograms = (names: readonly string[]): Record<string, string> => {
    const path = join(bare, names.join("-") || "none");
    mkdirSync(path, { recursive: true });
    for (const name of names) {
      writeFileSync(join(path, name), "#!/bin/sh\nexit 1\n");
      chmodSync(join(path, name), 0o755);
    }
    return { PATH: path, HOME: "/nonexistent" };
  };

  test.each([
    ["kind", [], "kind is not installed: install it (https://kind.sigs.k8s.io"],
    ["kind", [], "docker is not installed: install Docker, or use --on sim"],
    ["kind", ["kind", "docker", "kubectl"], "docker is installed, but its daemon does not answer: start it"],
    ["liqo", [], "there is no unshare; install util-linux, mount and iproute2"],
    ["liqo", ["unshare", "nsenter", "ip", "mount"], "no network namespace can be made; run it as root"],
  ])("on %s with the programs %j: %s", async (on, programs, remedy) => {
    for (const name of ["setup-clusters.sh", "test-reservation.sh"]) {
      const flags = ["--on", on, "--state", folder.path];
      const { code, stderr } = await runScript(name, flags, withPrograms(programs));
      expect(code).toBe(3);
      expect(stderr).toContain(remedy);
    }
    expect(folder.isThere()).toBe(false);
  });

  test.each(["setup-certmanager.sh", "run-broker.sh", "run-agent-1.sh"])(
    "%s before its time",
    async (name) => {
      const { code, stderr } = await runScript(name, ["--on", "sim", "--state", folder.path]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/run .*\.sh --on sim first/);
    },
  );
});

test("a folder of somebody else is neither written to nor removed", async () => {
  const foreign = stateFolder();
  mkdirSync(join(foreign.path, "sim"), { recursive: true });
  writeFileSync(join(foreign.path, "sim/thesis.txt"), "three years");
  for (const name of ["setup-clusters.sh", "cleanup.sh"]) {
    const { code, stderr } = await runScript(name, ["--on", "sim", "--state", foreign.path]);
    expect(code).toBe(1);
    expect(stderr).toContain("not made by these scripts");
  }
  expect(readFileSync(join(foreign.path, "sim/thesis.txt"), "utf8")).toBe("three years");
  rmSync(foreign.path, { recursive: true });
  await foreign.dispose("sim");
});

test("the README names every script, in command lines that are right", async () => {
  const blocks = readFileSync(join(SETUP, "README.md"), "utf8").matchAll(/```sh\n([^]*?)```/g);
  const lines = [...blocks].flatMap(([, block = ""]) => block.split("\n"));
  const commands = lines.flatMap((line) => {
    const [, name, flags = ""] = /^(?:\S+=\S+ )?test-setup\/scripts\/(\S+\.sh)([^#]*)/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, flags: flags.split(/\s+/).filter(Boolean) }];
  });
  expect(new Set(commands.map(({ name }) => name))).toEqual(new Set(NAMES));
  for (const { name, flags } of commands)
    expect(await runScript(name, ["--dry-run", ...flags])).toMatchObject({ code: 0, stderr: "" });
});
