import { deepStrictEqual, notStrictEqual, ok, rejects, strictEqual } from "node:assert";
import {
  type AuditEntry,
  type CommitBatch,
  type Store,
  type StoreContents,
  StoreFailure,
} from "@resource-broker/broker";
import {
  type Decision,
  explain,
  headline,
  ledgerFrom,
  type ReceivedAdvertisement,
  replayQueue,
  replayWinner,
} from "@resource-broker/domain";
import { comparableLedger, runs } from "@resource-broker/domain/testing";
import fc from "fast-check";
import { expectedLink, NO_LINK } from "./audit-chain.ts";
import { DURABLE_KINDS, FULL_HISTORY } from "./full-history.ts";
import { clusterOf, eventsOf, LedgerDriver, requestFor, reserve } from "./ledger-driver.ts";
import { commandsWithQueueFor, queueOrLedgerAction } from "./queue-actions.ts";

/** The data of one store, empty at first, however it is kept. */
export interface StoreUnderTest {
  /** A new store on the same data, as the next process would make it. */
  readonly connect: () => Store;
  readonly remove: () => Promise<void>;
}

type MakeStore = () => Promise<StoreUnderTest>;

/** One promise of the port: `keep` throws when a store breaks it. */
export interface StorePromise {
  readonly name: string;
  readonly keep: (makeStore: MakeStore) => Promise<void>;
}

/** Processes that follow each other, each with its batches of actions. */
const history = fc.array(
  fc.array(fc.array(queueOrLedgerAction, { minLength: 1, maxLength: 6 }), { maxLength: 8 }),
  { maxLength: 4 },
);

