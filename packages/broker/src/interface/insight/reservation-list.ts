import { Fault } from "@resource-broker/base";
import { PHASE_GROUPS, RESERVATION_SORTS, type ReservationSort } from "@resource-broker/contract";
import { isLive, PHASES, type Phase, type Reservation } from "@resource-broker/domain";
import type { Engine } from "../../engine/engine.ts";
import { type ListQuery, type Query, readListQuery, type SortKey, sortRows, textOf } from "../http/query.ts";

export interface ReservationQuery extends ListQuery<ReservationSort> {
  /** Undefined: in any phase. */
  readonly phases: ReadonlySet<Phase | "preempting"> | undefined;
  readonly requester: string;
  readonly provider: string;
  /** Either party. */
  readonly cluster: string;
}

const RULES = { sorts: RESERVATION_SORTS, defaultSort: "created", descendingSort: "created" } as const;
const PREEMPTING = "preempting";

export function readReservationQuery(query: Query): ReservationQuery {
  return {
    ...readListQuery(query, RULES),
    phases: phasesOf(query.all("phase").filter((word) => word !== "")),
    requester: textOf(query, "requester"),
    provider: textOf(query, "provider"),
    cluster: textOf(query, "cluster"),
  };
}

function phasesOf(words: readonly string[]): ReservationQuery["phases"] {
  if (words.length === 0) return undefined;
  const phases = new Set<Phase | typeof PREEMPTING>();
  for (const word of words) {
    const named = PHASES.filter((phase) => (word === "live" ? isLive(phase) : phase === word));
    if (named.length === 0 && word !== PREEMPTING)
      throw new Fault("invalid", `phase must be one of ${[...PHASE_GROUPS, ...PHASES].join(", ")}`);
    for (const phase of word === PREEMPTING ? ([PREEMPTING] as const) : named) phases.add(phase);
  }
  return phases;
}

export interface ReservationSlice {
  readonly rows: readonly Reservation[];
  /** How many match, on all pages. */
  readonly total: number;
}

/**
 * Pages of reservations. Sorting ten thousand rows takes longer than everything else, and a filter does not change the
 * order: it is done once for each commit.
 */
export function reservationLists(
  engine: Pick<Engine, "ledger" | "commitNumber">,
): (query: ReservationQuery, isVisible: (reservation: Reservation) => boolean) => ReservationSlice {
  let sortedAt = -1;
  const sorted = new Map<string, readonly Reservation[]>();

  const inOrder = ({ sort, isDescending }: ReservationQuery): readonly Reservation[] => {
    if (sortedAt !== engine.commitNumber) sorted.clear();
    sortedAt = engine.commitNumber;
    const name = `${sort} ${isDescending}`;
    const rows =
      sorted.get(name) ??
      sortRows(engine.ledger.reservations.values(), KEYS[sort], { nameOf: ({ id }) => id, isDescending });
    sorted.set(name, rows);
    return rows;
  };

  return (query, isVisible) => {
    const { offset, limit } = query;
    const matching = inOrder(query).filter((each) => isWanted(each, query) && isVisible(each));
    return { rows: matching.slice(offset, offset + limit), total: matching.length };
  };
}

const KEYS: Readonly<Record<ReservationSort, (reservation: Reservation) => SortKey>> = {
  created: ({ createdAt }) => createdAt,
  expires: ({ expiresAt }) => expiresAt,
  id: ({ id }) => id,
  requester: ({ requester }) => requester,
  provider: ({ provider }) => provider,
  phase: ({ phase }) => PHASES.indexOf(phase),
  cpu: ({ granted }) => granted.cpuMillis,
  memory: ({ granted }) => granted.memoryBytes,
  gpu: ({ granted }) => granted.gpus,
  cost: ({ cost }) => cost?.perHour,
};

function isWanted(reservation: Reservation, query: ReservationQuery): boolean {
  const { phases, text } = query;
  if (phases !== undefined && !isIn(phases, reservation)) return false;
  return isBetween(reservation, query) && matchesText(reservation, text);
}

function isIn(phases: NonNullable<ReservationQuery["phases"]>, { phase, preemption }: Reservation): boolean {
  return phases.has(phase) || (phases.has(PREEMPTING) && preemption !== undefined && isLive(phase));
}

function isBetween({ requester, provider }: Reservation, wanted: ReservationQuery): boolean {
  if (wanted.requester !== "" && requester !== wanted.requester) return false;
  if (wanted.provider !== "" && provider !== wanted.provider) return false;
  return wanted.cluster === "" || requester === wanted.cluster || provider === wanted.cluster;
}

function matchesText({ id, requester, provider }: Reservation, text: string): boolean {
  return text === "" || id.includes(text) || requester.includes(text) || provider.includes(text);
}
