import { LEASES } from "@resource-broker/kube";
import { clusterOf, fakeClock, STORE_PROMISES, until } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import { replicaSuite } from "../common/testing/replica-suite.ts";
import { useLedgers } from "../common/testing/use-ledgers.ts";
import { LEDGER } from "./segments.ts";
import { faultyClient } from "./testing/faulty-client.ts";
import { simulatedServer, type TestLedger } from "./testing/test-ledger.ts";

const { server, newLedger, replica } = useLedgers(simulatedServer);

describe("on a simulated API server, the kubernetes store passes the conformance suite of a store", () => {
  it.each(STORE_PROMISES)("$name", async ({ keep }) => {
    await expect(keep(() => server().newLedger())).resolves.toBeUndefined();
  });
});

replicaSuite(async () => {
  const ledger = await newLedger();
  return {
    connect: (options) => replica(ledger, options),
    faulty: (options) => {
      const { through, plan } = faultyClient();
      return { store: replica(ledger, { ...options, through }), plan };
    },
    pausable: async (options) => ({ store: replica(ledger, options), ...server().faults }),
    expireLease: ledger.expireLease,
  };
});

describe("the lease", () => {
  const leaseOf = ({ client, namespace }: TestLedger) => client.get(LEASES, { name: LEDGER, namespace });

  it("of a silent leader is over by the other's own clock", async () => {
    const ledger = await newLedger();
    const [still, moving] = [fakeClock(), fakeClock()];
    await replica(ledger, { clock: still, leaseMs: 2000 }).open();
    const second = replica(ledger, { clock: moving, leaseMs: 2000 });
    let hasWon = false;
    const won = second.leadership.acquire().then((isWon) => (hasWon = isWon));
    await until("it has looked", async () => second.leadership.state().role === "standby" || undefined);
    await moving.advance(1500);
    expect(hasWon).toBe(false);
    await until("it has won", async () => {
      await moving.advance(100);
      return hasWon || undefined;
    });
    await won;
  });

  it("is renewed, and says who leads in words that kubectl shows", async () => {
    const ledger = await newLedger();
    const clock = fakeClock();
    const store = replica(ledger, { clock, replica: "rome", leaseMs: 6000 });
    await store.open();
    const before = await leaseOf(ledger);
    expect(before.spec).toMatchObject({ leaseDurationSeconds: 6, leaseTransitions: 0 });
    expect(before.spec?.holderIdentity).toMatch(/^rome_/);
    await until("it is renewed", async () => {
      await clock.advance(1000);
      return (await leaseOf(ledger)).spec?.renewTime !== before.spec?.renewTime || undefined;
    });
  });

  it("that was another's meanwhile, and is free again, does not make a leader of one who slept", async () => {
    const ledger = await newLedger();
    const clock = fakeClock();
    const grants = new Grants();
    const sleeper = replica(ledger, { clock, leaseMs: 3000, replica: "sleeper" });
    await sleeper.open();
    await ledger.expireLease();
    const other = replica(ledger, { replica: "other" });
    await other.open();
    await grants.commit(other, 1);
    await other.close();
    await until("it knows", async () => {
      await clock.advance(500);
      return sleeper.leadership.state().role === "deposed" || undefined;
    });
    const message = expect.stringContaining("other");
    await expect(sleeper.commit(grants.next())).rejects.toMatchObject({ kind: "deposed", message });
  });
});

describe("advertisements", () => {
  const received = (receivedAt: number) => ({
    advertisement: clusterOf("paris", receivedAt),
    receivedAt,
    replacedInstances: [],
  });
  const COMMIT = { number: 1, at: 0, entries: [], advertisements: [received(5)] };

  it("that were committed are there for a successor, though nothing was written behind", async () => {
    const ledger = await newLedger();
    const old = replica(ledger);
    await old.open();
    await old.saveAdvertisements([received(9)]);
    await old.commit(COMMIT);
    await ledger.expireLease();
    const { records } = await replica(ledger).open();
    expect(records.advertisements).toEqual([received(5)]);
  });

  it.each([
    { name: "committed, whatever its clock says", isCommitted: true, late: 9 },
    { name: "saved", isCommitted: false, late: 3 },
  ])(
    "of a leader that was replaced do not replace what its successor $name",
    async ({ isCommitted, late }) => {
      const ledger = await newLedger();
      const old = replica(ledger);
      await old.open();
      await ledger.expireLease();
      const young = replica(ledger);
      await young.open();
      await (isCommitted ? young.commit(COMMIT) : young.saveAdvertisements([received(5)]));
      await young.close();
      // It does not know yet that it was replaced, and ends in good order.
      await old.saveAdvertisements([received(late)]);
      await old.close();
      const { records } = await replica(ledger).open();
      expect(records.advertisements).toEqual([received(5)]);
    },
  );
});