/** What every store promises, whatever it is made of. A store that cannot keep one names it as a gap. */
export const STORE_PROMISES: readonly StorePromise[] = [
  promise("a new store is empty and keeps an identity of its own", async (data, makeStore) => {
    const first = await use(data, (_, { ledgerId, commitNumber, records }) => {
      strictEqual(commitNumber, 0);
      deepStrictEqual(records, {
        reservations: [],
        waiting: [],
        closedDays: [],
        closedKeys: [],
        cordons: [],
        adoption: undefined,
        members: [],
        advertisements: [],
        time: 0,
      });
      return ledgerId;
    });
    strictEqual(await use(data, (_, { ledgerId }) => ledgerId), first);
    const other = await makeStore();
    notStrictEqual(await use(other, (_, { ledgerId }) => ledgerId), first);
    await other.remove();
  }),

  promise("every kind of event is there after a restart, and the ledger is the same", async (data) => {
    const driver = new LedgerDriver();
    const seen = new Set<string>();
    for (const day of FULL_HISTORY) {
      const batch = day(driver);
      for (const { kind } of batch === undefined ? [] : eventsOf(batch)) seen.add(kind);
      await use(data, (store) => save(store, driver, batch));
      await expectSame(data, driver);
    }
    deepStrictEqual([...seen].sort(), Object.keys(DURABLE_KINDS).sort());
  }),

  promise("a ledger rebuilt after any history equals the live one", async (_, makeStore) => {
    const property = fc.asyncProperty(history, async (chapters) => {
      const data = await makeStore();
      const driver = new LedgerDriver();
      const commandFor = commandsWithQueueFor(driver.world);
      const step = (action: Parameters<typeof commandFor>[0]) => () => {
        const command = commandFor(action);
        // The store keeps the newest advertisement of a cluster, and the engine's clock never runs backwards.
        if (command?.kind === "advertise") driver.now = Math.max(driver.now, driver.world.latest);
        return command;
      };
      for (const chapter of chapters) {
        await use(data, async (store) => {
          for (const actions of chapter) {
            const batch = driver.batch(...actions.map(step));
            await save(store, driver, batch);
          }
        });
        await expectSame(data, driver);
      }
      await data.remove();
    });
    await fc.assert(property, runs(20, 500));
  }),

  promise("commit numbers follow each other without a gap", async (data) => {
    const driver = new LedgerDriver();
    const [first, second] = twoGrants(driver);
    await use(data, async (store) => {
      await refused(store.commit(second), "not-committed");
      await store.commit(first);
      await refused(store.commit(first), "not-committed");
      await refused(store.commit({ ...second, number: 3 }), "not-committed");
      strictEqual(await store.lastCommit(), 1);
      await save(store, driver, second);
      strictEqual(await store.lastCommit(), 2);
    });
    await expectSame(data, driver);
  }),

  promise("a batch that fails leaves nothing behind", async (data) => {
    const driver = new LedgerDriver();
    const [first, second] = twoGrants(driver);
    const impossible = { kind: "activated", at: second.at, id: "rsv-nobody" } as const;
    const entries = [...second.entries, { by: "rome", action: "activate", events: [impossible] }];
    await use(data, async (store) => {
      await store.commit(first);
      await refused(store.commit({ ...second, entries }), "corrupt");
      strictEqual(await store.lastCommit(), 1);
      for (const { id } of decisionsIn(second)) strictEqual(await store.findDecision(id), undefined);
      ok((await readAll(store)).every(({ commitNumber }) => commitNumber === 1));
    });
    await use(data, async (store, { commitNumber, records }) => {
      strictEqual(commitNumber, 1);
      strictEqual(records.reservations.length, 1);
      await save(store, driver, second);
    });
    await expectSame(data, driver);
  }),

  promise("of each cluster the newest advertisement is kept, and is no commit", async (data) => {
    await use(data, async (store) => {
      await store.saveAdvertisements([received("paris", 1), received("rome", 5)]);
      await store.saveAdvertisements([received("paris", 3)]);
      await store.saveAdvertisements([received("paris", 2)]);
      await store.saveAdvertisements([]);
      strictEqual(await store.lastCommit(), 0);
      deepStrictEqual(await readAll(store), []);
    });
    await use(data, (_, { commitNumber, records }) => {
      strictEqual(commitNumber, 0);
      strictEqual(records.time, 0);
      const newest = new Map(records.advertisements.map((each) => [each.advertisement.clusterId, each]));
      deepStrictEqual(newest.get("paris"), received("paris", 3));
      deepStrictEqual(newest.get("rome"), received("rome", 5));
    });
  }),

  promise("an advertisement in a commit is there with it, and replaces whatever was there", async (data) => {
    const driver = new LedgerDriver();
    const [first, second] = twoGrants(driver);
    await use(data, async (store) => {
      await store.saveAdvertisements([received("paris", 9), received("rome", 9)]);
      // The clock may have gone back meanwhile: what is committed is newer, whatever its time says.
      await store.commit({ ...first, advertisements: [received("paris", 5), received("oslo", 5)] });
      const impossible = { kind: "activated", at: second.at, id: "rsv-nobody" } as const;
      const entries = [{ by: "rome", action: "activate", events: [impossible] }];
      await refused(store.commit({ ...second, entries, advertisements: [received("paris", 7)] }), "corrupt");
    });
    const expectKept = async (expected: Readonly<Record<string, number>>): Promise<void> =>
      use(data, (_, { records }) => {
        const kept = records.advertisements.map((each) => [each.advertisement.clusterId, each] as const);
        const wanted = Object.entries(expected).map(([id, at]) => [id, received(id, at)] as const);
        deepStrictEqual(Object.fromEntries(kept), Object.fromEntries(wanted));
      });
    await expectKept({ paris: 5, rome: 9, oslo: 5 });
    await use(data, async (store) => {
      const lines = await readAll(store);
      await store.commit({ number: 2, at: second.at, entries: [], advertisements: [received("paris", 4)] });
      strictEqual(await store.lastCommit(), 2);
      deepStrictEqual(await readAll(store), lines);
      await store.saveAdvertisements([received("paris", 6)]);
    });
    await expectKept({ paris: 6, rome: 9, oslo: 5 });
  }),

  promise("decisions are found, explain themselves and replay, also after a restart", async (data) => {
    const driver = new LedgerDriver();
    const [first, second] = twoGrants(driver);
    const hopeless = driver.batch(reserve("rome", "hopeless", requestFor(1000)));
    const batches = [first, second, ...(hopeless === undefined ? [] : [hopeless])];
    const made = batches.flatMap(decisionsIn);
    strictEqual(made.length, 3);
    const expectFound = async (store: Store) => {
      for (const decision of made) {
        const found = await store.findDecision(decision.id);
        ok(found !== undefined, `${decision.id} is lost`);
        strictEqual(JSON.stringify(found), JSON.stringify(decision));
        strictEqual(explain(found), explain(decision));
        strictEqual(replayWinner(found), decision.winner);
        strictEqual(replayQueue(found), undefined);
      }
      strictEqual(await store.findDecision("dec-unknown"), undefined);
    };
    await use(data, async (store) => {
      for (const batch of batches) await store.commit(batch);
      await expectFound(store);
    });
    await use(data, expectFound);
  }),

  promise("the audit log says who did what, when and why, one line for each event", async (data) => {
    const driver = new LedgerDriver();
    const [first] = twoGrants(driver);
    const [decision] = decisionsIn(first);
    await use(data, async (store) => {
      await store.commit(first);
      const [line, ...others] = await readAll(store);
      deepStrictEqual(others, []);
      ok(line !== undefined && decision !== undefined);
      const { by, action, at, commitNumber, subject, detail } = line;
      deepStrictEqual(
        { by, action, at, commitNumber },
        { by: "rome", action: "reserve", at: first.at, commitNumber: 1 },
      );
      ok(driver.ledger.reservations.has(subject), `${subject} names the reservation`);
      ok(detail.includes(headline(decision)), `"${detail}" says why`);
    });
  }),

  promise(
    "the audit log is one chain that goes on after a restart and can be read in pages",
    async (data) => {
      const driver = new LedgerDriver();
      let lines = 0;
      for (const day of FULL_HISTORY) {
        const batch = day(driver);
        lines += batch === undefined ? 0 : eventsOf(batch).length;
        await use(data, (store) => save(store, driver, batch));
      }
      await use(data, async (store) => {
        const all = await readAll(store);
        strictEqual(all.length, lines);
        let link = NO_LINK;
        for (const { sequence, hash, ...line } of all) {
          link = expectedLink(link, line);
          deepStrictEqual({ sequence, hash }, link);
        }
        const paged: AuditEntry[] = [];
        for (let page = await store.readAudit({ after: 0, limit: 3 }); page.length > 0; ) {
          ok(page.length <= 3);
          paged.push(...page);
          page = await store.readAudit({ after: paged.at(-1)?.sequence ?? 0, limit: 3 });
        }
        deepStrictEqual(paged, all);
        deepStrictEqual(await store.readAudit({ after: lines, limit: 10 }), []);
      });
    },
  ),

  promise("a second process is refused while the first one has the store", async (data) => {
    const driver = new LedgerDriver();
    const [first] = twoGrants(driver);
    await use(data, async (store) => {
      const other = data.connect();
      await refused(other.open(), "not-committed");
      await other.close();
      await store.commit(first);
    });
    await use(data, (_, { commitNumber }) => strictEqual(commitNumber, 1));
  }),

  promise("a store that is not open refuses every call", async (data) => {
    const [first] = twoGrants(new LedgerDriver());
    const expectClosed = async (store: Store) => {
      await refused(store.commit(first), "not-committed");
      await refused(store.lastCommit(), "not-committed");
      const received = { advertisement: clusterOf("paris", 1), receivedAt: 1, replacedInstances: [] };
      await refused(store.saveAdvertisements([received]), "not-committed");
      await refused(store.findDecision("dec-1"), "not-committed");
      await refused(store.readAudit({ after: 0, limit: 1 }), "not-committed");
    };
    const store = data.connect();
    await expectClosed(store);
    await store.open();
    await store.close();
    await expectClosed(store);
    await store.close();
    await use(data, (_, { commitNumber }) => strictEqual(commitNumber, 0));
  }),
];

