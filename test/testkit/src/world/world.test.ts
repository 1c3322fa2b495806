import { existsSync } from "node:fs";
import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATH } from "@resource-broker/contract";
import { expect, onTestFinished, test } from "vitest";
import { ADVERTISEMENTS } from "./kinds.ts";
import { until } from "./until.ts";
import { startWorld } from "./world.ts";

const NODES = [{ cpu: "4", memory: "16Gi", gpus: { count: "2", model: "L40S" } }];

test("a world advertises what was planned, and leaves nothing behind", async () => {
  const world = await startWorld({
    clusters: [{ name: "rome", nodes: NODES, pods: [{ name: "shop", cpu: "1", memory: "2Gi" }] }],
  });
  onTestFinished(world.dispose);
  const { body } = await world.broker.admin().request("GET", PATH.advertisement("rome"));
  expect(body).toMatchObject({ resources: { available: { cpu: "3", memory: "14Gi", gpu: "2" } } });
  expect(await world.cluster("rome").list(ADVERTISEMENTS)).toHaveLength(1);
  const pids = [world.broker.pid, world.agent("rome").pid];
  await world.dispose();
  expect(pids.map((pid) => existsSync(`/proc/${pid}`))).toEqual([false, false]);
  expect(existsSync(world.directory)).toBe(false);
});

test("a world that cannot start says why, and leaves nothing running", async () => {
  const directory = await mkdtemp(join(tmpdir(), "broken-world-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const clusters = [
    { name: "rome", nodes: NODES },
    { name: "paris", nodes: NODES, flags: ["--no-such-flag"] },
  ];
  await expect(startWorld({ clusters, directory })).rejects.toThrow("no-such-flag");
  const places = (await readdir("/proc")).map((pid) => readlink(join("/proc", pid, "cwd")).catch(() => ""));
  const left = (await Promise.all(places)).filter((place) => place.startsWith(directory));
  expect(left).toEqual([]);
});

test("whoever waits in vain is told what was last seen to be wrong", async () => {
  const look = async (): Promise<undefined> => {
    throw new Error("nobody is at home");
  };
  await expect(until("somebody answers", look, 50)).rejects.toThrow(
    "until somebody answers: nobody is at home",
  );
});
