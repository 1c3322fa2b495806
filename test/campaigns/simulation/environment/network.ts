import type {
  Actor,
  ClusterId,
  Command,
  Reply,
  Reservation,
  ReservationId,
  ReservationRequest,
  Waiting,
} from "@resource-broker/domain";
import type { SeededRandom } from "@resource-broker/testkit";
import type { FaultRates } from "./faults.ts";
import type { Scheduler } from "./scheduler.ts";

const QUICK_MS = 20;
const DELAYED_MS = 4000;
const TIMEOUT_MS = 5000;
const LONGEST_PARTITION_MS = 60_000;

/** Who answers: absent while the broker is down. */
type Server = (ask: ApiCall, answer: (answer: ApiReply) => void) => void;

export interface NetworkDeps {
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly rates: FaultRates;
}

/** Between the clusters and the broker: messages are lost, come late, come twice, and overtake each other. */
export class Network {
  readonly #deps: NetworkDeps;
  readonly #cutUntil = new Map<string, number>();
  serve: Server = () => undefined;

  constructor(deps: NetworkDeps) {
    this.#deps = deps;
  }

  /** Asks the broker. Undefined: no answer came in time; what was asked may have happened or not. */
  call(from: string, ask: ApiCall, heard: (answer: ApiReply | undefined) => void): void {
    let isOpen = true;
    const hear = (answer: ApiReply | undefined): void => {
      if (!isOpen) return;
      isOpen = false;
      cancel();
      heard(answer);
    };
    const cancel = this.#deps.scheduler.after(TIMEOUT_MS, `${from} gives up waiting`, () => hear(undefined));
    this.#carry(from, `${ask.kind} of ${from} arrives`, () =>
      this.serve(ask, (answer) => this.#carry(from, `${from} hears`, () => hear(answer))),
    );
  }

  /** Tells a cluster something, perhaps. */
  push(to: string, deliver: () => void): void {
    this.#carry(to, `${to} is told`, deliver);
  }

  /** Nothing passes to or from this cluster for a while. */
  cut(cluster: string): void {
    const { scheduler, random } = this.#deps;
    this.#cutUntil.set(cluster, scheduler.now + random.below(LONGEST_PARTITION_MS));
  }

  heal(): void {
    this.#cutUntil.clear();
  }

  #carry(party: string, name: string, deliver: () => void): void {
    const { scheduler, random, rates } = this.#deps;
    const copies = random.chance(rates.duplicate) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      if (random.chance(rates.drop)) continue;
      const ms = (random.below(1000) / 1000) * (random.chance(rates.delay) ? DELAYED_MS : QUICK_MS);
      scheduler.after(ms, name, () => {
        if ((this.#cutUntil.get(party) ?? 0) <= scheduler.now) deliver();
      });
    }
  }
}

/** What a cluster sends to the broker: the API's calls, already parsed. */
export type ApiCall =
  | {
      readonly kind: "reserve";
      readonly requester: ClusterId;
      readonly request: ReservationRequest;
      readonly key?: string;
      readonly wait?: { readonly forMs: number };
      readonly namespace?: string;
      readonly resumes?: ReservationId;
    }
  | { readonly kind: "command"; readonly command: Exclude<Command, { readonly kind: "reserve" }> }
  | { readonly kind: "read"; readonly by: Actor; readonly id: ReservationId }
  | { readonly kind: "read-free"; readonly clusterId: ClusterId }
  | { readonly kind: "read-queue"; readonly clusterId: ClusterId }
  | { readonly kind: "list-instructions"; readonly clusterId: ClusterId };

export type ApiReply =
  | { readonly kind: "reply"; readonly reply: Reply }
  /** Nothing was booked: the store does not work, or too much is waiting. */
  | { readonly kind: "busy" }
  | {
      readonly kind: "reservation";
      readonly reservation: Reservation | undefined;
      readonly waiting: Waiting | undefined;
    }
  /** The waiting requests of one cluster, in the order of the queue. */
  | { readonly kind: "queue"; readonly waiting: readonly Waiting[] }
  /** Free CPU; undefined: nothing is advertised. */
  | { readonly kind: "free"; readonly cpuMillis: number | undefined }
  | { readonly kind: "instructions"; readonly reservations: readonly Reservation[] };
