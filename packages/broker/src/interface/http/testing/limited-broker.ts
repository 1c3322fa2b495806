import { fakeClock, memoryStore, testCertificates } from "@resource-broker/testkit";
import { afterEach } from "vitest";
import type { HttpLimits } from "../ports.ts";
import { type RunningBroker, runBroker } from "./running-broker.ts";
import { advertisementOf } from "./samples.ts";

const certificates = await testCertificates();
export const rome = certificates.cluster("rome");
export const paris = certificates.cluster("paris");
/** An admin with the name of a cluster. */
export const adminRome = certificates.admin("rome");

/** A call whose body never comes. */
export const UNFINISHED_CALL =
  "POST /api/v1/reservations HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";

/** Called once in a test file, outside its tests. Each broker lends from paris, and is stopped after its test. */
export function limitedBrokers() {
  const running: RunningBroker[] = [];
  afterEach(async () => {
    for (const broker of running.splice(0)) await broker.stop();
  });
  return async (limits: Partial<HttpLimits> = {}) => {
    const time = fakeClock();
    const store = memoryStore();
    const broker = await runBroker({ store, clock: time, certificates: certificates.broker, limits });
    running.push(broker);
    await broker.call(paris, "POST /api/v1/advertisements", { body: advertisementOf("paris") });
    return { broker, time, store };
  };
}
