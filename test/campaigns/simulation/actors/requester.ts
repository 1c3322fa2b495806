import { resourceVector } from "@resource-broker/base";
import {
  type Command,
  ENDED_RETENTION_MS,
  type Reply,
  type Reservation,
  type ReservationRequest,
  type Waiting,
} from "@resource-broker/domain";
import type { SeededRandom } from "@resource-broker/testkit";
import type { Findings } from "../environment/findings.ts";
import type { ApiCall, ApiReply, Network } from "../environment/network.ts";
import type { Scheduler } from "../environment/scheduler.ts";

const GI = 2 ** 30;
const LONGEST_PAUSE_MS = 3000;

export interface RequesterDeps {
  readonly name: string;
  /** Every cluster there is. */
  readonly others: readonly string[];
  readonly network: Network;
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  /** Present: some of its requests wait for capacity. */
  readonly waiting?: SeededRandom;
  readonly findings: Findings;
  /** An admin evicted this cluster at some time: it may be refused. */
  readonly wasEvicted: () => boolean;
}

/** What a cluster wants, under one key, and what it has been told of it. */
interface Order {
  readonly key: string | undefined;
  readonly request: ReservationRequest;
  readonly wait?: { readonly forMs: number };
  readonly namespace?: string;
  /** Takes over the place of a reservation that was preempted. */
  readonly resumes?: string;
  waiting?: Waiting;
  reservation: Reservation | undefined;
  isKeyReleased: boolean;
}

/** A cluster's agent in its role as requester: keeps asking until it is answered, whatever happens. */
export class Requester {
  readonly #deps: RequesterDeps;
  readonly #orders: Order[] = [];
  /** Calls that nobody has answered yet and that are still being made. */
  #open = 0;

  constructor(deps: RequesterDeps) {
    this.#deps = deps;
  }

  get name(): string {
    return this.#deps.name;
  }

  get open(): number {
    return this.#open;
  }

