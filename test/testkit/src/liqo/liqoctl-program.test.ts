import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { FOREIGN_CLUSTERS } from "@resource-broker/agent/liqo";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../world/until.ts";
import { startLiqoctlProgram } from "./liqoctl-program.ts";
import { PARIS, twoClusters } from "./testing/two-clusters.ts";
import { untilSeen } from "./testing/until-seen.ts";

interface End {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

function run(path: string, args: readonly string[], signal?: AbortSignal): Promise<End> {
  return new Promise((resolve) => {
    const options = { killSignal: "SIGKILL", ...(signal === undefined ? {} : { signal }) } as const;
    execFile(path, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}

test("another process can peer by it, and is told what went wrong", async () => {
  const { rome, liqo, peerArgs } = await twoClusters();
  const { path, dispose } = await startLiqoctlProgram(liqo.liqoctl);
  onTestFinished(dispose);
  expect(await run(path, peerArgs)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("established"),
  });
  await untilSeen(rome, FOREIGN_CLUSTERS, { name: { name: PARIS } });
  expect(await run(path, ["peer", "--nope"])).toMatchObject({
    code: 1,
    stderr: "Error: unknown flag: --nope\n",
  });
  const end = { code: 1, output: "ERRO the gateway is not ready\n" };
  liqo.liqoctl.failNext("peer", { kind: "fails", end });
  expect(await run(path, peerArgs)).toMatchObject({ code: 1, stderr: end.output });
  liqo.liqoctl.failNext("peer", { kind: "pretends" });
  expect(await run(path, peerArgs)).toMatchObject({ code: 0 });
  expect(liqo.liqoctl.calls).toEqual([peerArgs, ["peer", "--nope"], peerArgs, peerArgs]);
  await dispose();
  expect(existsSync(path)).toBe(false);
});

test("one that hangs ends when its caller ends it", async () => {
  const { liqo, peerArgs } = await twoClusters();
  const { path, dispose } = await startLiqoctlProgram(liqo.liqoctl);
  onTestFinished(dispose);
  liqo.liqoctl.failNext("peer", { kind: "hangs" });
  const stop = new AbortController();
  const ended = run(path, peerArgs, stop.signal);
  await until("it was asked", async () => liqo.liqoctl.calls[0]);
  stop.abort();
  expect(await ended).toMatchObject({ code: "ABORT_ERR" });
});
