import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@resource-broker/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKubeSim } from "../src/create-kube-sim.ts";
import { KUBECTL_COMMANDS } from "../src/testing/index.ts";
import { expectSeen } from "./testing/expect-seen.ts";
import type { KubectlPlace } from "./testing/run-kubectl.ts";

const crds = join(import.meta.dirname, "../../../deploy/crds");
// The real kubectl runs on the real clock, and so does the cluster it talks to.
const clock = systemClock(() => performance.timeOrigin + performance.now());
const sim = createKubeSim({ clock, randomBytes });
let place: KubectlPlace;

beforeAll(async () => {
  const home = await mkdtemp(join(tmpdir(), "kube-sim-kubectl-"));
  const cluster = await sim.addCluster({ name: "rome" });
  const kubeconfig = join(home, "kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig);
  place = { home, kubeconfig, crds };
});

afterAll(async () => {
  await sim.stop();
  await rm(place.home, { recursive: true });
});

describe("the real kubectl", () => {
  test.each(KUBECTL_COMMANDS)("$name", async (command) => {
    await expect(expectSeen(place, command)).resolves.toBeUndefined();
  });
});
