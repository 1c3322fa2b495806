import { expect, test } from "vitest";
import type { Booked, Books, Shown, Wish } from "./books.ts";
import { violations } from "./violations.ts";

const wish: Wish = { uid: "u1", cluster: "rome", name: "more", isWanted: true };
const booking: Booked = { id: "rsv-1", uid: "u1", requester: "rome", lender: "paris", isLive: true };
const rome: Shown = {
  cluster: "rome",
  requests: [{ uid: "u1", phase: "Active", id: "rsv-1" }],
  borrowed: [{ id: "rsv-1", isDone: true }],
  held: [],
};
const paris: Shown = { cluster: "paris", requests: [], borrowed: [], held: [{ id: "rsv-1", isDone: true }] };
const ended = { ...booking, isLive: false };
const nothing = { requests: [], borrowed: [], held: [] };

const booksOf = (change: { booked?: Booked[]; rome?: Partial<Shown>; paris?: Partial<Shown> }): Books => ({
  booked: change.booked ?? [booking],
  shown: [
    { ...rome, ...change.rome },
    { ...paris, ...change.paris },
  ],
});

test("what agrees is no violation", () => {
  expect(violations([wish], booksOf({}))).toEqual([]);
  const taken = { ...wish, isWanted: false };
  expect(violations([taken], booksOf({ booked: [ended], rome: nothing, paris: nothing }))).toEqual([]);
});

const rows: readonly [string, readonly Wish[], Books, string][] = [
  ["a lost one", [wish], booksOf({ booked: [] }), "more of rome is not booked"],
  ["one that ended", [wish], booksOf({ booked: [ended] }), "more of rome is not booked"],
  [
    "a doubled one, also when the second has ended",
    [wish],
    booksOf({ booked: [booking, { ...ended, id: "rsv-2" }] }),
    "more of rome is booked 2 times",
  ],
  [
    "one that was taken back",
    [{ ...wish, isWanted: false }],
    booksOf({}),
    "more of rome was deleted, and is booked still",
  ],
  ["one that nobody wants", [], booksOf({}), "rsv-1 is booked, and nobody asked for it"],
  [
    "a missing borrowing",
    [wish],
    booksOf({ rome: { borrowed: [] } }),
    "ReservationInstructions of rome: rsv-1 is booked, and not there",
  ],
  [
    "an undelivered borrowing",
    [wish],
    booksOf({ rome: { borrowed: [{ id: "rsv-1", isDone: false }] } }),
    "ReservationInstructions of rome: rsv-1 is booked, and not there",
  ],
  [
    "a missing hold",
    [wish],
    booksOf({ paris: { held: [] } }),
    "ProviderInstructions of paris: rsv-1 is booked, and not there",
  ],
  [
    "a hold too many",
    [wish],
    booksOf({ paris: { held: [...paris.held, { id: "rsv-0", isDone: true }] } }),
    "ProviderInstructions of paris: rsv-0 is there, and not booked",
  ],
  [
    "a request that does not know",
    [wish],
    booksOf({ rome: { requests: [{ uid: "u1", phase: "Reserved", id: "rsv-1" }] } }),
    "more of rome is not Active with its reservation",
  ],
];

test.each(rows)("%s is found", (_, wishes, books, problem) => {
  expect(violations(wishes, books)).toContain(problem);
});
