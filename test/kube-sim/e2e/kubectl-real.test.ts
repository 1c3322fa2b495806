import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controlPlaneAssets, type RealControlPlane, startControlPlane } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KUBECTL_COMMANDS } from "../src/testing/index.ts";
import { expectSeen } from "./testing/expect-seen.ts";
import type { KubectlPlace } from "./testing/run-kubectl.ts";

const TIMEOUT_MS = 180_000;
const crds = join(import.meta.dirname, "../../../deploy/crds");
const assets = controlPlaneAssets();

describe.skipIf(!assets.isThere)("kubectl on a real API server", { timeout: TIMEOUT_MS }, () => {
  let plane: RealControlPlane;
  let place: KubectlPlace;

  beforeAll(async () => {
    plane = await startControlPlane({ name: "kubectl" });
    const home = await mkdtemp(join(tmpdir(), "real-kubectl-"));
    const kubeconfig = join(home, "kubeconfig");
    await writeFile(kubeconfig, plane.kubeconfig);
    place = { home, kubeconfig, crds, ...(assets.isThere ? { program: assets.pathOf("kubectl") } : {}) };
  }, TIMEOUT_MS);

  afterAll(async () => {
    await plane?.dispose();
    if (place !== undefined) await rm(place.home, { recursive: true });
  }, TIMEOUT_MS);

  test.for(KUBECTL_COMMANDS)("$name", async (command, { skip }) => {
    skip(command.needs !== undefined, `there is no ${command.needs}`);
    await expect(expectSeen(place, command)).resolves.toBeUndefined();
  });
});
