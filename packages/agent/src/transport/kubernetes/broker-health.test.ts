import { Fault } from "@resource-broker/base";
import { LEASES } from "@resource-broker/kube";
import { type FakeClock, fakeClock } from "@resource-broker/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { recordedLog } from "../../testing/recorded-log.ts";
import { type BrokerHealth, createBrokerHealth } from "./broker-health.ts";
import { outcomeOf } from "./testing/fake-agent.ts";
import { type FakeHub, fakeHub } from "./testing/fake-hub.ts";
import { NAMESPACE } from "./testing/objects.ts";

const NOBODY = new AbortController().signal;

let clock: FakeClock;
let hub: FakeHub;
let brokerHealth: BrokerHealth;
let log: ReturnType<typeof recordedLog>;
let timesFreed: number;
beforeEach(() => {
  clock = fakeClock();
  hub = fakeHub(clock);
  timesFreed = 0;
  log = recordedLog();
  const deps = { client: hub.clientOf("rome"), clock, random: () => 0.5, log };
  brokerHealth = createBrokerHealth({ namespace: NAMESPACE }, { ...deps, onFreed: () => void timesFreed++ });
  return () => brokerHealth.stop();
});
const begin = async (): Promise<void> => {
  brokerHealth.start();
  await clock.advance(0);
};

describe("the broker's pulse", () => {
  test("is not felt from a Lease that was there before: it may be years old", async () => {
    hub.renewLease();
    await begin();
    expect([brokerHealth.isAlive(), brokerHealth.isSilent(), brokerHealth.now()]).toEqual([
      false,
      false,
      undefined,
    ]);
    expect(brokerHealth.ledgerId()).toBe("led-1");
  });

  test("is felt with every change, and reports the broker's time and ledger", async () => {
    hub.renewLease();
    await begin();
    clock.jumpWall(3_600_000);
    hub.renewLease("led-1");
    await clock.advance(0);
    expect(brokerHealth.isAlive()).toBe(true);
    expect(brokerHealth.now()).toBe(clock.wallMs());
    await clock.advance(4000);
    expect(brokerHealth.now()).toBe(clock.wallMs());
    hub.renewLease("led-2");
    await clock.advance(0);
    expect(brokerHealth.ledgerId()).toBe("led-2");
  });

  test.each([
    { name: "what was there before", says: ["10:00"], times: 0 },
    { name: "the first time", says: [undefined, "10:00"], times: 1 },
    { name: "each new time once", says: ["10:00", "10:00", "10:02", "10:02", "10:04"], times: 2 },
    { name: "not that a new leader says nothing yet", says: ["10:00", undefined, undefined], times: 0 },
    { name: "not what is said again", says: ["10:00", undefined, "10:00"], times: 0 },
    { name: "what a new leader noticed", says: ["10:00", undefined, "10:09"], times: 1 },
  ])("reports that capacity was freed: $name", async ({ says, times }) => {
    const [first, ...others] = says;
    hub.free(first);
    hub.renewLease();
    await begin();
    for (const shown of others) {
      hub.free(shown);
      await clock.advance(2000);
      hub.renewLease();
      await clock.advance(0);
    }
    expect(timesFreed).toBe(times);
  });

  test("is gone when the Lease stands still", async () => {
    const die = hub.keepRenewing();
    await begin();
    await clock.advance(10_000);
    expect(brokerHealth.isAlive()).toBe(true);
    die();
    await clock.advance(14_000);
    expect(brokerHealth.isAlive()).toBe(true);
    await clock.advance(2000);
    expect([brokerHealth.isAlive(), brokerHealth.isSilent()]).toEqual([false, true]);
    expect(brokerHealth.unavailableFault()).toMatchObject({
      code: "unreachable",
      message: expect.stringMatching(/^the API server answers, but the broker showed no activity for 1\d s/),
    });
  });

  test("is felt again when the broker comes back", async () => {
    hub.keepRenewing()();
    await begin();
    await clock.advance(60_000);
    expect(brokerHealth.isSilent()).toBe(true);
    hub.renewLease();
    await clock.advance(0);
    expect([brokerHealth.isAlive(), brokerHealth.isSilent()]).toEqual([true, false]);
  });

  test("that nobody has ever felt names the Lease and the flag", async () => {
    await begin();
    await clock.advance(20_000);
    expect(brokerHealth.unavailableFault().message).toContain(
      "there is no Lease resource-broker in namespace default",
    );
    expect(brokerHealth.unavailableFault().message).toContain("--broker-namespace");
    expect(brokerHealth.unavailableFault().message).toContain("a Go broker");
  });

  test("that is not there is reported at the start, once", async () => {
    await begin();
    expect(log.lines.filter((line) => line.includes("there is no Lease"))).toHaveLength(1);
    expect(log.lines.join()).toContain("--broker-transport=http");
  });

  test("that is there is not missed", async () => {
    hub.renewLease();
    await begin();
    expect(log.lines.filter((line) => line.includes("there is no Lease"))).toEqual([]);
  });

  test("of a Lease that was deleted is not there either", async () => {
    const die = hub.keepRenewing();
    await begin();
    die();
    hub.cluster.remove(LEASES, { name: "resource-broker", namespace: NAMESPACE });
    await clock.advance(20_000);
    expect(brokerHealth.unavailableFault().message).toContain("there is no Lease");
  });

  test("that cannot be felt because of the API server says so", async () => {
    hub.keepRenewing();
    await begin();
    hub.cluster.down();
    await clock.advance(20_000);
    expect(brokerHealth.unavailableFault()).toMatchObject({
      code: "unreachable",
      message: "the API server of the broker's cluster (https://fake) cannot be used: connection refused",
    });
  });

  test("that may not be felt keeps the missing right", async () => {
    hub.cluster.setCallFaults(() => ({ fault: new Fault("forbidden", "user rome may not list leases") }));
    await begin();
    await clock.advance(20_000);
    expect(brokerHealth.unavailableFault()).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("may not"),
    });
  });

  test("is also what the broker does elsewhere", async () => {
    await begin();
    brokerHealth.markSeen("2026-01-05T15:00:00.000Z");
    expect(brokerHealth.isAlive()).toBe(true);
    expect(brokerHealth.now()).toBe(Date.UTC(2026, 0, 5, 15));
  });
});

describe("who waits for the broker", () => {
  test("continues with its first beat", async () => {
    hub.renewLease();
    await begin();
    const waiting = outcomeOf(brokerHealth.whenAlive(NOBODY));
    await clock.advance(2000);
    expect(waiting.isOver()).toBe(false);
    hub.renewLease();
    await clock.advance(0);
    expect([waiting.isOver(), waiting.fault()]).toEqual([true, undefined]);
  });

  test("hears why it does not come, as soon as that is known", async () => {
    hub.renewLease();
    await begin();
    const waiting = outcomeOf(brokerHealth.whenAlive(NOBODY));
    await clock.advance(15_001);
    expect(waiting.fault()).toContain(
      "unreachable: the API server answers, but the broker showed no activity",
    );
    await expect(brokerHealth.whenAlive(NOBODY)).rejects.toMatchObject({ code: "unreachable" });
  });

  test("stops when it has waited long enough", async () => {
    await begin();
    const enough = new AbortController();
    const waiting = outcomeOf(brokerHealth.whenAlive(enough.signal));
    enough.abort();
    await clock.advance(0);
    expect(waiting.fault()).toContain("unreachable");
  });
});
