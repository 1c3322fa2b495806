import { resourceVector } from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import type { Booking, Books } from "./booking.ts";
import { newOrder, type Order } from "./order.ts";
import { violations } from "./violations.ts";

const GI = 2 ** 30;
const granted = resourceVector({ cpuMillis: 2000, memoryBytes: 4 * GI });
const booking: Booking = {
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

function told(change: Partial<Order> = {}): Order {
  const order = newOrder("rome", "k", { cpu: 2, memoryGi: 4 });
  return {
    ...order,
    acknowledged: { id: "rsv-1", provider: "paris", reservedAt: "" },
    created: 1,
    ...change,
  };
}

function books(bookings: readonly Booking[], reserved = paris.reserved): Books {
  return { bookings, providers: [{ ...paris, reserved }] };
}

const nothing = resourceVector({});
const refused = { acknowledged: undefined, created: 0 };
const released = { ...booking, phase: "Released" } as const;

describe("what clients were told and what is booked", () => {
  const right = [
    { name: "a booked order", orders: [told()], found: books([booking]) },
    { name: "a refused order", orders: [told(refused)], found: books([], nothing) },
    {
      name: "an order nobody answered, booked",
      orders: [told({ ...refused, unanswered: 1 })],
      found: books([booking]),
    },
    {
      name: "an order nobody answered, not booked",
      orders: [told({ ...refused, unanswered: 1 })],
      found: books([], nothing),
    },
    {
      name: "a released order",
      orders: [told({ release: "acknowledged" })],
      found: books([released], nothing),
    },
    { name: "a release nobody answered", orders: [told({ release: "asked" })], found: books([booking]) },
  ];
  test.each(right)("agree on $name", ({ orders, found }) => {
    expect(violations(orders, found)).toEqual([]);
  });

  const twice = resourceVector({ cpuMillis: 4000, memoryBytes: 8 * GI });
  const wrong = [
    { name: "a lost order", orders: [told()], found: books([], nothing), problem: "is lost" },
    {
      name: "an order booked twice",
      orders: [told()],
      found: books([booking, { ...booking, id: "rsv-2" }], twice),
      problem: "is booked 2 times",
    },
    {
      name: "a provider that lends more than it has",
      orders: [
        told(),
        { ...told({ acknowledged: { id: "rsv-2", provider: "paris", reservedAt: "" } }), key: "l" },
      ],
      found: books([booking, { ...booking, id: "rsv-2", key: "l" }], twice),
      problem: "paris lends 4 CPU",
    },
    {
      name: "a refused order that is booked",
      orders: [told(refused)],
      found: books([booking]),
      problem: "every attempt was refused",
    },
    {
      name: "a booking at another provider",
      orders: [told({ acknowledged: { id: "rsv-1", provider: "tokyo", reservedAt: "" } })],
      found: books([booking]),
      problem: "acknowledged as rsv-1 at tokyo, booked as rsv-1 at paris",
    },
    {
      name: "another amount",
      orders: [told()],
      found: books([{ ...booking, granted: nothing }], nothing),
      problem: "holds",
    },
    {
      name: "a released order that lives",
      orders: [told({ release: "acknowledged" })],
      found: books([booking]),
      problem: "was released and lives",
    },
    {
      name: "an order that ended by itself",
      orders: [told()],
      found: books([released], nothing),
      problem: "is Released, and nobody asked for that",
    },
    { name: "a booking from nowhere", orders: [], found: books([booking]), problem: "nobody ordered rome/k" },
    {
      name: "a wrong sum",
      orders: [told()],
      found: books([booking], nothing),
      problem: "paris: the broker counts",
    },
  ];
  test.each(wrong)("disagree on $name", ({ orders, found, problem }) => {
    expect(violations(orders, found)).toContainEqual(expect.stringContaining(problem));
  });

  test("disagree on an order served by a provider that had nothing left before it was made", () => {
    const drained = { provider: "paris", ordersBefore: 0 };
    const problem = expect.stringContaining("paris lends rsv-1 (k), and was answered before that");
    expect(violations([told()], books([booking]), drained)).toEqual([problem]);
    expect(violations([told()], books([booking]), { ...drained, ordersBefore: 1 })).toEqual([]);
    expect(violations([told()], books([booking]), { ...drained, provider: "oslo" })).toEqual([]);
  });
});
