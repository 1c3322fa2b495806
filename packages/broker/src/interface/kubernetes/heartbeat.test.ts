import { BROKER_LEASE, KUBE_ANNOTATION } from "@resource-broker/contract";
import { type Lease, LEASES } from "@resource-broker/kube";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RESERVATIONS } from "./objects/resources.ts";
import { publish, wish } from "./testing/samples.ts";
import { NAMESPACE, openScene, type Scene } from "./testing/scene.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.stop());

const lease = (isAsWanted: (object: Lease) => boolean = () => true) =>
  scene.until("the Lease is as wanted", async () => {
    const found = await scene.client.find(LEASES, { name: BROKER_LEASE, namespace: NAMESPACE });
    return found !== undefined && isAsWanted(found) ? found : undefined;
  });

describe("the heartbeat", () => {
  test("tells who leads, the broker's time and its ledger, again and again", async () => {
    const { engine } = await scene.startBroker();
    const first = await lease();
    expect(first.spec).toMatchObject({ holderIdentity: "replica-1", leaseDurationSeconds: 15 });
    expect(first.metadata.annotations?.[KUBE_ANNOTATION.ledgerId]).toBe(engine.ledgerId);
    const seen = Date.parse(first.spec?.renewTime ?? "");
    expect(Math.abs(seen - engine.now())).toBeLessThan(5000);
    const next = await lease(({ spec }) => spec?.renewTime !== first.spec?.renewTime);
    expect(Date.parse(next.spec?.renewTime ?? "") - seen).toBe(2000);
    expect(next.spec?.acquireTime).toBe(first.spec?.acquireTime);
  });

  test("tells when some cluster can lend more than before, and else not", async () => {
    const { engine } = await scene.startBroker({ policy: { stalenessMs: 1e12 } });
    const freedAt = (found: Lease) => found.metadata.annotations?.[KUBE_ANNOTATION.capacityFreed];
    const nextWord = async (before: string | undefined) =>
      freedAt(await lease((found) => freedAt(found) !== undefined && freedAt(found) !== before));
    expect(freedAt(await lease())).toBeUndefined();

    await publish(scene.client, "paris", { cpu: 16 });
    const advertised = await nextWord(undefined);
    await scene.client.create(RESERVATIONS, wish("held"));
    await scene.reservation("held", ({ status }) => status?.phase === "Reserved");
    await scene.time.advance(4000);
    expect(freedAt(await lease())).toBe(advertised);
    await scene.client.delete(RESERVATIONS, { name: "held", namespace: NAMESPACE });
    const released = await nextWord(advertised);

    const by = { clusterId: "ops", isAdmin: true };
    await engine.submit({ kind: "cordon", by, clusterId: "paris" });
    await scene.time.advance(4000);
    expect(freedAt(await lease())).toBe(released);
    await engine.submit({ kind: "uncordon", by, clusterId: "paris" });
    const uncordoned = await nextWord(released);

    await publish(scene.client, "paris", { cpu: 32, sequence: 2 });
    expect(await nextWord(uncordoned)).not.toBe(uncordoned);
  });

  test("stops with leadership", async () => {
    let leads = true;
    await scene.startBroker({ isLeading: () => leads });
    await lease();
    leads = false;
    await scene.time.advance(2000);
    const last = await lease();
    await scene.time.advance(6000);
    expect((await lease()).spec?.renewTime).toBe(last.spec?.renewTime);
  });

  test("goes on when the server was away, and says once that it was", async () => {
    await scene.startBroker();
    const before = await lease();
    await scene.cluster.knobs.down();
    await scene.until("the failure is told", () =>
      Promise.resolve(scene.logged.find((line) => line.includes("renewing the broker's Lease fails"))),
    );
    await scene.cluster.knobs.up();
    await lease(({ spec }) => spec?.renewTime !== before.spec?.renewTime);
    await scene.until("that it works again is told", () =>
      Promise.resolve(scene.logged.find((line) => line.includes("renewing the broker's Lease works again"))),
    );
    expect(scene.logged.filter((line) => line.includes("renewing the broker's Lease fails"))).toHaveLength(1);
  });
});
