import {
  CLUSTER_SORTS,
  CLUSTER_STATES,
  type ClusterSort,
  type ClusterState,
} from "@resource-broker/contract/dashboard";
import { withQuery } from "../net/query.ts";
import { readOffset } from "../routing/route.ts";

export const PAGE_SIZE = 50;

export interface FleetQuery {
  readonly q: string;
  /** "all": in any state. */
  readonly state: ClusterState | "all";
  readonly sort: ClusterSort;
  readonly order: "asc" | "desc";
  readonly offset: number;
}

/** What stands in the address bar; what makes no sense there is left out. */
export function readFleetQuery(query: URLSearchParams): FleetQuery {
  return {
    q: query.get("q") ?? "",
    state: CLUSTER_STATES.find((state) => state === query.get("state")) ?? "all",
    sort: CLUSTER_SORTS.find((sort) => sort === query.get("sort")) ?? "id",
    order: query.get("order") === "desc" ? "desc" : "asc",
    offset: readOffset(query),
  };
}

export function fleetPath({ q, state, sort, order, offset }: FleetQuery): string {
  return withQuery("/ui/clusters", {
    q,
    state: state === "all" ? null : state,
    sort,
    order,
    offset: offset === 0 ? null : offset,
    limit: PAGE_SIZE,
  });
}

export function isFiltered({ q, state }: FleetQuery): boolean {
  return q !== "" || state !== "all";
}
