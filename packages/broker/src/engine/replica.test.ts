import { Fault } from "@resource-broker/base";
import { type Command, DEFAULT_POLICY } from "@resource-broker/domain";
import { cluster, request } from "@resource-broker/domain/testing";
import { fakeClock, memoryStore } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { StoreFailure } from "../store/store.ts";
import { createEngine } from "./create-engine.ts";
import { NO_OBSERVER } from "./engine-observer.ts";

const RESERVE: Command = {
  kind: "reserve",
  requester: "rome",
  key: "k",
  request: request({ cpu: 1, memoryGi: 1 }, {}),
  reservationId: "rsv-rome-k",
  decisionId: "dec-1",
};
const ADVERTISE: Command = { kind: "advertise", advertisement: cluster("paris") };
const LOST = new StoreFailure("deposed", "another replica leads now: oslo");

/** The engine of a replica whose leadership is in the hands of the test. */
async function replica() {
  const store = memoryStore();
  const fatal: StoreFailure[] = [];
  let fault: Fault | undefined;
  let isDeposed = false;
  const engine = createEngine(
    { policy: DEFAULT_POLICY, maxWaiting: 100 },
    {
      store: { ...store, commit: (batch) => (isDeposed ? Promise.reject(LOST) : store.commit(batch)) },
      clock: fakeClock(),
      observer: NO_OBSERVER,
      defer: setImmediate,
      onFatal: (failure) => void fatal.push(failure),
      notLeading: () => fault,
    },
  );
  await engine.start();
  await engine.submit(ADVERTISE);
  return {
    engine,
    store,
    fatal,
    leads: (next: boolean) => {
      fault = next ? undefined : new Fault("not-leader", "it may not lead any more");
    },
    depose: () => {
      isDeposed = true;
    },
  };
}

describe("a replica that does not lead", () => {
  test.each([RESERVE, ADVERTISE])("takes no $kind in", async (command) => {
    const { engine, store, leads } = await replica();
    leads(false);
    await expect(engine.submit(command)).rejects.toMatchObject({ code: "not-leader" });
    leads(true);
    await expect(engine.submit(command)).resolves.toBeDefined();
    expect(store.commits.length).toBeLessThanOrEqual(1);
  });

  test("does not answer from what it remembers, even what was taken in while it led", async () => {
    const { engine, leads } = await replica();
    await engine.submit(RESERVE);
    // The same key again: there is nothing to commit, so no store would notice that another one leads.
    const replayed = engine.submit(RESERVE);
    leads(false);
    await expect(replayed).rejects.toMatchObject({ code: "not-leader" });
    leads(true);
    expect(await engine.submit(RESERVE)).toMatchObject({ kind: "current", isReplay: true });
  });

  test("and learns it from a commit says so to its callers, reserves nothing, and is no broken one", async () => {
    const { engine, store, fatal, depose } = await replica();
    depose();
    await expect(engine.submit(RESERVE)).rejects.toMatchObject({
      code: "not-leader",
      message: expect.stringContaining("oslo"),
    });
    expect(engine.ledger.reservations.size).toBe(0);
    expect(store.commits).toEqual([]);
    expect(fatal).toEqual([]);
  });
});
