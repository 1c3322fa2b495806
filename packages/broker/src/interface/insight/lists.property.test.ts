import {
  type AdvertisementDTO,
  CLUSTER_SORTS,
  CLUSTER_STATES,
  type ClusterSort,
  RESERVATION_SORTS,
  type ReservationSort,
} from "@resource-broker/contract";
import {
  type AccountView,
  DEFAULT_POLICY,
  emptyLedger,
  PHASES,
  REGION_LABEL,
  type Reservation,
} from "@resource-broker/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hasAdvertised } from "../shared/advertised-account.ts";
import { ledgers, NOW, reservations } from "./testing/arbitrary-ledger.ts";
import { type Query, readQuery } from "../http/query.ts";
import { clusterPage, readClusterQuery } from "./cluster-list.ts";
import { readReservationQuery, reservationLists } from "./reservation-list.ts";
import { renderCluster } from "./standing.ts";

const LONG = process.env["LONG"] === "1" ? 2000 : 200;
const page = { offset: fc.integer({ min: 0, max: 45 }), limit: fc.integer({ min: 1, max: 50 }) };
const order = fc.constantFrom("", "asc", "desc");

type Plain = Readonly<Record<string, string | number>>;

function queryOf(query: Plain): Query {
  const words = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  return readQuery(new URLSearchParams(words).toString());
}

/** Sorts the rows as they are shown, one after the other, with no thought for speed. */
function naivelySorted<Row>(
  rows: readonly Row[],
  {
    keyOf,
    nameOf,
    isDescending,
  }: {
    readonly keyOf: (row: Row) => string | number | undefined;
    readonly nameOf: (row: Row) => string;
    readonly isDescending: boolean;
  },
): Row[] {
  const before = (a: Row, b: Row): boolean => {
    const [first, second] = [keyOf(a), keyOf(b)];
    if (first === second) return nameOf(a) < nameOf(b);
    if (first === undefined) return false;
    if (second === undefined) return true;
    return isDescending ? first > second : first < second;
  };
  const sorted: Row[] = [];
  for (const row of rows) {
    const place = sorted.findIndex((other) => before(row, other));
    sorted.splice(place === -1 ? sorted.length : place, 0, row);
  }
  return sorted;
}

const RESERVATION_KEYS: Record<ReservationSort, (row: Reservation) => string | number | undefined> = {
  created: ({ createdAt }) => createdAt,
  expires: ({ expiresAt }) => expiresAt,
  id: ({ id }) => id,
  requester: ({ requester }) => requester,
  provider: ({ provider }) => provider,
  phase: ({ phase }) => ["Pending", "Reserved", "Active", "Released", "Failed"].indexOf(phase),
  cpu: ({ granted }) => granted.cpuMillis,
  memory: ({ granted }) => granted.memoryBytes,
  gpu: ({ granted }) => granted.gpus,
  cost: ({ cost }) => cost?.perHour,
};

test("a page of reservations is what a naive reading of all rows gives", () => {
  const query = fc.record({
    sort: fc.constantFrom(...RESERVATION_SORTS),
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
      const wanted = all.filter((row) => {
        const phases = asked.phase === "live" ? ["Reserved", "Active"] : [asked.phase || row.phase];
        if (!phases.includes(row.phase)) return false;
        if (asked.requester !== "" && row.requester !== asked.requester) return false;
        if (asked.provider !== "" && row.provider !== asked.provider) return false;
        if (asked.cluster !== "" && ![row.requester, row.provider].includes(asked.cluster)) return false;
        return [row.id, row.requester, row.provider].some((word) => word.includes(text));
      });
      const isDescending = (asked.order || (asked.sort === "created" ? "desc" : "asc")) === "desc";
      const sorted = naivelySorted(wanted, {
        keyOf: RESERVATION_KEYS[asked.sort],
        nameOf: ({ id }) => id,
        isDescending,
      });
      const rows = sorted.slice(asked.offset, asked.offset + asked.limit);
      // Twice: the second is answered from what the first has sorted.
      for (let round = 0; round < 2; round++)
        expect(lists(readReservationQuery(queryOf(asked)), () => true)).toEqual({
          rows,
          total: sorted.length,
        });
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
      lists(readReservationQuery(queryOf({})), () => true);
      [shown, commitNumber] = [second, 2];
      const { rows } = lists(readReservationQuery(queryOf({ sort: "id", limit: 200 })), () => true);
      expect(rows.map(({ id }) => id)).toEqual(second.map(({ id }) => id).sort());
    }),
    { numRuns: LONG / 4 },
  );
});

const CLUSTER_KEYS: Record<ClusterSort, (row: Row) => string | number | undefined> = {
  id: ({ account }) => account.clusterId,
  region: ({ shown }) => shown.labels?.[REGION_LABEL] || undefined,
  cpu: ({ account }) => account.available.cpuMillis,
  memory: ({ account }) => account.available.memoryBytes,
  gpu: ({ account }) => account.available.gpus,
  price: ({ shown }) => shown.standing?.price?.cpu,
  heard: ({ shown }) => shown.standing?.receivedAt,
  lends: ({ shown }) => shown.standing?.lends,
  borrows: ({ shown }) => shown.standing?.borrows,
};

interface Row {
  readonly account: AccountView;
  readonly shown: AdvertisementDTO;
}

test("a page of clusters and its totals are what a naive reading of all rows gives", () => {
  const query = fc.record({
    sort: fc.constantFrom(...CLUSTER_SORTS),
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
        .map((account): Row => ({ account, shown: renderCluster(account, moment) }))
        .filter(({ shown }) => {
          const has = (type: string): boolean => conditionsOf(shown).includes(type);
          const states: Record<string, boolean> = {
            "": true,
            ready: !["Stale", "Cordoned", "Overcommitted"].some(has),
            stale: has("Stale"),
            cordoned: has("Cordoned"),
            overcommitted: has("Overcommitted"),
          };
          if (states[asked.state] !== true) return false;
          const words = [shown.clusterID, shown.clusterName ?? "", shown.labels?.[REGION_LABEL] ?? ""];
          return words.some((word) => word.toLowerCase().includes(asked.q.toLowerCase()));
        });
      const sorted = naivelySorted(rows, {
        keyOf: CLUSTER_KEYS[asked.sort],
        nameOf: ({ account }) => account.clusterId,
        isDescending: asked.order === "desc",
      });
      const { items, total, totals } = clusterPage(ledger, readClusterQuery(queryOf(asked)), moment);
      expect(items).toEqual(sorted.slice(asked.offset, asked.offset + asked.limit).map(({ shown }) => shown));
      expect(total).toBe(sorted.length);
      const fresh = rows.filter(({ shown }) => !conditionsOf(shown).includes("Stale"));
      const sum = (of: (account: AccountView) => number, over = fresh): number =>
        over.reduce((all, { account }) => all + of(account), 0);
      expect(totals?.reserved.cpu).toBeCloseTo(
        sum(({ reserved }) => reserved.cpuMillis / 1000),
        6,
      );
      expect(totals?.available.memory).toBe(sum(({ available }) => available.memoryBytes));
      expect(totals?.live).toBe(sum(({ asProvider }) => asProvider.size, rows));
      const isReady = ({ shown }: Row): boolean => conditionsOf(shown).every((type) => type === "Overuse");
      expect(totals?.ready).toBe(rows.filter(isReady).length);
    }),
    { numRuns: LONG },
  );
});

function conditionsOf({ standing }: AdvertisementDTO): string[] {
  return (standing?.conditions ?? []).map(({ type }) => type);
}
