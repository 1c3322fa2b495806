import { resourceVector } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import type { LedgerReservation, LedgerSnapshot, LedgerWaiting } from "./ledger-snapshot.ts";
import { newTrackedRequest, type TrackedRequest } from "./tracked-request.ts";
import { violations, waitingInVain } from "./violations.ts";

const GI = 2 ** 30;
const granted = resourceVector({ cpuMillis: 2000, memoryBytes: 4 * GI });
const reservation: LedgerReservation = {
  id: "rsv-1",
  requester: "rome",
  provider: "paris",
  phase: "Reserved",
  granted,
  key: "k",
  reason: undefined,
};
const paris = {
  clusterId: "paris",
  allocatable: resourceVector({ cpuMillis: 3000, memoryBytes: 8 * GI }),
  reserved: granted,
  available: resourceVector({ cpuMillis: 1000, memoryBytes: 4 * GI }),
};

function trackedRequest(change: Partial<TrackedRequest> = {}): TrackedRequest {
  const order = newTrackedRequest("rome", "k", { cpu: 2, memoryGi: 4 });
  return {
    ...order,
    acknowledged: { id: "rsv-1", provider: "paris", reservedAt: "" },
    created: 1,
    ...change,
  };
}

function snapshot(
  reservations: readonly LedgerReservation[],
  reserved = paris.reserved,
  waiting: readonly LedgerWaiting[] = [],
): LedgerSnapshot {
  return { reservations, waiting, providers: [{ ...paris, reserved }] };
}

const nothing = resourceVector({});
const refused = { acknowledged: undefined, created: 0 };
const released = { ...reservation, phase: "Released" } as const;
const preempted = { ...reservation, phase: "Failed", reason: "Preempted" } as const;

const entry: LedgerWaiting = {
  id: "rsv-1",
  requester: "rome",
  phase: "Pending",
  reason: undefined,
  asked: granted,
  key: "k",
  until: 1000,
  endedAt: undefined,
  nominatedTo: undefined,
};
const left = { ...entry, phase: "Released", reason: "ReleasedByRequester", endedAt: 500 } as const;

/** A request that was told that it waits. */
function waiter(change: Partial<TrackedRequest> = {}): TrackedRequest {
  return { ...trackedRequest(refused), waitFor: "1h", queued: { id: "rsv-1" }, created: 1, ...change };
}

function queue(...entries: readonly LedgerWaiting[]): LedgerSnapshot {
  return snapshot([], nothing, entries);
}

