import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { CONFIG_MAPS } from "@resource-broker/kube";
import { expect, onTestFinished, test, vi } from "vitest";
import { kubeClientFor } from "../kube/kube-servers.ts";
import { controlPlaneAssets } from "./assets.ts";
import { startControlPlane } from "./start-control-plane.ts";

const TIMEOUT_MS = 180_000;
const EVENTUALLY = { timeout: 60_000, interval: 50 };

test.skipIf(!controlPlaneAssets().isThere)(
  "a real control plane loses nothing when its programs are killed, and leaves nothing behind",
  { timeout: TIMEOUT_MS },
  async () => {
    const plane = await startControlPlane({ name: "test" });
    onTestFinished(plane.dispose);
    const client = kubeClientFor(plane.kubeconfig);
    onTestFinished(client.close);
    const programs = [plane.apiServer, plane.etcd, plane.controllerManager];
    for (const [number, program] of programs.entries()) {
      const kept = { name: `kept-${number}`, namespace: "default" };
      await vi.waitFor(() => client.create(CONFIG_MAPS, { metadata: kept }), EVENTUALLY);
      await program.kill();
      expect(program.pid).toBeUndefined();
      await program.restart();
      await vi.waitFor(() => client.get(CONFIG_MAPS, kept), EVENTUALLY);
    }
    const folder = dirname(kubeconfigPathOf(plane.controllerManager.pid));
    const running = programs.map(({ pid }) => pid);
    expect(existsSync(folder)).toBe(true);
    plane.etcd.pause();
    await plane.dispose();
    expect([folder, ...running.map((pid) => `/proc/${pid}`)].filter((path) => existsSync(path))).toEqual([]);
  },
);

test("where the programs are missing, it is said why and what to do; where they are required, it is an error", () => {
  const output: string[] = [];
  const nowhere = { KUBE_ASSETS_CACHE: "/nowhere" };
  const why = expect.stringMatching(/in \/nowhere\/v1\.\S+\. Run npm run kube:assets/);
  expect(controlPlaneAssets(nowhere, (line) => output.push(line))).toEqual({ isThere: false, why });
  expect(output).toEqual([expect.stringMatching(/^Tests on a real control plane are SKIPPED: there is no/)]);
  expect(() => controlPlaneAssets({ ...nowhere, KUBE_REQUIRED: "1" })).toThrow("there is no etcd");
});

function kubeconfigPathOf(pid: number | undefined): string {
  return /--kubeconfig=([^\0]+)/.exec(readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.[1] ?? "";
}
