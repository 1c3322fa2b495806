import { RESERVATION_SORTS, type ReservationSort, type UiPhase } from "@resource-broker/contract/dashboard";
import { withQuery } from "../net/query.ts";
import { readOffset } from "../routing/route.ts";

export const PAGE_SIZE = 50;

/** "live": Pending, Reserved and Active. */
export type PhaseFilter = UiPhase | "live" | "all";

export const PHASE_FILTERS: readonly { readonly name: PhaseFilter; readonly title: string }[] = [
  { name: "all", title: "All" },
  { name: "live", title: "Live" },
  { name: "Pending", title: "Pending" },
  { name: "Reserved", title: "Reserved" },
  { name: "Active", title: "Active" },
  { name: "Released", title: "Released" },
  { name: "Failed", title: "Failed" },
];

export interface ReservationsQuery {
  readonly q: string;
  readonly phase: PhaseFilter;
  readonly requester: string;
  readonly provider: string;
  readonly cluster: string;
  readonly sort: ReservationSort;
  readonly order: "asc" | "desc";
  readonly offset: number;
}

export function readReservationsQuery(query: URLSearchParams): ReservationsQuery {
  const sort = RESERVATION_SORTS.find((each) => each === query.get("sort")) ?? "created";
  const text = (name: string): string => query.get(name) ?? "";
  return {
    q: text("q"),
    phase: PHASE_FILTERS.find(({ name }) => name === query.get("phase"))?.name ?? "all",
    requester: text("requester"),
    provider: text("provider"),
    cluster: text("cluster"),
    sort,
    order: orderOf(query.get("order"), sort),
    offset: readOffset(query),
  };
}

/** The newest first, everything else from the start. */
function orderOf(order: string | null, sort: ReservationSort): "asc" | "desc" {
  if (order === "asc" || order === "desc") return order;
  return sort === "created" ? "desc" : "asc";
}

export function reservationsPath(query: ReservationsQuery): string {
  return withQuery("/ui/reservations", {
    ...query,
    phase: query.phase === "all" ? null : query.phase,
    offset: query.offset === 0 ? null : query.offset,
    limit: PAGE_SIZE,
  });
}

export function isFiltered({ q, phase, requester, provider, cluster }: ReservationsQuery): boolean {
  return [q, requester, provider, cluster].some((each) => each !== "") || phase !== "all";
}
