import { BROKER_LEASE, KUBE_ANNOTATION } from "@resource-broker/contract/crd";
import { cluster } from "@resource-broker/domain/testing";
import { LEASES, type Lease } from "@resource-broker/kube";
import { fakeClock, memoryDisk } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freedCapacity } from "./heartbeat.ts";
import { RESERVATIONS } from "./objects/object-informers.ts";
import { NAMESPACE, openEnvironment, type TestEnvironment } from "./testing/environment.ts";
import { personsReservation, publish } from "./testing/samples.ts";
import { startedEngine } from "./testing/started-engine.ts";

let env: TestEnvironment;
beforeEach(async () => {
  env = await openEnvironment();
});
afterEach(() => env.stop());

const lease = (isAsWanted: (object: Lease) => boolean = () => true) =>
  env.until("the Lease is as wanted", async () => {
    const found = await env.client.find(LEASES, { name: BROKER_LEASE, namespace: NAMESPACE });
    return found !== undefined && isAsWanted(found) ? found : undefined;
  });

describe("the heartbeat", () => {
  test("tells who leads, the broker's time and its ledger, again and again", async () => {
    const { engine } = await env.startBroker();
    const first = await lease();
    expect(first.spec).toMatchObject({ holderIdentity: "replica-1", leaseDurationSeconds: 15 });
    expect(first.metadata.annotations?.[KUBE_ANNOTATION.ledgerId]).toBe(engine.ledgerId);
    const seen = Date.parse(first.spec?.renewTime ?? "");
    expect(Math.abs(seen - engine.now())).toBeLessThan(5000);
    const next = await lease(({ spec }) => spec?.renewTime !== first.spec?.renewTime);
    expect(Date.parse(next.spec?.renewTime ?? "") - seen).toBe(2000);
    expect(next.spec?.acquireTime).toBe(first.spec?.acquireTime);
  });

  test("reports when some cluster can lend more than before, and else not", async () => {
    const { engine } = await env.startBroker({ policy: { stalenessMs: 1e12 } });
    const freedAt = (found: Lease) => found.metadata.annotations?.[KUBE_ANNOTATION.capacityFreed];
    const nextAdvertisement = async (before: string | undefined) =>
      freedAt(await lease((found) => freedAt(found) !== undefined && freedAt(found) !== before));
    expect(freedAt(await lease())).toBeUndefined();

    await publish(env.client, "paris", { cpu: 16 });
    const advertised = await nextAdvertisement(undefined);
    await env.client.create(RESERVATIONS, personsReservation("held"));
    await env.reservation("held", ({ status }) => status?.phase === "Reserved");
    await env.time.advance(4000);
    expect(freedAt(await lease())).toBe(advertised);
    await env.client.delete(RESERVATIONS, { name: "held", namespace: NAMESPACE });
    const released = await nextAdvertisement(advertised);

    const by = { clusterId: "ops", isAdmin: true };
    await engine.submit({ kind: "cordon", by, clusterId: "paris" });
    await env.time.advance(4000);
    expect(freedAt(await lease())).toBe(released);
    await engine.submit({ kind: "uncordon", by, clusterId: "paris" });
    const uncordoned = await nextAdvertisement(released);

    await publish(env.client, "paris", { cpu: 32, sequence: 2 });
    expect(await nextAdvertisement(uncordoned)).not.toBe(uncordoned);
  });

  test("stops with leadership", async () => {
    let leads = true;
    await env.startBroker({ isLeading: () => leads });
    await lease();
    leads = false;
    await env.time.advance(2000);
    const last = await lease();
    await env.time.advance(6000);
    expect((await lease()).spec?.renewTime).toBe(last.spec?.renewTime);
  });

  test("continues when the server was away, and says once that it was", async () => {
    await env.startBroker();
    const before = await lease();
    await env.cluster.faults.down();
    await env.until("the failure is told", () =>
      Promise.resolve(env.logged.find((line) => line.includes("renewing the broker's Lease fails"))),
    );
    await env.cluster.faults.up();
    await lease(({ spec }) => spec?.renewTime !== before.spec?.renewTime);
    await env.until("that it works again is told", () =>
      Promise.resolve(env.logged.find((line) => line.includes("renewing the broker's Lease works again"))),
    );
    expect(env.logged.filter((line) => line.includes("renewing the broker's Lease fails"))).toHaveLength(1);
  });
});

test("the more clusters there are, the longer it is until something freed is told again; none of it is forgotten", async () => {
  const time = fakeClock();
  const engine = await startedEngine(time, memoryDisk("led-1"));
  const hear = (count: number, cpu: number) =>
    Promise.all(
      Array.from({ length: count }, (_, at) =>
        engine.submit({
          kind: "advertise",
          advertisement: cluster(`cluster-${at}`, { cpu, more: { statedAt: time.wallMs() } }),
        }),
      ),
    );
  const freed = freedCapacity(engine);
  await hear(300, 8);
  const first = engine.now();
  expect(freed.noticedAt()).toBe(first);

  await time.advance(2999);
  await hear(1, 16);
  expect(freed.noticedAt()).toBe(first);
  await time.advance(1);
  expect(freed.noticedAt()).toBe(engine.now());

  await time.advance(60_000);
  expect(freed.noticedAt()).toBe(first + 3000);
  freed.stop();
  await engine.stop();
});
