import { resourceVector } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import type { LedgerReservation, LedgerSnapshot } from "./ledger-snapshot.ts";
import { newTrackedRequest, type TrackedRequest } from "./tracked-request.ts";
import { violations } from "./violations.ts";

const GI = 2 ** 30;
const granted = resourceVector({ cpuMillis: 2000, memoryBytes: 4 * GI });
const reservation: LedgerReservation = {
  id: "rsv-1",
  requester: "rome",
  provider: "paris",
  phase: "Reserved",
  granted,
  key: "k",
};
const paris = {
  clusterId: "paris",
  allocatable: resourceVector({ cpuMillis: 3000, memoryBytes: 8 * GI }),
  reserved: granted,
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

function snapshot(reservations: readonly LedgerReservation[], reserved = paris.reserved): LedgerSnapshot {
  return { reservations, providers: [{ ...paris, reserved }] };
}

const nothing = resourceVector({});
const refused = { acknowledged: undefined, created: 0 };
const released = { ...reservation, phase: "Released" } as const;

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
      name: "a release nobody answered",
      orders: [trackedRequest({ release: "asked" })],
      found: snapshot([reservation]),
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
      name: "a booking from nowhere",
      orders: [],
      found: snapshot([reservation]),
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
