import type { CommitBatch, CommitEntry } from "@resource-broker/broker";
import {
  type Advertisement,
  type Command,
  DEFAULT_POLICY,
  isSoft,
  type LedgerEvent,
  type ReceivedAdvertisement,
  type ReservationRequest,
} from "@resource-broker/domain";
import { cluster, openWorld, recordsOf, request } from "@resource-broker/domain/testing";

/** A command, or what makes one of the ledger as it is when the commands before it have run. */
type Step = Command | (() => Command | undefined);

/** A live ledger that real commands run on, and the batches a store is to make durable. */
export class LedgerDriver {
  /**
   * These histories advance by days: with the default staleness hardly anything would be granted. A few requesters
   * represent many. Whoever cannot be served is nominated at the second look.
   */
  readonly world = openWorld({
    stalenessMs: 1e12,
    defaultQuota: {},
    queue: { ...DEFAULT_POLICY.queue, holdAfterMs: 0 },
    preemption: { ...DEFAULT_POLICY.preemption, victims: "spot" },
  });
  readonly ledger = this.world.ledger;
  commitNumber = 0;

  get now(): number {
    return this.world.now;
  }

  set now(moment: number) {
    this.world.now = moment;
  }

  /** The newest of each cluster: what is to be written behind. */
  get advertisements(): readonly ReceivedAdvertisement[] {
    return recordsOf(this.ledger).advertisements;
  }

  /** Decides the commands one after the other, as one batch. Undefined when nothing durable came of it. */
  batch(...steps: readonly Step[]): CommitBatch | undefined {
    const entries = steps.flatMap((step) => this.#run(typeof step === "function" ? step() : step));
    if (entries.length === 0) return undefined;
    this.commitNumber++;
    return { number: this.commitNumber, at: this.world.now, entries };
  }

  #run(command: Command | undefined): CommitEntry[] {
    if (command === undefined) return [];
    const durable = this.world.run(command).events.filter((event) => !isSoft(event));
    return durable.length === 0 ? [] : [{ by: callerOf(command), action: command.kind, events: durable }];
  }
}

export function eventsOf(batch: CommitBatch): LedgerEvent[] {
  return batch.entries.flatMap(({ events }) => events);
}

export function clusterOf(clusterId: string, cpu: number, more: Partial<Advertisement> = {}): Advertisement {
  return cluster(clusterId, { cpu, memoryGi: cpu * 4, more });
}

export function requestFor(cpu: number, more: Partial<ReservationRequest> = {}): ReservationRequest {
  return request({ cpu, memoryGi: 1 }, more);
}

/** A request with its key; the ids follow from both. */
export function reserve(requester: string, key: string, wanted: ReservationRequest): Reserve {
  const name = `${requester}-${Buffer.from(key).toString("hex").slice(0, 16)}`;
  return {
    kind: "reserve",
    requester,
    request: wanted,
    key,
    reservationId: `rsv-${name}`,
    decisionId: `dec-${name}`,
  };
}

type Reserve = Extract<Command, { readonly kind: "reserve" }>;

/** A request that waits if there is no capacity now. */
export function reserveOrWait(
  requester: string,
  key: string,
  { forMs, ...wanted }: ReservationRequest & { readonly forMs: number },
): Reserve {
  return { ...reserve(requester, key, wanted), wait: { forMs }, namespace: "team-a", protocol: 3 };
}

/** Looks whether a waiting request fits, and grants it. */
export function admit(decisionId: string): Command {
  return { kind: "admit", decisionId };
}

function callerOf(command: Command): string {
  if ("by" in command) return command.by.clusterId;
  if ("requester" in command) return command.requester;
  return command.kind === "advertise" ? command.advertisement.clusterId : "broker";
}
