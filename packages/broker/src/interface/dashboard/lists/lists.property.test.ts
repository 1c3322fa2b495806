import {
  CLUSTER_SORTS,
  CLUSTER_STATES,
  RESERVATION_SORTS,
  type UiCluster,
  type UiReservation,
} from "@resource-broker/contract/dashboard";
import { DEFAULT_POLICY, emptyLedger, PHASES } from "@resource-broker/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hasAdvertised } from "../../shared/advertised-account.ts";
import { ledgers, NOW, reservations } from "../testing/arbitrary-ledger.ts";
import { clusterView } from "../views/cluster-view.ts";
import { reservationView } from "../views/reservation-view.ts";
import { clusterPage, readClusterQuery } from "./cluster-list.ts";
import { readReservationQuery, reservationLists } from "./reservation-list.ts";

const LONG = process.env["LONG"] === "1" ? 2000 : 200;
const page = { offset: fc.integer({ min: 0, max: 45 }), limit: fc.integer({ min: 1, max: 50 }) };
const order = fc.constantFrom("", "asc", "desc");

type Plain = Readonly<Record<string, string | number>>;

function parametersOf(query: Plain): URLSearchParams {
  return new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
}

/** Sorts the rows as they are shown, one after the other, with no thought for speed. */
function naivelySorted<Row extends { readonly id: string }>(
  rows: readonly Row[],
  keyOf: (row: Row) => string | number | null,
  isDescending: boolean,
): Row[] {
  const before = (a: Row, b: Row): boolean => {
    const [first, second] = [keyOf(a), keyOf(b)];
    if (first === second) return a.id < b.id;
    if (first === null) return false;
    if (second === null) return true;
    return isDescending ? first > second : first < second;
  };
  const sorted: Row[] = [];
  for (const row of rows) {
    const place = sorted.findIndex((other) => before(row, other));
    sorted.splice(place === -1 ? sorted.length : place, 0, row);
  }
  return sorted;
}

const RESERVATION_KEYS: Record<string, (row: UiReservation) => string | number | null> = {
  created: ({ createdAt }) => createdAt,
  expires: ({ expiresAt }) => expiresAt,
  id: ({ id }) => id,
  requester: ({ requester }) => requester,
  provider: ({ provider }) => provider,
  phase: ({ phase }) => ["Pending", "Reserved", "Active", "Released", "Failed"].indexOf(phase),
  cpu: ({ amounts }) => amounts.cpu,
  memory: ({ amounts }) => amounts.memory,
  gpu: ({ amounts }) => amounts.gpu,
  cost: ({ costPerHour }) => costPerHour?.amount ?? null,
};

test("a page of reservations is what a naive reading of all rows gives", () => {
  const query = fc.record({
    sort: fc.constantFrom("", ...RESERVATION_SORTS),
    order,
    q: fc.constantFrom("", "rom", "IS", "rsv-", "000", "zzz"),
    phase: fc.constantFrom("", "live", ...PHASES),
    requester: fc.constantFrom("", "rome", "constructor"),
    provider: fc.constantFrom("", "paris"),
    cluster: fc.constantFrom("", "tokyo"),
    ...page,
  });
  fc.assert(
    fc.property(reservations, query, (all, asked) => {
      const ledger = { ...emptyLedger(), reservations: new Map(all.map((each) => [each.id, each])) };
      const lists = reservationLists({ ledger, commitNumber: 7 });
      const text = asked.q.toLowerCase();
      const wanted = all.map(reservationView).filter((row) => {
        const phases = asked.phase === "live" ? ["Reserved", "Active"] : [asked.phase || row.phase];
        if (!phases.includes(row.phase)) return false;
        if (asked.requester !== "" && row.requester !== asked.requester) return false;
        if (asked.provider !== "" && row.provider !== asked.provider) return false;
        if (asked.cluster !== "" && ![row.requester, row.provider].includes(asked.cluster)) return false;
        return [row.id, row.requester, row.provider].some((word) => word.includes(text));
      });
      const keyOf = RESERVATION_KEYS[asked.sort || "created"];
      if (keyOf === undefined) throw new Error(asked.sort);
      const sorted = naivelySorted(wanted, keyOf, (asked.order || "desc") === "desc");
      const expected = {
        rows: sorted.slice(asked.offset, asked.offset + asked.limit),
        total: sorted.length,
        offset: asked.offset,
        commit: 7,
      };
      // Twice: the second is answered from what the first has sorted.
      expect(lists.page(readReservationQuery(parametersOf(asked)))).toEqual(expected);
      expect(lists.page(readReservationQuery(parametersOf(asked)))).toEqual(expected);
    }),
    { numRuns: LONG },
  );
});

