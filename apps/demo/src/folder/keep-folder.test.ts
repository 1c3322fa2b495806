import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { keepFolder } from "./keep-folder.ts";

const NOT_SAID = { clusters: 0, nodes: 0 };

describe("a folder that is kept", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "kept-demo-"));
    return () => rm(dir, { recursive: true, force: true });
  });

  const keep = async (asked = NOT_SAID) => {
    const kept = await keepFolder(dir, asked);
    onTestFinished(kept.release);
    return kept;
  };

  test("is made with all folders above it, for four clusters when nobody says how many", async () => {
    const deep = join(dir, "a/b");
    const { release, ...kept } = await keepFolder(deep, NOT_SAID);
    release();
    expect(kept).toEqual({ folder: deep, order: { clusters: 4, nodes: 0 }, isAgain: false });
  });

  test("goes on with the fleet it was made for", async () => {
    (await keep({ clusters: 7, nodes: 3 })).release();
    expect(await keep()).toMatchObject({ order: { clusters: 7, nodes: 3 }, isAgain: true });
  });

  test("goes on when the same fleet is asked for by name", async () => {
    (await keep({ clusters: 7, nodes: 0 })).release();
    expect(await keep({ clusters: 7, nodes: 0 })).toMatchObject({ isAgain: true });
  });

  test("refuses another fleet, and says which it has", async () => {
    (await keep({ clusters: 7, nodes: 3 })).release();
    await expect(keep({ clusters: 8, nodes: 0 })).rejects.toMatchObject({
      code: "invalid",
      message: `--keep: ${dir} holds a demo of 7 clusters with 3 nodes each; leave --clusters and --nodes out, or name a new folder`,
    });
    expect(await keep()).toMatchObject({ isAgain: true });
  });

  test("is for one demo at a time", async () => {
    await keep();
    await expect(keep()).rejects.toMatchObject({
      code: "conflict",
      message: `--keep: another npm start runs in ${dir}; end that one, or name another folder`,
    });
  });

  test("is left alone when it holds what no demo made", async () => {
    await writeFile(join(dir, "thesis.txt"), "precious");
    await expect(keep()).rejects.toMatchObject({
      code: "invalid",
      message: `--keep: ${dir} is not empty, and no earlier demo made it; name a new folder`,
    });
    expect(await readFile(join(dir, "thesis.txt"), "utf8")).toBe("precious");
  });

  test.each(["", "{", "[]", '{"clusters":0,"nodes":0}', '{"clusters":"4","nodes":0}'])(
    "with a marker that says %j asks for a new one",
    async (text) => {
      await writeFile(join(dir, "demo.json"), text);
      await expect(keep()).rejects.toMatchObject({
        code: "invalid",
        message: expect.stringContaining("cannot be read"),
      });
    },
  );
});
