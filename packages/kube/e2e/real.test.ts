import {
  controlPlaneAssets,
  KUBE_PROMISES,
  type KubeUnderTest,
  keepOrDiverge,
  type RealControlPlane,
  realKube,
  startControlPlane,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/** A guard only: the namespace controller takes its time, and some promises restart the API server. */
const TIMEOUT_MS = 180_000;

describe.skipIf(!controlPlaneAssets().isThere)(
  "our client on a real API server",
  { timeout: TIMEOUT_MS },
  () => {
    let plane: RealControlPlane;
    let server: KubeUnderTest;

    beforeAll(async () => {
      plane = await startControlPlane({ name: "conformance" });
      server = realKube(plane);
    }, TIMEOUT_MS);

    afterAll(async () => {
      await server?.dispose();
      await plane?.dispose();
    }, TIMEOUT_MS);

    test.each(KUBE_PROMISES)("$name", async (promise) => {
      await expect(keepOrDiverge(promise, server)).resolves.toBeUndefined();
    });
  },
);
