import {
  apply,
  type Command,
  decide,
  emptyLedger,
  isSoft,
  type LedgerEvent,
  type Policy,
  type Reply,
  type Reservation,
  type ReservationRequest,
} from "@resource-broker/domain";
import { cluster, request } from "@resource-broker/domain/testing";
import { Agenda } from "./agenda.ts";
import type { FleetCluster, Job } from "./job-trace.ts";

const STARTS_AT = Date.UTC(2026, 0, 5);
/** Twice within the default staleness: nobody becomes stale. */
const ADVERTISE_EVERY_MS = 60_000;

export interface FleetSimulationOptions {
  readonly clusters: readonly FleetCluster[];
  readonly policy: Policy;
  /** By the IDs of their reservations, which are those of the jobs. */
  readonly jobs: ReadonlyMap<string, Job>;
}

/**
 * A fleet on the broker's own ledger, in simulated time: clusters advertise, reservations end and are torn down, and their
 * capacity is back when the provider's next advertisement no longer lists them.
 */
export class FleetSimulation {
  readonly ledger = emptyLedger();
  readonly policy: Policy;
  now = STARTS_AT;
  /** After everything that happens at one moment. */
  afterStep: () => void = () => {};
  onGranted: (reservation: Reservation) => void = () => {};
  onUnqueued: (id: string) => void = () => {};
  /** Durable events, by kind: what a broker would have written. */
  readonly written = new Map<string, number>();
  readonly #agenda = new Agenda();
  readonly #clusters: ReadonlyMap<string, FleetCluster>;
  readonly #jobs: ReadonlyMap<string, Job>;
  /** What the agent of a provider lists. */
  readonly #held = new Map<string, Map<string, Job>>();
  #decisions = 0;

  constructor({ clusters, policy, jobs }: FleetSimulationOptions) {
    this.policy = policy;
    this.#jobs = jobs;
    this.#clusters = new Map(clusters.map((each) => [each.clusterId, each]));
    for (const [index, { clusterId }] of clusters.entries()) {
      this.#held.set(clusterId, new Map());
      this.advertise(clusterId);
      this.after(Math.floor((index * ADVERTISE_EVERY_MS) / clusters.length), () =>
        this.#keepAdvertising(clusterId),
      );
    }
  }

  /** Since the beginning. */
  get elapsedMs(): number {
    return this.now - STARTS_AT;
  }

  after(delayMs: number, run: () => void): void {
    this.#agenda.add(this.now + delayMs, run);
  }

  /** Decides a command, applies its events, and lets the agents do their part. */
  perform(command: Command): Reply {
    const { events, reply } = decide(this.ledger, command, this);
    for (const event of events) this.#apply(event);
    return reply;
  }

  newDecisionId(): string {
    return `dec-${++this.#decisions}`;
  }

  advertise(clusterId: string): void {
    const size = this.#clusters.get(clusterId);
    if (size === undefined) throw new Error(`the fleet has no ${clusterId}`);
    const usage = [...(this.#held.get(clusterId) ?? [])].map(([id, { cpus, memoryGi }]) => {
      const granted = { cpu: cpus, memoryGi };
      return { id, granted, used: granted };
    });
    const advertisement = cluster(clusterId, { cpu: size.cpus, memoryGi: size.memoryGi, usage });
    this.perform({ kind: "advertise", advertisement });
  }

  /** Moment after moment, until it is over. */
  run(isOver: () => boolean): void {
    while (!isOver()) {
      const next = Math.min(
        this.#agenda.earliest ?? Number.POSITIVE_INFINITY,
        this.ledger.deadlines.earliest?.at ?? Number.POSITIVE_INFINITY,
      );
      if (next === Number.POSITIVE_INFINITY) return;
      this.now = Math.max(this.now, next);
      this.#sweep();
      for (let run = this.#agenda.take(this.now); run !== undefined; run = this.#agenda.take(this.now)) run();
      this.afterStep();
    }
  }

  #sweep(): void {
    while ((this.ledger.deadlines.earliest?.at ?? Number.POSITIVE_INFINITY) <= this.now)
      this.perform({ kind: "expire-due" });
  }

  #keepAdvertising(clusterId: string): void {
    this.advertise(clusterId);
    this.after(ADVERTISE_EVERY_MS, () => this.#keepAdvertising(clusterId));
  }

  #apply(event: LedgerEvent): void {
    apply(this.ledger, event);
    if (!isSoft(event)) this.written.set(event.kind, (this.written.get(event.kind) ?? 0) + 1);
    if (event.kind === "granted") this.#hold(event.reservation);
    if (event.kind === "ended") this.#tearDown(event.id);
    if (event.kind === "unqueued") this.onUnqueued(event.id);
  }

  /** The agents of both sides do what they are told at once; who knows how long it lasts releases it. */
  #hold({ id, requester, provider, activateBy }: Reservation): void {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new Error(`${id} was granted, and nobody asked for it`);
    this.#held.get(provider)?.set(id, job);
    const by = { clusterId: requester, isAdmin: false };
    if (activateBy !== undefined) this.after(0, () => this.perform({ kind: "activate", by, id }));
    if (job.isOpenEnded) this.after(job.durationMs, () => this.perform({ kind: "release", by, id }));
    const reservation = this.ledger.reservations.get(id);
    if (reservation !== undefined) this.onGranted(reservation);
  }

  #tearDown(id: string): void {
    const provider = this.ledger.reservations.get(id)?.provider;
    if (provider === undefined) return;
    this.after(this.#jobs.get(id)?.teardownMs ?? 0, () => {
      this.#held.get(provider)?.delete(id);
      this.advertise(provider);
    });
  }
}

/** What a job asks of the broker. */
export function requestOf({ cpus, memoryGi, priority, durationMs, isOpenEnded }: Job): ReservationRequest {
  return request({ cpu: cpus, memoryGi }, { priority, ...(isOpenEnded ? {} : { durationMs }) });
}