function promise(
  name: string,
  body: (data: StoreUnderTest, makeStore: MakeStore) => Promise<void>,
): StorePromise {
  const keep = async (makeStore: MakeStore) => {
    const data = await makeStore();
    try {
      await body(data, makeStore);
    } finally {
      await data.remove();
    }
  };
  return { name, keep };
}

/** What one process does with the store, from opening it to closing it. */
async function use<T>(
  data: StoreUnderTest,
  work: (store: Store, contents: StoreContents) => T | Promise<T>,
): Promise<T> {
  const store = data.connect();
  const contents = await store.open();
  try {
    return await work(store, contents);
  } finally {
    await store.close();
  }
}

async function save(store: Store, driver: LedgerDriver, batch: CommitBatch | undefined): Promise<void> {
  if (batch !== undefined) await store.commit(batch);
  await store.saveAdvertisements(driver.advertisements);
}

/** The deadlines of waiting requests stay where they are, also those that have passed. */
const NO_GRACE_MS = Number.NEGATIVE_INFINITY;

/** Invariant 5: what comes back from the store is the ledger that was live. */
async function expectSame(data: StoreUnderTest, driver: LedgerDriver): Promise<void> {
  await use(data, (_, { commitNumber, records }) => {
    strictEqual(commitNumber, driver.commitNumber);
    const rebuilt = ledgerFrom(records, driver.world.latest, NO_GRACE_MS);
    deepStrictEqual(comparableLedger(rebuilt), comparableLedger(driver.ledger));
  });
}

function received(clusterId: string, receivedAt: number): ReceivedAdvertisement {
  return { advertisement: clusterOf(clusterId, receivedAt), receivedAt, replacedInstances: ["gone"] };
}

function twoGrants(driver: LedgerDriver): [CommitBatch, CommitBatch] {
  driver.batch({ kind: "advertise", advertisement: clusterOf("paris", 16) });
  const first = driver.batch(reserve("rome", "first", requestFor(2)));
  const second = driver.batch(reserve("rome", "second", requestFor(3, { durationMs: 60_000 })));
  ok(first !== undefined && second !== undefined);
  return [first, second];
}

function decisionsIn(batch: CommitBatch): Decision[] {
  return eventsOf(batch).flatMap((event) =>
    "decision" in event && event.decision !== undefined ? [event.decision] : [],
  );
}

function readAll(store: Store): Promise<readonly AuditEntry[]> {
  return store.readAudit({ after: 0, limit: 10_000 });
}

async function refused(call: Promise<unknown>, kind: StoreFailure["kind"]): Promise<void> {
  await rejects(call, (error) => {
    ok(error instanceof StoreFailure, String(error));
    strictEqual(error.kind, kind, error.message);
    return true;
  });
}
