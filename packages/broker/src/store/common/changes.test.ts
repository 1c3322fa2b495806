import type { Command, Reservation, Waiting } from "@resource-broker/domain";
import { ADMIN, runs } from "@resource-broker/domain/testing";
import {
  admit,
  clusterOf,
  commandsWithQueueFor,
  LedgerDriver,
  queueOrLedgerAction,
  requestFor,
  reserve,
  reserveOrWait,
} from "@resource-broker/testkit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CommitBatch } from "../store.ts";
import { durableEvents, requestsToLoad, tableChanges } from "./changes.ts";
import { type Cells, RESERVATION, type RecordTable, type TableShape, WAITING } from "./record-tables.ts";

const HOUR_MS = 3_600_000;

/** Tables in memory, which find only what `requestsToLoad` names: a store may read nothing else before it writes. */
class Rows {
  readonly #tables = new Map<TableShape, Map<string, Cells>>();
  readonly loaded: string[] = [];

  commit(batch: CommitBatch | undefined): void {
    if (batch === undefined) return;
    const { reservations, waiting } = requestsToLoad(durableEvents(batch));
    this.loaded.push(...reservations, ...waiting);
    const changes = tableChanges(batch, {
      reservation: (id) => (reservations.includes(id) ? this.#find(RESERVATION, id) : undefined),
      waiting: (id) => (waiting.includes(id) ? this.#find(WAITING, id) : undefined),
    });
    for (const { shape, remove, put } of changes) {
      for (const name of remove) this.#rowsOf(shape).delete(name);
      for (const cells of put) this.#rowsOf(shape).set(String(cells[0]), cells);
    }
  }

  all<T>(table: RecordTable<T>): Map<string, T> {
    return new Map([...this.#rowsOf(table)].map(([name, cells]) => [name, table.parse(cells.at(-1) ?? "")]));
  }

  #find<T>(table: RecordTable<T>, id: string): T | undefined {
    const cells = this.#rowsOf(table).get(id);
    return cells && table.parse(cells.at(-1) ?? "");
  }

  #rowsOf(shape: TableShape): Map<string, Cells> {
    const rows = this.#tables.get(shape) ?? new Map<string, Cells>();
    this.#tables.set(shape, rows);
    return rows;
  }
}

function expectSame(rows: Rows, { ledger }: LedgerDriver): void {
  expect(sorted(rows.all(RESERVATION))).toEqual(sorted(ledger.reservations));
  expect(sorted(rows.all(WAITING))).toEqual(sorted(ledger.waiting.byId));
}

function sorted<T extends Reservation | Waiting>(all: ReadonlyMap<string, T>): T[] {
  return [...all.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

const history = fc.array(fc.array(queueOrLedgerAction, { minLength: 1, maxLength: 8 }), { maxLength: 20 });

it("rows after any history are those of the live ledger", () => {
  const property = fc.property(history, (batches) => {
    const driver = new LedgerDriver();
    const rows = new Rows();
    const commandFor = commandsWithQueueFor(driver.world);
    for (const actions of batches) {
      rows.commit(driver.batch(...actions.map((each) => () => commandFor(each))));
      expectSame(rows, driver);
    }
  });
  fc.assert(property, runs(100, 5000));
});

describe("a batch", () => {
  /** A provider of 8 CPUs that are in use, and a request that waits for 2 of them. */
  function withWaiting() {
    const driver = new LedgerDriver();
    const rows = new Rows();
    driver.batch({ kind: "advertise", advertisement: clusterOf("paris", 8) });
    const run = (...steps: readonly Command[]): void => rows.commit(driver.batch(...steps));
    run(reserve("rome", "fills", requestFor(8)), wait("waits"));
    const filling = idOf(driver.ledger.reservations, "fills");
    const waiting = idOf(driver.ledger.waiting.byId, "waits");
    rows.loaded.length = 0;
    return { driver, rows, run, filling, waiting };
  }

  const wait = (key: string) => reserveOrWait("oslo", key, { ...requestFor(2), forMs: HOUR_MS });
  const release = (clusterId: string, id: string) =>
    ({ kind: "release", by: { clusterId, isAdmin: false }, id }) as const;

  it("of newcomers' grants and requests that begin to wait reads nothing, and removes nothing", () => {
    const { driver, rows, run } = withWaiting();
    driver.batch({ kind: "advertise", advertisement: clusterOf("bonn", 1) });
    run(admit("dec-none"));
    const batch = driver.batch(reserve("rome", "new", requestFor(1)), wait("also waits"));
    rows.commit(batch);
    expect(batch?.entries.flatMap(({ events }) => events.map(({ kind }) => kind))).toEqual([
      "granted",
      "queued",
    ]);
    const changes = tableChanges(batch ?? { number: 0, at: 0, entries: [] }, NOTHING_STORED);
    expect(changes.flatMap(({ remove }) => remove)).toEqual([]);
    expect(rows.loaded).toEqual([]);
    expectSame(rows, driver);
  });

  it("of a grant from the queue removes the waiting request, and reads nothing", () => {
    const { driver, rows, run, filling, waiting } = withWaiting();
    run(release("rome", filling));
    rows.loaded.length = 0;
    run(admit("dec-1"));
    expect(rows.loaded).toEqual([]);
    expect([...rows.all(WAITING).keys()]).toEqual([]);
    expect(rows.all(RESERVATION).get(waiting)).toMatchObject({ phase: "Reserved", generation: 2 });
    expectSame(rows, driver);
  });

  it("of a request that leaves the queue reads it, and puts it as the ledger has it", () => {
    const { driver, rows, run, waiting } = withWaiting();
    run(release("oslo", waiting));
    expect(rows.loaded).toEqual([waiting]);
    expect(rows.all(WAITING).get(waiting)).toMatchObject({ phase: "Released", generation: 2 });
    expectSame(rows, driver);
    driver.now += 25 * HOUR_MS;
    run({ kind: "expire-due" });
    expect([...rows.all(WAITING).keys()]).toEqual([]);
    expectSame(rows, driver);
  });

  it("of an adoption removes the request that waits under the same ID", () => {
    const { driver, rows, run, waiting } = withWaiting();
    driver.batch({ kind: "advertise", advertisement: clusterOf("bonn", 8) });
    const offer = {
      id: waiting,
      requester: "oslo",
      provider: "bonn",
      granted: requestFor(2).resources,
      phase: "Active" as const,
      generation: 0,
      createdAt: driver.now - HOUR_MS,
    };
    run({ kind: "open-adoption", by: ADMIN, durationMs: HOUR_MS }, { kind: "adopt", by: ADMIN, offer });
    expect(rows.loaded).toEqual([]);
    expect([...rows.all(WAITING).keys()]).toEqual([]);
    expect(rows.all(RESERVATION).get(waiting)).toMatchObject({ provider: "bonn" });
    expectSame(rows, driver);
  });

  it("that ends a request which nobody stored contradicts the store", () => {
    const { driver, waiting } = withWaiting();
    const batch = driver.batch(release("oslo", waiting));
    if (batch === undefined) throw new Error("nothing happened");
    expect(() => tableChanges(batch, NOTHING_STORED)).toThrow("the batch contradicts what is stored");
  });
});

const NOTHING_STORED = { reservation: () => undefined, waiting: () => undefined };

function idOf(all: ReadonlyMap<string, Reservation | Waiting>, key: string): string {
  for (const [id, each] of all) if (each.key === key) return id;
  throw new Error(`nothing has key ${key}`);
}
