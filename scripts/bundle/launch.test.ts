import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { launcherText } from "./bundle.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const NODE_24 = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;

/** A folder with bin/ and nothing else. */
async function bareCopy(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "launch-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(join(root, "bin"), join(folder, "bin"), { recursive: true, verbatimSymlinks: true });
  return folder;
}

/** A folder to be the whole PATH, with a node that says it is of that version. */
async function pathWith(folder: string, version: string | undefined): Promise<string> {
  const path = join(folder, "path");
  await mkdir(path);
  for (const program of ["sh", "readlink", "dirname"])
    await symlink((await run("sh", ["-c", `command -v ${program}`])).stdout.trim(), join(path, program));
  if (version !== undefined)
    await writeFile(join(path, "node"), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  return path;
}

describe.each(["broker", "agent"])("bin/%s", (program) => {
  test("runs the sources of a clone, through links", async () => {
    const folder = await mkdtemp(join(tmpdir(), "launch-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const link = join(folder, "linked here");
    await symlink(join(root, "bin", program), link);
    const { stdout } = await run(link, ["--help"], { cwd: "/" });
    expect(stdout).toMatch(new RegExp(`^Usage: ${program} `));
    await expect(run(link, ["--no such flag"], { cwd: "/" })).rejects.toMatchObject({ code: 2 });
  });

  test("runs the bundle where there are no sources", async () => {
    const folder = await bareCopy();
    await mkdir(join(folder, "dist"));
    await writeFile(join(folder, "dist", `${program}.mjs`), "console.log(...process.argv.slice(2));");
    await writeFile(join(folder, "dist", program), launcherText(`${program}.mjs`), { mode: 0o755 });
    const { stdout } = await run(join(folder, "bin", program), ["--a=1", "b c"], { env: { PATH: NODE_24 } });
    expect(stdout).toBe("--a=1 b c\n");
  });

  const refusals = [
    { name: "with neither sources nor a bundle", hasBundle: false, node: "v24.0.0", says: "make build" },
    { name: "without Node", hasBundle: true, node: undefined, says: "install Node 24 or newer" },
    {
      name: "with an old Node",
      hasBundle: true,
      node: "v20.11.1",
      says: "node in PATH is v20.11.1: Node 24",
    },
  ];

  test.each(refusals)("says what is missing $name", async ({ hasBundle, node, says }) => {
    const folder = await bareCopy();
    const PATH = await pathWith(folder, node);
    await mkdir(join(folder, "dist"));
    if (hasBundle) await writeFile(join(folder, "dist", program), "#!/bin/sh\n", { mode: 0o755 });
    await expect(run(join(folder, "bin", program), [], { env: { PATH } })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(says),
    });
  });
});
