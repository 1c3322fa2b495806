import {
  type Instant,
  type Kept,
  type LedgerEvent,
  type Policy,
  type Reservation,
  type ReservationId,
  shareOf,
  tenantOf,
} from "@resource-broker/domain";
import type { MetricsRegistry } from "@resource-broker/runtime";
import type { Committed } from "../engine/engine.ts";
import type { MetricsSource } from "./metrics.ts";

/** Label for all tenants that the policy does not name: clusters that are tenants of their own. */
const OTHER = "other";

const HOUR_S = 3600;
const START_ERROR_BUCKETS = [-4 * HOUR_S, -HOUR_S, -600, -60, -1, 1, 60, 600, HOUR_S, 4 * HOUR_S];
const WAIT_BUCKETS = [1, 10, 60, 300, 900, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600];

/** How a request leaves the queue without a grant. */
const LEFT_REASONS = ["ReleasedByRequester", "ReleasedByAdmin", "RequesterLost", "WaitTimeout"] as const;

interface QueueMetricsDeps {
  readonly registry: MetricsRegistry;
  readonly source: () => MetricsSource | undefined;
}

interface QueueMetrics {
  /** Counts what a commit changed in the queue. */
  readonly committed: (commit: Committed) => void;
  /** The starts that are expected now. */
  readonly planned: (plans: readonly Kept[]) => void;
}

export function queueMetrics({ registry, source }: QueueMetricsDeps): QueueMetrics {
  registerQueueGauges({ registry, source });
  const starts = startErrors(registry);
  const grants = new Map<string, number>();
  registry.collector(
    {
      name: "broker_queue_grants_total",
      help: "Requests that waited and were granted, by tenant of the policy.",
      type: "counter",
    },
    () => {
      // A series that begins above 0 hides its first grant, and the queue looks stuck.
      for (const tenant of labelsIn(source()?.engine.policy)) grants.set(tenant, grants.get(tenant) ?? 0);
      return Array.from(grants, ([tenant, value]) => ({ labels: { tenant }, value }));
    },
  );
  const waits = registry.histogram({
    name: "broker_queue_wait_seconds",
    help: "Time that granted requests had waited.",
    buckets: WAIT_BUCKETS,
  });
  const left = registry.counter({
    name: "broker_queue_left_total",
    help: "Requests that left the queue without a grant, by reason.",
    isLabelled: true,
  });
  for (const reason of LEFT_REASONS) left.inc({ reason }, 0);

  const count = (event: LedgerEvent): void => {
    if (event.kind === "unqueued") {
      left.inc({ reason: event.reason });
      starts.left(event.id);
    }
    if (event.kind !== "granted" || !hasWaited(event)) return;
    starts.granted(event.reservation);
    const { requester, tenant = requester, createdAt, reservedAt } = event.reservation;
    const label = labelFor(tenant, source()?.engine.policy);
    grants.set(label, (grants.get(label) ?? 0) + 1);
    waits.observe((reservedAt - createdAt) / 1000);
  };
  return {
    committed: ({ events }) => {
      for (const event of events) count(event);
    },
    planned: starts.planned,
  };
}

/** How far the first start that was computed for a request was from its grant. */
function startErrors(registry: MetricsRegistry) {
  const errors = registry.histogram({
    name: "broker_queue_start_error_seconds",
    help: "Grants after the start that was computed first for the request: above 0 it was granted later, below 0 earlier; those never planned, or planned before this broker started, do not count.",
    buckets: START_ERROR_BUCKETS,
  });
  const first = new Map<ReservationId, Instant>();
  return {
    planned: (plans: readonly Kept[]): void => {
      for (const { id, from } of plans) if (from !== undefined && !first.has(id)) first.set(id, from);
    },
    granted: ({ id, reservedAt }: Reservation): void => {
      const expected = first.get(id);
      if (expected !== undefined) errors.observe((reservedAt - expected) / 1000);
      first.delete(id);
    },
    left: (id: ReservationId): void => void first.delete(id),
  };
}

/** A reservation that was never anything else has generation 1 when it is granted. */
function hasWaited({ reservation }: Extract<LedgerEvent, { readonly kind: "granted" }>): boolean {
  return reservation.generation > 1;
}

function registerQueueGauges({ registry, source }: QueueMetricsDeps): void {
  const perTenant = (name: string, help: string, of: (tenant: TenantQueue) => number): void =>
    registry.collector({ name, help, type: "gauge" }, () =>
      Array.from(tenantQueues(source()), ([tenant, queue]) => ({ labels: { tenant }, value: of(queue) })),
    );
  perTenant(
    "broker_queue_length",
    "Requests that wait for capacity, by tenant of the policy; `other`: clusters that no tenant claims.",
    ({ length }) => length,
  );
  perTenant(
    "broker_queue_oldest_seconds",
    "How long the oldest of them has waited; 0 where none waits.",
    ({ oldestMs }) => oldestMs / 1000,
  );
  registry.collector(
    {
      name: "broker_tenant_share",
      help: "The largest part of a resource of the fleet that a tenant of the policy holds, divided by its weight; `other`: the largest of all clusters that no tenant claims.",
      type: "gauge",
    },
    () => Array.from(tenantShares(source()), ([tenant, value]) => ({ labels: { tenant }, value })),
  );
}

interface TenantQueue {
  length: number;
  oldestMs: number;
}

/** Every tenant of the policy, also those of whom nobody waits: a series that comes and goes hides a change. */
function tenantQueues(source: MetricsSource | undefined): Map<string, TenantQueue> {
  const queues = new Map<string, TenantQueue>();
  if (source === undefined) return queues;
  const { ledger, policy } = source.engine;
  const now = source.engine.now();
  for (const tenant of labelsIn(policy)) queues.set(tenant, { length: 0, oldestMs: 0 });
  for (const { requester, namespace, entries } of ledger.waiting.lines()) {
    const queue = queues.get(labelFor(tenantOf(policy, requester, namespace), policy));
    const [oldest] = entries;
    if (queue === undefined || oldest === undefined) continue;
    queue.length += entries.length;
    queue.oldestMs = Math.max(queue.oldestMs, now - oldest.since);
  }
  return queues;
}

function tenantShares(source: MetricsSource | undefined): Map<string, number> {
  const shares = new Map<string, number>();
  if (source === undefined) return shares;
  const { ledger, policy } = source.engine;
  for (const tenant of labelsIn(policy)) shares.set(tenant, 0);
  for (const tenant of ledger.tenants.keys()) {
    const label = labelFor(tenant, policy);
    shares.set(label, Math.max(shares.get(label) ?? 0, shareOf(ledger, tenant, policy)));
  }
  return shares;
}

function labelsIn(policy: Policy | undefined): string[] {
  return [OTHER, ...Object.keys(policy?.tenants ?? {})];
}

function labelFor(tenant: string, policy: Policy | undefined): string {
  return policy !== undefined && Object.hasOwn(policy.tenants, tenant) ? tenant : OTHER;
}
