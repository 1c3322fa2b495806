import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { checkTrusted, keepFolder } from "./keep-folder.ts";

const NOT_GIVEN = { clusters: 0, nodes: 0 };

let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "kept-demo-")));
  return () => rm(dir, { recursive: true, force: true });
});

describe("a folder that is kept", () => {
  const keep = async (asked = NOT_GIVEN) => {
    const kept = await keepFolder(dir, asked);
    onTestFinished(kept.release);
    return kept;
  };

  test("is made with all folders above it, for four clusters when nobody says how many", async () => {
    const deep = join(dir, "a/b");
    const { release, ...kept } = await keepFolder(deep, NOT_GIVEN);
    release();
    expect(kept).toEqual({ folder: deep, size: { clusters: 4, nodes: 0 } });
  });

  test("is used by its real path: a link that leads to it may lead elsewhere later", async () => {
    const [mine, shared] = [join(dir, "mine"), join(dir, "shared")];
    for (const each of [mine, shared]) await mkdir(each, 0o700);
    await symlink(mine, join(shared, "link"));
    await chmod(shared, 0o777);
    const { folder, release } = await keepFolder(join(shared, "link"), NOT_GIVEN);
    onTestFinished(release);
    expect(folder).toBe(mine);
  });

  test("continues with the fleet it was made for, also when that is asked for, and refuses another", async () => {
    const size = { clusters: 7, nodes: 3 };
    (await keep(size)).release();
    for (const asked of [NOT_GIVEN, size]) {
      const kept = await keep(asked);
      expect(kept).toMatchObject({ size });
      kept.release();
    }
    const message = `--keep: ${dir} holds a demo of 7 clusters with 3 nodes each; leave --clusters and --nodes out, or name a new folder`;
    await expect(keep({ clusters: 8, nodes: 0 })).rejects.toMatchObject({ code: "invalid", message });
  });

  test("is for one demo at a time", async () => {
    await keep();
    const message = `--keep: another npm start runs in ${dir}; end that one, or name another folder`;
    await expect(keep()).rejects.toMatchObject({ code: "conflict", message });
  });

  test("is left alone when it holds what no demo made", async () => {
    await writeFile(join(dir, "thesis.txt"), "precious");
    const message = `--keep: ${dir} is not empty and was not created by an earlier demo; name a new folder`;
    await expect(keep()).rejects.toMatchObject({ code: "invalid", message });
    expect(await readFile(join(dir, "thesis.txt"), "utf8")).toBe("precious");
  });

  test.each(["", "{", "[]", '{"clusters":0,"nodes":0}', '{"clusters":"4","nodes":0}'])(
    "with a marker that says %j asks for a new one",
    async (text) => {
      await writeFile(join(dir, "demo.json"), text);
      const message: unknown = expect.stringContaining("cannot be read");
      await expect(keep()).rejects.toMatchObject({ code: "invalid", message });
    },
  );

  test.runIf(existsSync("/proc/self"))("is refused at once where no folder can be made", async () => {
    await expect(keepFolder("/proc/foo", NOT_GIVEN)).rejects.toMatchObject({ code: "EROFS" });
  });
});

describe("a folder that others could put programs into is refused", () => {
  const refusal = async (folder = dir): Promise<unknown> =>
    keepFolder(folder, NOT_GIVEN).then(
      ({ release }) => release(),
      (error: unknown) => error,
    );

  test("unless all of it is ours", async () => {
    expect(await refusal()).toBeUndefined();
    expect(await refusal()).toBeUndefined();
  });

  test.each([0o777, 0o775, 0o1777])("because its mode is %o", async (mode) => {
    await chmod(dir, mode);
    const message = `--keep: ${dir} can be written by other users, who could then change what this demo runs; take that away (chmod -R go-w ${dir}), or name a folder of your own`;
    expect(await refusal()).toMatchObject({ code: "invalid", message });
  });

  test.each([
    { name: "a program in it", file: "brokerctl", mode: 0o775 },
    { name: "a key deep in it", file: "rome/certificates/tls.key", mode: 0o666 },
  ])("because $name can be replaced", async ({ file, mode }) => {
    await refusal();
    const path = join(dir, file);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, "");
    await chmod(path, mode);
    expect(await refusal()).toMatchObject({ message: expect.stringContaining(`${path} can be written`) });
  });

  test("because a folder far above it can be written", async () => {
    const inner = join(dir, "a/b/c");
    await mkdir(inner, { recursive: true, mode: 0o700 });
    await chmod(dir, 0o777);
    expect(await refusal(inner)).toMatchObject({ message: expect.stringContaining(`${dir} can be written`) });
  });

  test("because a folder above it can be written, without the bit that protects what is in it", async () => {
    const inner = join(dir, "a");
    await chmod(dir, 0o777);
    expect(await refusal(inner)).toMatchObject({ message: expect.stringContaining(`${dir} can be written`) });
    await chmod(dir, 0o1777);
    expect(await refusal(inner)).toBeUndefined();
  });

  test("because it belongs to somebody else", () => {
    const stranger = (process.getuid?.() ?? 0) + 1;
    expect(() => checkTrusted(dir, stranger)).toThrow("belongs to another user");
  });
});
