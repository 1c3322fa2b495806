import { existsSync } from "node:fs";
import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startWorld } from "./world.ts";

const NODES = [{ cpu: "4", memory: "16Gi" }];

test("a world that cannot start says why, and leaves nothing running", async () => {
  const directory = await mkdtemp(join(tmpdir(), "broken-world-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const clusters = [
    { name: "rome", nodes: NODES },
    { name: "paris", nodes: NODES, flags: ["--no-such-flag"] },
  ];
  await expect(startWorld({ clusters, directory })).rejects.toThrow("no-such-flag");
  expect(existsSync(join(directory, "rome"))).toBe(true);
  const places = (await readdir("/proc")).map((pid) => readlink(join("/proc", pid, "cwd")).catch(() => ""));
  expect((await Promise.all(places)).filter((place) => place.startsWith(directory))).toEqual([]);
});