  /** Does one of the things that requesters do. */
  act(): void {
    const { random } = this.#deps;
    const [order, roll] = [random.pick(this.#orders), random.below(100)];
    if (order === undefined || roll < 40) return this.#reserve(this.#newOrder());
    if (roll < 50 && order.key !== undefined) return this.#reserve(order);
    if (roll < 55) return this.#releaseByKey(order);
    if (order.reservation === undefined && order.waiting !== undefined)
      return this.#leave(order.waiting, roll);
    if (order.reservation === undefined) return this.#reserve(this.#newOrder());
    this.#carryOn(order.reservation, roll);
  }

  /** One last request that is as easy to serve as any. */
  requestMinimum(): void {
    this.#reserve(this.#addOrder(true, request(1, 1, 0)));
  }

  readonly observe = (reservation: Reservation): void => {
    const order = this.#orders.find((each) => each.reservation?.id === reservation.id);
    if (order?.reservation !== undefined && order.reservation.generation < reservation.generation)
      order.reservation = reservation;
    if (order !== undefined && reservation.reason === "Preempted") this.#askAgain(order, reservation.id);
  };

  /** What had to give way is asked for again, once. */
  #askAgain({ request, wait, namespace }: Order, id: string): void {
    if (wait === undefined || this.#orders.some(({ resumes }) => resumes === id)) return;
    const order: Order = {
      key: `key-${this.#orders.length}`,
      request,
      wait,
      ...(namespace === undefined ? {} : { namespace }),
      resumes: id,
      reservation: undefined,
      isKeyReleased: false,
    };
    this.#orders.push(order);
    this.#reserve(order);
  }

  #carryOn({ id }: Reservation, roll: number): void {
    const { random, name } = this.#deps;
    const by = { clusterId: name, isAdmin: false };
    if (roll < 65) this.#command({ kind: "activate", by, id });
    else if (roll < 75) this.#command({ kind: "renew", by, id, durationMs: 1000 * (1 + random.below(120)) });
    else if (roll < 92) this.#command({ kind: "release", by, id });
    else
      this.#callUntilAnswered({ kind: "read", by, id }, (answer) => {
        if (answer.kind === "reservation" && answer.reservation !== undefined)
          this.observe(answer.reservation);
      });
  }

  #newOrder(): Order {
    const { random, others, waiting } = this.#deps;
    const target = random.chance(0.15) ? random.pick(others) : undefined;
    const excluded = random.chance(0.1) ? random.pick(others) : undefined;
    return this.#addOrder(random.chance(0.85), {
      ...request(1 + random.below(4), 1 + random.below(8), random.chance(0.1) ? 1 : 0),
      priority: random.below(3),
      ...(waiting?.chance(0.3) === true ? { tier: "spot" } : {}),
      constraints: excluded === undefined ? {} : { excludeClusters: [excluded] },
      ...(random.chance(0.7) ? { durationMs: 500 + random.below(90_000) } : {}),
      ...(target === undefined ? {} : { target }),
    });
  }

  #addOrder(hasKey: boolean, wanted: ReservationRequest): Order {
    const key = hasKey ? `key-${this.#orders.length}` : undefined;
    const order: Order = {
      key,
      request: wanted,
      ...(key === undefined ? {} : this.#patience()),
      reservation: undefined,
      isKeyReleased: false,
    };
    this.#orders.push(order);
    return order;
  }

  /** How long this request waits for capacity, if it does. */
  #patience(): Pick<Order, "wait" | "namespace"> {
    const { waiting } = this.#deps;
    if (waiting?.chance(0.6) !== true) return {};
    const namespace = waiting.chance(0.5) ? { namespace: "ml" } : {};
    return { wait: { forMs: 1000 * (1 + waiting.below(90)) }, ...namespace };
  }

  /** Leaves the queue, or asks again. */
  #leave({ id }: Waiting, roll: number): void {
    const by = { clusterId: this.#deps.name, isAdmin: false };
    if (roll < 70) this.#command({ kind: "release", by, id });
    else this.#reserve(this.#newOrder());
  }

  #reserve(order: Order): void {
    const { name, network } = this.#deps;
    const { key, request, wait, namespace, resumes } = order;
    const more = {
      ...(wait === undefined ? {} : { wait }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(resumes === undefined ? {} : { resumes }),
    };
    if (key === undefined) {
      // Without a key an unanswered request cannot be repeated: it may have booked something already.
      network.call(name, { kind: "reserve", requester: name, request }, (answer) => {
        if (answer?.kind === "reply") this.#wasAnswered(order, answer.reply);
      });
      return;
    }
    this.#callUntilAnswered({ kind: "reserve", requester: name, request, key, ...more }, (answer) => {
      if (answer.kind === "reply") this.#wasAnswered(order, answer.reply);
    });
  }

  #releaseByKey(order: Order): void {
    if (order.key === undefined) return;
    order.isKeyReleased = true;
    this.#command({ kind: "release-by-key", requester: this.#deps.name, key: order.key });
  }

  #command(command: Exclude<Command, { kind: "reserve" }>): void {
    this.#callUntilAnswered({ kind: "command", command }, (answer) => {
      if (answer.kind === "reply" && answer.reply.kind === "current") this.observe(answer.reply.reservation);
    });
  }

  #wasAnswered(order: Order, reply: Reply): void {
    if (reply.kind === "granted" || reply.kind === "current")
      return this.#wasGranted(order, reply.reservation);
    if (reply.kind === "waiting") return this.#waits(order, reply.waiting);
    const isExpected =
      reply.kind === "rejected" ? this.#mayReject(order, reply.code) : reply.kind === "refused";
    this.#deps.findings.expect(
      isExpected,
      () => `${order.key} of ${this.name} was answered with ${JSON.stringify(reply)}`,
    );
  }

  #mayReject({ isKeyReleased, wait }: Order, code: string): boolean {
    if (isKeyReleased || (code === "wrong-instance" && this.#deps.wasEvicted())) return true;
    // Whoever is released from the queue, by an admin too, has its key closed.
    return wait !== undefined && ["queue-full", "key-released"].includes(code);
  }

  #waits(order: Order, waiting: Waiting): void {
    this.#deps.findings.expect(
      order.wait !== undefined,
      () => `${order.key} of ${this.name} waits, and was not to`,
    );
    order.waiting = waiting;
  }

  /** One key is one reservation, always the same, until it has ended and a day has passed. */
  #wasGranted(order: Order, { id, provider, createdAt, ...rest }: Reservation): void {
    const { reservation: known } = order;
    const isSame = known === undefined || (known.id === id && known.provider === provider);
    this.#deps.findings.expect(
      isSame || createdAt - known.createdAt >= ENDED_RETENTION_MS,
      () => `${order.key} of ${this.name} was ${known?.id} at ${known?.provider} and is ${id} at ${provider}`,
    );
    if (known === undefined || known.generation <= rest.generation || createdAt > known.createdAt)
      order.reservation = { id, provider, createdAt, ...rest };
  }

  /** Asks again and again until somebody answers. */
  #callUntilAnswered(ask: ApiCall, answered: (answer: ApiReply) => void): void {
    const { name, network, scheduler, random } = this.#deps;
    this.#open++;
    const attempt = (): void =>
      network.call(name, ask, (answer) => {
        if (answer === undefined || answer.kind === "busy") {
          scheduler.after(random.below(LONGEST_PAUSE_MS), `${name} tries again`, attempt);
          return;
        }
        this.#open--;
        answered(answer);
      });
    attempt();
  }
}

function request(cpu: number, memoryGi: number, gpus: number): ReservationRequest {
  const resources = resourceVector({ cpuMillis: cpu * 1000, memoryBytes: memoryGi * GI, gpus });
  return { resources, priority: 0, constraints: {}, tier: "on-demand" };
}
