import { resourceVector } from "@resource-broker/base";
import type { CommitBatch, CommitEntry } from "@resource-broker/broker";
import {
  type Advertisement,
  apply,
  type Command,
  DEFAULT_POLICY,
  decide,
  emptyLedger,
  isSoft,
  type Ledger,
  type LedgerEvent,
  type Policy,
  type ReceivedAdvertisement,
  type ReservationRequest,
} from "@resource-broker/domain";
import { recordsOf } from "@resource-broker/domain/testing";

/**
 * These histories advance by days: with the default staleness hardly anything would be granted. A few requesters
 * represent many.
 */
const POLICY: Policy = { ...DEFAULT_POLICY, stalenessMs: Number.POSITIVE_INFINITY, defaultQuota: {} };

export const ADMIN = { clusterId: "ops", isAdmin: true };

/** A command, or what makes one of the story so far. */
export type Step = Command | ((story: LedgerDriver) => Command | undefined);

/** A live ledger that real commands run on, and the batches a store is to make durable. */
export class LedgerDriver {
  readonly ledger: Ledger = emptyLedger();
  now = Date.UTC(2026, 0, 5, 12);
  commitNumber = 0;

  /** The newest of each cluster: what is to be written behind. */
  get advertisements(): readonly ReceivedAdvertisement[] {
    return recordsOf(this.ledger).advertisements;
  }

  /** Decides the commands one after the other, as one batch. Undefined when nothing durable came of it. */
  batch(...steps: readonly Step[]): CommitBatch | undefined {
    const entries = steps.flatMap((step) => this.#run(typeof step === "function" ? step(this) : step));
    if (entries.length === 0) return undefined;
    this.commitNumber++;
    return { number: this.commitNumber, at: this.now, entries };
  }

  #run(command: Command | undefined): CommitEntry[] {
    if (command === undefined) return [];
    const { events } = decide(this.ledger, command, { now: this.now, policy: POLICY });
    for (const event of events) apply(this.ledger, event);
    const durable = events.filter((event) => !isSoft(event));
    return durable.length === 0 ? [] : [{ by: callerOf(command), action: command.kind, events: durable }];
  }
}

export function eventsOf(batch: CommitBatch): LedgerEvent[] {
  return batch.entries.flatMap(({ events }) => events);
}

export function clusterOf(clusterId: string, cpu: number, more: Partial<Advertisement> = {}): Advertisement {
  const allocatable = resourceVector({ cpuMillis: cpu * 1000, memoryBytes: cpu * 4 * 2 ** 30 });
  return {
    clusterId,
    capacity: allocatable,
    allocatable,
    allocated: resourceVector({}),
    usage: [],
    nodeShapes: [],
    gpuModels: [],
    labels: {},
    protocol: 2,
    ...more,
  };
}

export function requestFor(cpu: number, more: Partial<ReservationRequest> = {}): ReservationRequest {
  const resources = resourceVector({ cpuMillis: cpu * 1000, memoryBytes: 2 ** 30 });
  return { resources, priority: 0, constraints: {}, tier: "on-demand", ...more };
}

/** A request with its key; the ids follow from both. */
export function reserve(requester: string, key: string, request: ReservationRequest): Command {
  const name = `${requester}-${Buffer.from(key).toString("hex").slice(0, 16)}`;
  return {
    kind: "reserve",
    requester,
    request,
    key,
    reservationId: `rsv-${name}`,
    decisionId: `dec-${name}`,
  };
}

function callerOf(command: Command): string {
  if ("by" in command) return command.by.clusterId;
  if ("requester" in command) return command.requester;
  return command.kind === "advertise" ? command.advertisement.clusterId : "broker";
}
