import { BROKER_LEASE, KUBE_ANNOTATION } from "@resource-broker/contract/crd";
import { LEASES, type Lease } from "@resource-broker/kube";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freedCapacity } from "./heartbeat.ts";
import { openEnvironment, type TestEnvironment } from "./testing/environment.ts";
import { named, personsReservation, publish } from "./testing/samples.ts";

let env: TestEnvironment;
beforeEach(async () => {
  env = await openEnvironment();
});
afterEach(() => env.stop());

const lease = (isAsWanted: (object: Lease) => boolean = () => true) =>
  env.until("the Lease is as wanted", async () => {
    const found = await env.client.find(LEASES, named(BROKER_LEASE));
    return found !== undefined && isAsWanted(found) ? found : undefined;
  });

test("the heartbeat tells who leads, the broker's time, protocol and ledger, every two seconds, until it leads no more", async () => {
  let leads = true;
  const { engine } = await env.startBroker({ isLeading: () => leads });
  const first = await lease();
  expect(first.spec).toMatchObject({ holderIdentity: "replica-1", leaseDurationSeconds: 15 });
  expect(first.metadata.annotations).toEqual({
    [KUBE_ANNOTATION.ledgerId]: engine.ledgerId,
    [KUBE_ANNOTATION.protocol]: "3",
  });
  const seen = Date.parse(first.spec?.renewTime ?? "");
  expect(Math.abs(seen - engine.now())).toBeLessThan(5000);
  const next = await lease(({ spec }) => spec?.renewTime !== first.spec?.renewTime);
  expect(Date.parse(next.spec?.renewTime ?? "") - seen).toBe(2000);
  expect(next.spec?.acquireTime).toBe(first.spec?.acquireTime);
  leads = false;
  await env.time.advance(6000);
  expect((await lease()).spec?.renewTime).toBe(next.spec?.renewTime);
});

test("it reports when some cluster can lend more than before, and else not", async () => {
  await env.startBroker({ policy: { stalenessMs: 1e12 } });
  const freedAt = (found: Lease) => found.metadata.annotations?.[KUBE_ANNOTATION.capacityFreed];
  const nextAfter = async (before: string | undefined) =>
    freedAt(await lease((found) => freedAt(found) !== undefined && freedAt(found) !== before));
  expect(freedAt(await lease())).toBeUndefined();
  await publish(env.client, "paris", { cpu: 16 });
  const advertised = await nextAfter(undefined);
  await env.create(personsReservation("held"));
  await env.inPhase("held", "Reserved");
  await env.time.advance(4000);
  expect(freedAt(await lease())).toBe(advertised);
  await env.remove("held");
  expect(await nextAfter(advertised)).not.toBe(advertised);
});

test("the more clusters there are, the longer until something freed is told again; none of it is forgotten", async () => {
  const { engine, advertise } = await env.startBroker({ options: { objects: false } });
  const amounts = (cpu: number) => ({ cpuMillis: cpu * 1000, memoryBytes: 2 ** 34 });
  const hear = async (count: number, cpu: number) => {
    const all = { storageBytes: 0, gpus: 0, extended: {}, ...amounts(cpu) };
    for (let at = 0; at < count; at++) await advertise(`cluster-${at}`, { capacity: all, allocatable: all });
  };
  const freed = freedCapacity(engine);
  await hear(300, 8);
  const first = engine.now();
  expect(freed.noticedAt()).toBe(first);
  await env.time.advance(2999);
  await hear(1, 16);
  expect(freed.noticedAt()).toBe(first);
  await env.time.advance(1);
  expect(freed.noticedAt()).toBe(engine.now());
  freed.stop();
});
