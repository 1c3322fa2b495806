import { KUBE_PROMISES, type KubeUnderTest, keepOrDiverge, simulatedKube } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let server: KubeUnderTest;

beforeAll(async () => {
  server = await simulatedKube();
});

afterAll(() => server.dispose());

describe("our client on kube-sim", () => {
  test.each(KUBE_PROMISES)("$name", async (promise) => {
    await expect(keepOrDiverge(promise, server)).resolves.toBeUndefined();
  });
});
