import { type KnownName, RESOURCES } from "@resource-broker/base";

/** What long lists can be sorted and filtered by. */

export const CLUSTER_SORTS = [
  "id",
  "region",
  "cpu",
  "memory",
  "gpu",
  "price",
  "heard",
  "lends",
  "borrows",
] as const;
export type ClusterSort = (typeof CLUSTER_SORTS)[number];

export const CLUSTER_STATES = ["ready", "stale", "cordoned", "overcommitted"] as const;
export type ClusterState = (typeof CLUSTER_STATES)[number];

export const RESERVATION_SORTS = [
  "created",
  "expires",
  "id",
  "requester",
  "provider",
  "phase",
  "cpu",
  "memory",
  "gpu",
  "cost",
] as const;
export type ReservationSort = (typeof RESERVATION_SORTS)[number];

/** Besides a phase: those that hold capacity, and those of them that are under notice. */
export const PHASE_GROUPS = ["live", "preempting"] as const;

export const QUEUE_SORTS = [
  "position",
  "created",
  "until",
  "requester",
  "priority",
  "cpu",
  "memory",
  "gpu",
] as const;
export type QueueSort = (typeof QUEUE_SORTS)[number];

export const REFUSED_SORTS = [
  "last",
  "first",
  "attempts",
  "requester",
  "priority",
  "cpu",
  "memory",
  "gpu",
] as const;
export type RefusedSort = (typeof REFUSED_SORTS)[number];

export const OUTCOMES = ["granted", "refused"] as const;

export const HISTORY_WINDOWS = ["hour", "day", "week"] as const;
export type HistoryWindow = (typeof HISTORY_WINDOWS)[number];

/** Resources that totals and flows count. */
export const COUNTED_RESOURCES: readonly KnownName[] = RESOURCES.map(({ name }) => name);
