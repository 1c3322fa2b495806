import { type ResourceVector, resourceVector } from "@resource-broker/base";
import { type Advertisement, isLive, type Reservation, type ReservationUsage } from "@resource-broker/domain";
import { priced } from "@resource-broker/domain/testing";
import type { SeededRandom } from "@resource-broker/testkit";
import type { ApiCall, Network } from "../environment/network.ts";
import type { Scheduler } from "../environment/scheduler.ts";

const GI = 2 ** 30;
const ADVERTISE_EVERY_MS = 20_000;
const POLL_EVERY_MS = 15_000;
const RETRY_MS = 1000;

export interface ProviderBehaviour {
  readonly cpu: number;
  readonly gpus: number;
  /** 1: an agent of the first generation, which knows neither usage nor acknowledgements. */
  readonly protocol: 1 | 2 | 3;
  /** How often it says no to what was granted at its place. */
  readonly refuses: number;
  /** Its load and its guests change. */
  readonly isBusy: boolean;
  /** Of a CPU for an hour. */
  readonly price: number | undefined;
}

export interface ProviderDeps {
  readonly name: string;
  readonly network: Network;
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly behaviour: ProviderBehaviour;
}

interface HeldReservation {
  readonly granted: ResourceVector;
  readonly createdAt: number;
  used: ResourceVector;
  generation: number;
  isEnded: boolean;
}

/** A cluster's agent in its role as provider: says what it has, holds what was granted, and what its guests use. */
export class Provider {
  readonly #deps: ProviderDeps;
  /** Lives in the cluster: survives the agent. */
  readonly #reservations = new Map<string, HeldReservation>();
  #ownCpu = 0;
  #cpu: number;
  #instance = 0;
  #sequence = 0;
  #posted = 0;

  constructor(deps: ProviderDeps) {
    this.#deps = deps;
    this.#cpu = deps.behaviour.cpu;
  }

  get name(): string {
    return this.#deps.name;
  }

