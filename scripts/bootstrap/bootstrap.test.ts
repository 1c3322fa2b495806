import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const SCRIPTS = join(import.meta.dirname, "..");

/** Stands in for npm's cli: writes down that it was called, then does what FAKE_NPM says. */
const FAKE_NPM = `
const { appendFileSync, existsSync, mkdirSync, writeFileSync } = require("node:fs");
appendFileSync("npm-calls", process.argv.slice(2).join(" ") + "\\n");
const install = () => {
  mkdirSync("node_modules/.bin", { recursive: true });
  mkdirSync("node_modules/dependency", { recursive: true });
  if (process.env.FAKE_NPM !== "skips-scripts") writeFileSync("node_modules/.bin/node", "");
  writeFileSync("node_modules/.package-lock.json", '{"packages":{"node_modules/dependency":{}}}');
};
if (process.env.FAKE_NPM === "has-no-network") {
  console.error("npm error code EAI_AGAIN");
  process.exit(7);
} else if (process.env.FAKE_NPM === "waits") {
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => { writeFileSync("npm-stopped-by", signal); process.exit(3); });
  }
  setInterval(() => { if (existsSync("go")) { install(); process.exit(0); } }, 10);
  writeFileSync("npm-is-waiting", "");
} else install();
`;

let root = "";
const running: ChildProcessWithoutNullStreams[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bootstrap-"));
  mkdirSync(join(root, "scripts/bootstrap"), { recursive: true });
  cpSync(join(SCRIPTS, "bootstrap.mjs"), join(root, "scripts/bootstrap.mjs"));
  for (const file of readdirSync(join(SCRIPTS, "bootstrap")).filter((name) => name.endsWith(".mjs"))) {
    cpSync(join(SCRIPTS, "bootstrap", file), join(root, "scripts/bootstrap", file));
  }
  writeFileSync(join(root, "npm-cli.js"), FAKE_NPM);
  writeFileSync(join(root, "package-lock.json"), "{}");
});

afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

function start(
  npm: string,
  env: Readonly<Record<string, string>> = { npm_execpath: join(root, "npm-cli.js") },
) {
  const child = spawn(process.execPath, [join(root, "scripts/bootstrap.mjs")], {
    env: { ...env, FAKE_NPM: npm },
  });
  running.push(child);
  return child;
}

async function endOf(child: ChildProcessWithoutNullStreams) {
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { stdout, stderr, code };
}

const run = async (npm = "installs") => endOf(start(npm));
const npmCalls = (): number => readFileSync(join(root, "npm-calls"), "utf8").trimEnd().split("\n").length;
const untilThere = async (file: string) =>
  vi.waitUntil(() => existsSync(join(root, file)), { timeout: 60_000, interval: 10 });

describe("bootstrap", () => {
  it("installs on the first run and says so in one line", async () => {
    expect(await run()).toEqual({ code: 0, stdout: "Installing dependencies (first run) …\n", stderr: "" });
    expect(readFileSync(join(root, "npm-calls"), "utf8")).toMatch(/^ci --include=dev /);
  });

  it("does and says nothing when all is in place", async () => {
    await run();
    expect(await run()).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(npmCalls()).toBe(1);
  });

  it("installs again when the lockfile changed", async () => {
    await run();
    writeFileSync(join(root, "package-lock.json"), `{"changed":true}`);
    expect((await run()).stdout).toBe("Installing dependencies (package-lock.json changed) …\n");
  });

  it("installs again when a dependency was deleted", async () => {
    await run();
    rmSync(join(root, "node_modules/dependency"), { recursive: true });
    expect((await run()).stdout).toBe("Installing dependencies (node_modules/dependency is missing) …\n");
  });

  it("shows npm's output, a hint and npm's exit code when the install fails", async () => {
    const { code, stderr } = await run("has-no-network");
    expect(code).toBe(7);
    expect(stderr).toMatch(/EAI_AGAIN[\s\S]+could not reach its registry/);
    expect((await run()).code).toBe(0);
  });

  it("names the cause when npm skips install scripts", async () => {
    const { code, stderr } = await run("skips-scripts");
    expect(code).toBe(1);
    expect(stderr).toContain("node_modules/.bin/node is missing");
    expect(stderr).toContain("ignore-scripts");
  });

  it("says what to install when there is no npm", async () => {
    const { code, stderr } = await endOf(start("installs", { PATH: join(root, "nowhere") }));
    expect(code).toBe(127);
    expect(stderr).toContain("npm was not found");
  });

  it.each(["SIGINT", "SIGTERM"] as const)("passes %s on to npm and exits with its code", async (signal) => {
    const child = start("waits");
    await untilThere("npm-is-waiting");
    child.kill(signal);
    expect((await endOf(child)).code).toBe(3);
    expect(readFileSync(join(root, "npm-stopped-by"), "utf8")).toBe(signal);
    expect((await run()).stdout).toContain("first run");
  });

  it("waits for an install that another command has under way", async () => {
    const first = endOf(start("waits"));
    await untilThere("npm-is-waiting");
    const second = start("installs");
    const secondEnd = endOf(second);
    await new Promise((resolve) => second.stdout.once("data", resolve));
    writeFileSync(join(root, "go"), "");
    expect((await first).code).toBe(0);
    expect(await secondEnd).toMatchObject({ code: 0, stdout: expect.stringContaining("waiting …") });
    expect(npmCalls()).toBe(1);
  });

  it("takes over the lock of a command that was killed", async () => {
    const dead = spawn(process.execPath, ["--version"]);
    await endOf(dead);
    symlinkSync(String(dead.pid), join(root, ".bootstrap.lock"));
    expect(await run()).toEqual({ code: 0, stdout: "Installing dependencies (first run) …\n", stderr: "" });
    expect(existsSync(join(root, ".bootstrap.lock"))).toBe(false);
  });
});
