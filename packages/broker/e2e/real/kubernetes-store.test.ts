import {
  controlPlaneAssets,
  type RealControlPlane,
  STORE_PROMISES,
  startControlPlane,
} from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { Grants } from "../../src/store/common/testing/grants.ts";
import { useLedgers } from "../../src/store/common/testing/use-ledgers.ts";
import { faultyClient } from "../../src/store/kubernetes/testing/faulty-client.ts";
import { realServer } from "../../src/store/kubernetes/testing/test-ledger.ts";

/** A guard only: real control planes take their time. */
const TIMEOUT_MS = 300_000;

describe.skipIf(!controlPlaneAssets().isThere)("on a real API server", { timeout: TIMEOUT_MS }, () => {
  let plane: RealControlPlane;
  const { server, newLedger, replica } = useLedgers(async () => {
    plane = await startControlPlane({ name: "ledger" });
    const started = await realServer(plane);
    const dispose = async (): Promise<void> => {
      await started.dispose();
      await plane.dispose();
    };
    return { ...started, dispose };
  }, TIMEOUT_MS);

  describe("the kubernetes store passes the conformance suite of a store", () => {
    it.each(STORE_PROMISES)("$name", async ({ keep }) => {
      await expect(keep(() => server().newLedger())).resolves.toBeUndefined();
    });
  });

  it.each([
    { name: "touched", fates: ["touched", "touched"] },
    { name: "deleted", fates: ["deleted"] },
    { name: "written twice by the client", fates: ["resent"] },
  ] as const)("a head that was $name is written all the same", async ({ fates }) => {
    const ledger = await newLedger();
    const faulty = faultyClient();
    const store = replica(ledger, { through: faulty.through });
    await store.open();
    const grants = new Grants();
    await grants.commit(store, 1);
    faulty.plan(...fates);
    await grants.commit(store, 2);
    await store.close();
    expect(await replica(ledger).open()).toMatchObject({ commitNumber: 3 });
  });

  it("a deposed leader can write nothing, and a late write of its does not arrive", async () => {
    const ledger = await newLedger();
    const faulty = faultyClient();
    const old = replica(ledger, { replica: "old", through: faulty.through });
    await old.open();
    const grants = new Grants();
    await grants.commit(old, 2);
    const batch = grants.next();
    faulty.plan("late");
    await expect(old.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
    await ledger.expireLease();
    const young = replica(ledger, { replica: "young" });
    await young.open();
    expect(await faulty.arrive()).toBe(false);
    expect(await old.lastCommit()).toBe(2);
    await young.commit(batch);
    await expect(old.commit(batch)).rejects.toMatchObject({
      kind: "deposed",
      message: expect.stringContaining("young"),
    });
  });

  it("an API server that is killed under commits loses none of them", async () => {
    const ledger = await newLedger();
    const store = replica(ledger, { leaseMs: 60_000 });
    await store.open();
    const grants = new Grants();
    await grants.commit(store, 20);
    await plane.apiServer.kill();
    const batch = grants.next();
    await expect(store.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
    await plane.apiServer.restart();
    expect(await store.lastCommit()).toBe(20);
    await store.commit(batch);
    await store.close();
    expect((await replica(ledger).open()).records.reservations).toHaveLength(21);
  });
});
