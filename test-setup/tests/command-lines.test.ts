import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { NAMES, runScript, SETUP, stateFolder } from "./testing/scripts.ts";

const WHERE = ["kind", "sim", "real", "liqo"] as const;
const NOWHERE = { PATH: "/nonexistent", HOME: "/nonexistent" };
const folder = stateFolder();
afterAll(() => folder.dispose("sim"));

test("the nine scripts are there", () => {
  expect(NAMES.toSorted()).toEqual(
    [
      "setup-clusters.sh",
      "setup-certmanager.sh",
      "extract-certs.sh",
      "run-broker.sh",
      "run-agent-1.sh",
      "run-agent-2.sh",
      "test-reservation.sh",
      "status.sh",
      "cleanup.sh",
    ].toSorted(),
  );
});

describe.each(NAMES)("%s", (name) => {
  test("--help says what it does and names every flag, even where nothing is installed", async () => {
    const { code, stdout, stderr } = await runScript(name, ["--help"], NOWHERE);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Usage: ${name} [flags]`);
    for (const flag of ["--on kind|sim|real|liqo", "--state DIR", "--dry-run", "--help"])
      expect(stdout).toContain(flag);
  });

  test.each(WHERE)("--dry-run --on %s prints commands, needs nothing and changes nothing", async (on) => {
    const { code, stdout, stderr } = await runScript(
      name,
      ["--dry-run", "--on", on, "--state", folder.path],
      NOWHERE,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^\+ /m);
    expect(folder.isThere()).toBe(false);
  });

  test.each([
    { row: "an unknown flag", flags: ["--colour"], message: "unknown flag --colour; --help shows how" },
    { row: "a flag in one letter", flags: ["-x"], message: "unknown flag -x; --help shows how" },
    { row: "a word", flags: ["now"], message: 'unexpected argument "now"; --help shows how' },
    {
      row: "another kind of cluster",
      flags: ["--on", "minikube"],
      message: '--on is "minikube", but must be kind, sim, real or liqo; --help shows how',
    },
    { row: "no value", flags: ["--state"], message: "--state needs a value; --help shows how" },
    {
      row: "a flag for a value",
      flags: ["--state", "--dry-run"],
      message: "--state needs a value; --help shows how",
    },
    {
      row: "a value too many",
      flags: ["--dry-run=yes"],
      message: "--dry-run takes no value; --help shows how",
    },
  ])("refuses $row", async ({ flags, message: expected }) => {
    const { code, stdout, stderr } = await runScript(name, flags);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: `${name}: ${expected}\n` });
  });
});

describe("values", () => {
  test.each([
    ["run-broker.sh", "--port", "0", "must be a port"],
    ["run-broker.sh", "--port", "65536", "must be a port"],
    ["run-broker.sh", "--port", "https", "must be a port"],
    ["test-reservation.sh", "--cpu", "many", "must be a quantity"],
    ["test-reservation.sh", "--cpu", "-1", "must be a quantity"],
    ["test-reservation.sh", "--memory", "999999999Ti", "must be a quantity"],
    ["test-reservation.sh", "--memory", "1;ls", "must be a quantity"],
    ["test-reservation.sh", "--timeout", "soon", "must be seconds"],
    [
      "test-reservation.sh",
      "--cert-manager",
      "/no/such.yaml",
      "must be a file that can be read, a URL, or none",
    ],
    [
      "setup-certmanager.sh",
      "--manifest",
      "/no/such.yaml",
      "must be a file that can be read, a URL, or none",
    ],
  ])("%s refuses %s %s", async (name, flag, value, expected) => {
    const { code, stderr } = await runScript(name, ["--dry-run", flag, value]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${flag} is "${value}", but ${expected}`);
  });

  test.each([
    ["setup-clusters.sh", "--node-image", "local/node:1"],
    ["test-reservation.sh", "--node-image", "local/node:1"],
    ["test-reservation.sh", "--cert-manager", "https://example.org/cert-manager.yaml"],
    ["setup-certmanager.sh", "--manifest", "https://example.org/cert-manager.yaml"],
  ])("%s refuses %s where it means nothing", async (name, flag, value) => {
    const { code, stderr } = await runScript(name, ["--dry-run", "--on", "sim", flag, value]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${flag} is for --on kind, not for --on sim`);
  });

  test("of flags come after = as well", async () => {
    const { stdout } = await runScript("run-broker.sh", [
      "--dry-run",
      "--on=sim",
      `--state=${folder.path}`,
      "--port=9443",
    ]);
    expect(stdout).toContain("--http-port=9443");
    expect(stdout).toContain(`${folder.path}/sim/`);
  });

  test("after -- are passed on to the program", async () => {
    const { stdout } = await runScript("run-agent-1.sh", ["--dry-run", "--", "--cluster-labels=tier=gold"]);
    expect(stdout).toMatch(/packages\/agent\/src\/main.ts .* --cluster-labels=tier=gold /);
  });
});

describe("what is missing is message with its remedy", () => {
  const bare = mkdtempSync(join(tmpdir(), "bare-path-"));
  afterAll(() => rmSync(bare, { recursive: true }));
  const withBasics = (...programs: readonly string[]): Record<string, string> => {
    const path = join(bare, programs.join("-") || "none");
    mkdirSync(path, { recursive: true });
    for (const program of programs) {
      writeFileSync(join(path, program), "#!/bin/sh\nexit 1\n");
      chmodSync(join(path, program), 0o755);
    }
    return { PATH: path, HOME: "/nonexistent" };
  };

  test("where there is no program at all", async () => {
    const { code, stderr } = await runScript("setup-clusters.sh", ["--state", folder.path], NOWHERE);
    expect(code).toBe(3);
    expect(stderr).toContain("put /usr/bin and /bin there");
    expect(stderr).toContain("kind is not installed: install it (https://kind.sigs.k8s.io");
    expect(stderr).toContain("docker is not installed: install Docker, or use --on sim");
    expect(stderr).toContain("kubectl is not installed: install it (https://kubernetes.io");
    expect(folder.isThere()).toBe(false);
  });

  test.each(["setup-clusters.sh", "test-reservation.sh"])(
    "%s: where Docker does not answer",
    async (name) => {
      const { code, stderr } = await runScript(
        name,
        ["--state", folder.path],
        withBasics("kind", "docker", "kubectl"),
      );
      expect(code).toBe(3);
      expect(stderr).toContain("docker is installed, but its daemon does not answer: start it");
      expect(stderr).not.toContain("kind is not installed");
    },
  );

  test.each(["setup-clusters.sh", "test-reservation.sh"])(
    "%s --on liqo: where no network namespace can be made",
    async (name) => {
      const flags = ["--on", "liqo", "--state", folder.path];
      const programs = withBasics("unshare", "nsenter", "ip", "mount");
      const { code, stderr } = await runScript(name, flags, programs);
      expect(code).toBe(3);
      expect(stderr).toContain(
        "clusters with Liqo cannot run here: no network namespace can be made; run it as root",
      );
      const without = await runScript(name, flags, withBasics());
      expect(without.code).toBe(3);
      expect(without.stderr).toContain("there is no unshare; install util-linux, mount and iproute2");
      expect(folder.isThere()).toBe(false);
    },
  );

  test.each([
    ["setup-certmanager.sh", "the clusters are not there: run", "setup-clusters.sh --on sim first"],
    ["extract-certs.sh", "the clusters are not there: run", "setup-clusters.sh --on sim first"],
    ["run-broker.sh", "the clusters are not there: run", "setup-clusters.sh --on sim first"],
    ["run-agent-1.sh", "the clusters are not there: run", "setup-clusters.sh --on sim first"],
    ["run-agent-2.sh", "the clusters are not there: run", "setup-clusters.sh --on sim first"],
  ])("%s before its time", async (name, problem, remedy) => {
    const { code, stderr } = await runScript(name, ["--on", "sim", "--state", folder.path]);
    expect(code).toBe(1);
    expect(stderr).toContain(problem);
    expect(stderr).toContain(remedy);
  });
});

describe("a folder of somebody else", () => {
  test("is neither written to nor removed", async () => {
    const foreign = stateFolder();
    mkdirSync(join(foreign.path, "sim"), { recursive: true });
    writeFileSync(join(foreign.path, "sim", "thesis.txt"), "three years");
    for (const name of ["setup-clusters.sh", "cleanup.sh"]) {
      const { code, stderr } = await runScript(name, ["--on", "sim", "--state", foreign.path]);
      expect(code).toBe(1);
      expect(stderr).toContain("not made by these scripts");
    }
    expect(readFileSync(join(foreign.path, "sim", "thesis.txt"), "utf8")).toBe("three years");
    rmSync(foreign.path, { recursive: true });
    await foreign.dispose("sim");
  });
});

describe("the README", () => {
  const readme = readFileSync(join(SETUP, "README.md"), "utf8");
  const lines = [...readme.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block = ""]) => block.split("\n"));
  const commands = lines.flatMap((line) => {
    const [, name, flags = ""] = /^(?:\S+=\S+ )?test-setup\/scripts\/(\S+\.sh)([^#]*)/.exec(line) ?? [];
    return name === undefined ? [] : [{ line: line.trim(), name, flags: flags.trim().split(/\s+/) }];
  });

  test("names every script", () => {
    expect(new Set(commands.map(({ name }) => name))).toEqual(new Set(NAMES));
  });

  test.each(commands)("has a command line that is right: $line", async ({ name, flags }) => {
    const { code, stderr } = await runScript(name, ["--dry-run", ...flags.filter((flag) => flag !== "")]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});