  /** Live reservations it knows of. */
  get held(): string[] {
    return [...this.#reservations].filter(([, { isEnded }]) => !isEnded).map(([id]) => id);
  }

  start(): void {
    this.#every(ADVERTISE_EVERY_MS, "advertises", () => this.advertise());
    this.#every(POLL_EVERY_MS, "polls", () => this.#poll());
  }

  /** The agent's process is replaced; its last word may come after the new one's first. */
  restart(): void {
    this.advertise();
    this.#instance++;
    this.#sequence = 0;
    this.advertise();
  }

  advertise(): void {
    this.#updateUsage();
    this.#post(this.#advertisement());
  }

  /** Until it is answered, or there is something newer to say. */
  #post(advertisement: Advertisement): void {
    const { name, network, scheduler, random } = this.#deps;
    const number = ++this.#posted;
    const send = (): void => {
      if (number !== this.#posted) return;
      network.call(name, { kind: "command", command: { kind: "advertise", advertisement } }, (answer) => {
        if (answer?.kind !== "reply")
          scheduler.after(random.below(RETRY_MS), `${name} advertises again`, send);
      });
    };
    send();
  }

  /** Nodes leave or come. */
  resize(): void {
    const { random, behaviour } = this.#deps;
    this.#cpu = random.below(behaviour.cpu * 2 + 1);
  }

  readonly observe = (reservation: Reservation): void => {
    const { id, provider, phase, generation, createdAt } = reservation;
    if (provider !== this.name) return;
    const known = this.#reservations.get(id);
    // A key that is used again a day after its end makes the same id, and counts generations from the beginning.
    const isAnother = known !== undefined && createdAt > known.createdAt;
    if (known === undefined || isAnother) {
      if (isLive(phase)) this.#accept(reservation);
      else if (isAnother) known.isEnded = true;
    } else if (known.generation < generation) {
      known.generation = generation;
      known.isEnded = !isLive(phase);
    }
  };

  #accept({ id, granted, generation, createdAt }: Reservation): void {
    const { random, behaviour, name } = this.#deps;
    this.#reservations.set(id, { granted, createdAt, used: resourceVector({}), generation, isEnded: false });
    if (behaviour.protocol === 1) return;
    const by = { clusterId: name, isAdmin: false };
    const isRefused = random.chance(behaviour.refuses);
    this.#send({
      kind: "command",
      command: isRefused
        ? { kind: "refuse", by, id, why: "no room after all" }
        : { kind: "acknowledge", by, id },
    });
  }

  #poll(): void {
    const { name, network } = this.#deps;
    network.call(name, { kind: "list-instructions", clusterId: name }, (answer) => {
      if (answer?.kind !== "instructions") return;
      for (const reservation of answer.reservations) this.observe(reservation);
      const listed = new Set(answer.reservations.map(({ id }) => id));
      // Ends are explicit: what is no longer listed is asked for by its name.
      for (const id of this.held) if (!listed.has(id)) this.#askFor(id);
    });
  }

  #askFor(id: string): void {
    const { name, network } = this.#deps;
    network.call(name, { kind: "read", by: { clusterId: name, isAdmin: false }, id }, (answer) => {
      if (answer?.kind === "reservation" && answer.reservation !== undefined)
        this.observe(answer.reservation);
    });
  }

  /** Pods come and go: also for a while after the end of what they were started for. */
  #updateUsage(): void {
    const { random, behaviour } = this.#deps;
    if (behaviour.isBusy) this.#ownCpu = random.below(4);
    for (const [id, hold] of this.#reservations) {
      if (!hold.isEnded && behaviour.isBusy)
        hold.used = share(hold.granted, random.pick([0, 0, 0.5, 1, 1.5]) ?? 0);
      else if (hold.isEnded && random.chance(0.5)) this.#reservations.delete(id);
    }
  }

  #advertisement(): Advertisement {
    const { name, behaviour } = this.#deps;
    this.#sequence++;
    const allocatable = resourceVector({
      cpuMillis: this.#cpu * 1000,
      memoryBytes: this.#cpu * 4 * GI,
      gpus: behaviour.gpus,
    });
    const isNewer = behaviour.protocol >= 2;
    const cost = behaviour.price === undefined ? {} : { cost: priced(behaviour.price) };
    return {
      clusterId: name,
      capacity: allocatable,
      allocatable,
      allocated: resourceVector({ cpuMillis: this.#ownCpu * 1000 }),
      usage: isNewer ? this.#usage() : [],
      nodeShapes: [],
      gpuModels: [],
      labels: {},
      ...cost,
      protocol: behaviour.protocol,
      ...(isNewer ? { instance: `${name}-${this.#instance}`, sequence: this.#sequence } : {}),
    };
  }

  #usage(): ReservationUsage[] {
    const { random, name } = this.#deps;
    const holds = [...this.#reservations].map(([reservationId, { granted, used }]) => ({
      reservationId,
      granted,
      used,
    }));
    if (!random.chance(0.1)) return holds;
    // Something the ledger has never heard of: made by hand, or for a broker that lost its memory.
    const unknown = resourceVector({ cpuMillis: 2000, memoryBytes: GI });
    return [...holds, { reservationId: `rsv-unknown-${name}`, granted: unknown, used: share(unknown, 0.5) }];
  }

  #send(ask: ApiCall): void {
    this.#deps.network.call(this.name, ask, () => undefined);
  }

  #every(milliseconds: number, what: string, act: () => void): void {
    const { scheduler, random, name } = this.#deps;
    const again = (): void => {
      act();
      scheduler.after(milliseconds / 2 + random.below(milliseconds), `${name} ${what}`, again);
    };
    scheduler.after(random.below(1000), `${name} ${what}`, again);
  }
}

function share({ cpuMillis, memoryBytes }: ResourceVector, part: number): ResourceVector {
  return resourceVector({
    cpuMillis: Math.floor(cpuMillis * part),
    memoryBytes: Math.floor(memoryBytes * part),
  });
}
