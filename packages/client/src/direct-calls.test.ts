import { fakeClock, testCertificates } from "@resource-broker/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { createDirectCalls } from "./direct-calls.ts";
import { scriptedBroker } from "./testing/scripted-broker.ts";

const certificates = await testCertificates();

test("a direct call waits for the answer as long as its caller says, not as long as the client would", async () => {
  const broker = await scriptedBroker(certificates.broker, () => undefined);
  const clock = fakeClock();
  const options = { certificates: certificates.cluster("rome"), timeoutMs: 30_000, maxBytes: 1024 };
  const calls = createDirectCalls(options, clock);
  onTestFinished(calls.close);
  let ended: unknown;
  const sent = calls
    .send({ method: "GET", path: "/api/v1/clusters" }, new URL(broker.url))
    .catch((error: unknown) => (ended = error));
  await vi.waitUntil(() => broker.received.length === 1);
  await clock.advance(29_999);
  expect(ended).toBeUndefined();
  await clock.advance(1);
  await sent;
  expect(ended).toMatchObject({ limit: 30_000 });
});