describe("what clients were told and what is reserved", () => {
  const right = [
    { name: "a booked order", orders: [trackedRequest()], found: snapshot([reservation]) },
    { name: "a refused order", orders: [trackedRequest(refused)], found: snapshot([], nothing) },
    {
      name: "an order nobody answered, booked",
      orders: [trackedRequest({ ...refused, unanswered: 1 })],
      found: snapshot([reservation]),
    },
    {
      name: "an order nobody answered, not booked",
      orders: [trackedRequest({ ...refused, unanswered: 1 })],
      found: snapshot([], nothing),
    },
    {
      name: "a released order",
      orders: [trackedRequest({ release: "acknowledged" })],
      found: snapshot([released], nothing),
    },
    {
      name: "a spot reservation that gave way",
      orders: [trackedRequest({ isSpot: true })],
      found: snapshot([preempted], nothing),
    },
    {
      name: "a release nobody answered",
      orders: [trackedRequest({ release: "asked" })],
      found: snapshot([reservation]),
    },
    { name: "one that waits", orders: [waiter()], found: queue(entry) },
    { name: "one that waited and is booked", orders: [waiter()], found: snapshot([reservation]) },
    {
      name: "one that nobody answered, waiting",
      orders: [waiter({ queued: undefined, unanswered: 1 })],
      found: queue(entry),
    },
    {
      name: "one that left the queue",
      orders: [waiter({ hasLeft: true, release: "acknowledged" })],
      found: queue(left),
    },
    {
      name: "one whose time to wait was over",
      orders: [waiter()],
      found: queue({ ...left, phase: "Failed", reason: "WaitTimeout", endedAt: 1000 }),
    },
  ];
  test.each(right)("agree on $name", ({ orders, found }) => {
    expect(violations(orders, found)).toEqual([]);
  });

  const twice = resourceVector({ cpuMillis: 4000, memoryBytes: 8 * GI });
  const wrong = [
    { name: "a lost order", orders: [trackedRequest()], found: snapshot([], nothing), problem: "is lost" },
    {
      name: "an order booked twice",
      orders: [trackedRequest()],
      found: snapshot([reservation, { ...reservation, id: "rsv-2" }], twice),
      problem: "is booked 2 times",
    },
    {
      name: "a provider that lends more than it has",
      orders: [
        trackedRequest(),
        { ...trackedRequest({ acknowledged: { id: "rsv-2", provider: "paris", reservedAt: "" } }), key: "l" },
      ],
      found: snapshot([reservation, { ...reservation, id: "rsv-2", key: "l" }], twice),
      problem: "paris lends 4 CPU",
    },
    {
      name: "a refused order that is booked",
      orders: [trackedRequest(refused)],
      found: snapshot([reservation]),
      problem: "every attempt was refused",
    },
    {
      name: "a booking at another provider",
      orders: [trackedRequest({ acknowledged: { id: "rsv-1", provider: "tokyo", reservedAt: "" } })],
      found: snapshot([reservation]),
      problem: "acknowledged as rsv-1 at tokyo, booked as rsv-1 at paris",
    },
    {
      name: "another amount",
      orders: [trackedRequest()],
      found: snapshot([{ ...reservation, granted: nothing }], nothing),
      problem: "holds",
    },
    {
      name: "a released order that lives",
      orders: [trackedRequest({ release: "acknowledged" })],
      found: snapshot([reservation]),
      problem: "was released and lives",
    },
    {
      name: "an order that ended by itself",
      orders: [trackedRequest()],
      found: snapshot([released], nothing),
      problem: "is Released, and nobody asked for that",
    },
    {
      name: "one that gave way and is not of the spot tier",
      orders: [trackedRequest()],
      found: snapshot([preempted], nothing),
      problem: "was preempted, and is not of the spot tier",
    },
    {
      name: "a booking from nowhere",
      orders: [],
      found: snapshot([reservation]),
      problem: "nobody ordered rome/k",
    },
    {
      name: "one that was told to wait and is lost",
      orders: [waiter()],
      found: queue(),
      problem: "was told that it waits as rsv-1 and is lost",
    },
    {
      name: "one that waits and is booked",
      orders: [waiter()],
      found: snapshot([reservation], granted, [entry]),
      problem: "is booked as rsv-1 and waits as rsv-1",
    },
    {
      name: "one that waits twice",
      orders: [waiter()],
      found: queue(entry, { ...entry, id: "rsv-2" }),
      problem: "waits 2 times",
    },
    {
      name: "one that is booked under another ID than it waited",
      orders: [waiter()],
      found: snapshot([{ ...reservation, id: "rsv-2" }]),
      problem: "acknowledged as rsv-1",
    },
    {
      name: "one that left the queue and is booked",
      orders: [waiter({ hasLeft: true, release: "acknowledged" })],
      found: snapshot([reservation]),
      problem: "has left the queue and is booked",
    },
    {
      name: "one that left the queue and waits again",
      orders: [waiter({ hasLeft: true, release: "acknowledged" })],
      found: queue(entry),
      problem: "was released and waits",
    },
    {
      name: "one that was booked and waits",
      orders: [waiter({ acknowledged: { id: "rsv-1", provider: "paris", reservedAt: "" } })],
      found: queue(entry),
      problem: "was acknowledged as rsv-1 and waits",
    },
    {
      name: "one that left the queue by itself",
      orders: [waiter()],
      found: queue(left),
      problem: "left the queue by ReleasedByRequester",
    },
    {
      name: "one whose time ended early",
      orders: [waiter()],
      found: queue({ ...left, phase: "Failed", reason: "WaitTimeout", endedAt: 999 }),
      problem: "left the queue by WaitTimeout",
    },
    {
      name: "one that waits and did not ask to",
      orders: [trackedRequest({ ...refused, unanswered: 1 })],
      found: queue(entry),
      problem: "waits and did not ask to",
    },
    {
      name: "one that waits for another amount",
      orders: [waiter()],
      found: queue({ ...entry, asked: nothing }),
      problem: "waits for",
    },
    {
      name: "one from nowhere that waits",
      orders: [],
      found: queue(entry),
      problem: "nobody ordered rome/k",
    },
    {
      name: "a wrong sum",
      orders: [trackedRequest()],
      found: snapshot([reservation], nothing),
      problem: "paris: the broker counts",
    },
  ];
  test.each(wrong)("disagree on $name", ({ orders, found, problem }) => {
    expect(violations(orders, found)).toContainEqual(expect.stringContaining(problem));
  });

  test("disagree on an order served by a provider that had nothing left before it was made", () => {
    const drained = { provider: "paris", requestsBefore: 0 };
    const problem = expect.stringContaining("paris lends rsv-1 (k), and was answered before that");
    expect(violations([trackedRequest()], snapshot([reservation]), drained)).toEqual([problem]);
    expect(
      violations([trackedRequest()], snapshot([reservation]), { ...drained, requestsBefore: 1 }),
    ).toEqual([]);
    expect(violations([trackedRequest()], snapshot([reservation]), { ...drained, provider: "oslo" })).toEqual(
      [],
    );
  });
});

describe("somebody waits in vain", () => {
  const large = resourceVector({ cpuMillis: 2000, memoryBytes: GI });
  const small = resourceVector({ cpuMillis: 1000, memoryBytes: GI });
  test.each([
    { name: "where a provider has room", change: { asked: small }, problems: 1 },
    { name: "not where none has", change: { asked: large }, problems: 0 },
    { name: "not after it has left", change: { ...left, asked: small }, problems: 0 },
  ])("$name", ({ change, problems }) => {
    expect(waitingInVain(queue({ ...entry, ...change }))).toHaveLength(problems);
  });

  test("not where the room is kept for another", () => {
    const other = { ...entry, id: "rsv-2", asked: small };
    const nominated = (asked: typeof small) => ({ ...entry, asked, nominatedTo: "paris" });
    expect(waitingInVain(queue(nominated(large), other))).toEqual([]);
    expect(waitingInVain(queue(nominated(small), other))).toEqual([expect.stringContaining("rsv-1")]);
  });
});