test("what was sorted for one commit is not shown for the next", () => {
  fc.assert(
    fc.property(reservations, reservations, (first, second) => {
      let shown = first;
      let commitNumber = 1;
      const engine = {
        get ledger() {
          return { ...emptyLedger(), reservations: new Map(shown.map((each) => [each.id, each])) };
        },
        get commitNumber() {
          return commitNumber;
        },
      };
      const lists = reservationLists(engine);
      lists.page(readReservationQuery(new URLSearchParams()));
      [shown, commitNumber] = [second, 2];
      const { rows } = lists.page(readReservationQuery(new URLSearchParams("sort=id&order=asc&limit=200")));
      expect(rows.map(({ id }) => id)).toEqual(second.map(({ id }) => id).sort());
    }),
    { numRuns: LONG / 4 },
  );
});

const CLUSTER_KEYS: Record<string, (row: UiCluster) => string | number | null> = {
  id: ({ id }) => id,
  region: ({ region }) => (region === "" ? null : region),
  cpu: ({ capacity }) => capacity.available.cpu,
  memory: ({ capacity }) => capacity.available.memory,
  gpu: ({ capacity }) => capacity.available.gpu,
  price: ({ price }) => price?.cpu ?? null,
  heard: ({ heardAt }) => heardAt,
  lends: ({ lends }) => lends,
  borrows: ({ borrows }) => borrows,
};

test("a page of clusters and its totals are what a naive reading of all rows gives", () => {
  const query = fc.record({
    sort: fc.constantFrom("", ...CLUSTER_SORTS),
    order,
    q: fc.constantFrom("", "rom", "CLUSTER p", "eu-", "zzz"),
    state: fc.constantFrom("", ...CLUSTER_STATES),
    ...page,
  });
  fc.assert(
    fc.property(ledgers, query, (ledger, asked) => {
      const moment = { now: NOW, policy: DEFAULT_POLICY };
      const rows = [...ledger.accounts.values()]
        .filter(hasAdvertised)
        .map((account) => clusterView(account, moment))
        .filter((row) => {
          const has = (type: string): boolean => row.conditions.some((each) => each.type === type);
          const states: Record<string, boolean> = {
            "": true,
            ready: !["Stale", "Cordoned", "Overcommitted"].some(has),
            stale: row.isStale,
            cordoned: row.isCordoned,
            overcommitted: has("Overcommitted"),
          };
          if (states[asked.state] !== true) return false;
          const words = [row.id, row.name, row.region].map((word) => word.toLowerCase());
          return words.some((word) => word.includes(asked.q.toLowerCase()));
        });
      const keyOf = CLUSTER_KEYS[asked.sort || "id"];
      if (keyOf === undefined) throw new Error(asked.sort);
      const sorted = naivelySorted(rows, keyOf, asked.order === "desc");
      const found = clusterPage(ledger, {
        query: readClusterQuery(parametersOf(asked)),
        moment,
        commit: 3,
      });
      expect(found).toMatchObject({
        rows: sorted.slice(asked.offset, asked.offset + asked.limit),
        total: sorted.length,
        offset: asked.offset,
        commit: 3,
      });
      const fresh = rows.filter(({ isStale }) => !isStale);
      const sum = (of: (row: UiCluster) => number, over = fresh): number =>
        over.reduce((total, row) => total + of(row), 0);
      const { totals } = found;
      expect(totals.capacity.allocatable.cpu).toBeCloseTo(
        sum((row) => row.capacity.allocatable.cpu),
        6,
      );
      expect(totals.capacity.available.memory).toBe(sum((row) => row.capacity.available.memory));
      expect(totals.capacity.reserved.gpu).toBe(sum((row) => row.capacity.reserved.gpu));
      expect(totals.live).toBe(sum(({ lends }) => lends, rows));
      const isReady = ({ conditions }: UiCluster): boolean =>
        conditions.every(({ type }) => type === "Overuse");
      expect(totals.ready).toBe(rows.filter(isReady).length);
    }),
    { numRuns: LONG },
  );
});
