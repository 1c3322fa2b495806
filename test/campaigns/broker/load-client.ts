import { setTimeout as sleep } from "node:timers/promises";
import { decisionSchema, errorSchema, PATH, validate } from "@resource-broker/contract";
import {
  type BrokerClient,
  type BrokerReply,
  type CallOptions,
  reservationBody,
  type SeededRandom,
} from "@resource-broker/testkit";
import type { Gate } from "./gate.ts";
import { hearReply, type KnownBefore, knownOf } from "./hear-reply.ts";
import { isReservationHeld, isWaiting, newTrackedRequest, type TrackedRequest } from "./tracked-request.ts";

/** How often a client misbehaves. */
const MISBEHAVIOUR = { hangUpMidway: 0.05, hangUpAfter: 0.15, twins: 0.15, again: 0.1 };
const MAX_CLIENT_WAIT_MS = 25;
const LONGEST_PAUSE_MS = 40;
/** Enough for a broker to be killed and to come back, a minute at least. */
const MOST_TRIES = 3000;
const LARGEST = { cpu: 4, memoryGi: 8 };
/** Far below what the policy allows a tenant; so many of all clients fit into the fleet when nothing else does. */
const MOST_WAITING = 6;
/** Most wait longer than a campaign lasts. A broker that has just started lets nobody's time run out. */
const WAITS = { briefly: "1s", long: "1h", brief: 0.1 };
/** The part of the requests that may have to give way, where some wait. */
const SPOT = 0.5;
/** How often a client asks what has become of one that waits; and what it gives back when there is no room. */
const LOOKS = 0.3;
const LEAVES_THE_QUEUE = 0.25;
/** How often it gives something back when there is no room: so seldom that the queue grows until clients may not wait any more. */
const GIVES_BACK = 0.4;

export interface LoadClientDeps {
  readonly client: BrokerClient;
  readonly gate: Gate;
  readonly random: SeededRandom;
  readonly requests: TrackedRequest[];
  readonly problems: string[];
  /** The part of its requests that wait if there is no room. */
  readonly patience: number;
  /** Called when an order is acknowledged. */
  readonly onAcknowledged: () => void;
}

type Call = (client: BrokerClient, mischief: Pick<CallOptions, "hangUp">) => Promise<BrokerReply>;
/** "left": it was released while the question was on its way. */
type Outcome = "acknowledged" | "waits" | "left" | "refused" | "try again";

/** A load client: repeats each request with its key until it gets an answer. */
export class LoadClient {
  readonly #deps: LoadClientDeps;
  readonly #own: TrackedRequest[] = [];

  constructor(deps: LoadClientDeps) {
    this.#deps = deps;
  }

  async reserve(isStopped: () => boolean): Promise<void> {
    const { random } = this.#deps;
    const request = this.#newRequest();
    const outcome = await this.#askUntilAnswered(request, isStopped);
    const isKnown = outcome === "acknowledged" || outcome === "waits";
    if (isKnown && random.chance(MISBEHAVIOUR.again)) await this.#post(request);
    // Nothing left: what is given back is what the next ones compete for.
    const isRoomScarce = outcome === "refused" || outcome === "waits";
    if (isRoomScarce && random.chance(GIVES_BACK)) await this.#releaseOne(isStopped);
    await this.#lookAtOne();
  }

  async #askUntilAnswered(request: TrackedRequest, isStopped: () => boolean): Promise<Outcome> {
    while (!isStopped()) {
      // The same request may be on its way twice: a proxy or an impatient client repeats it.
      const copies = this.#deps.random.chance(MISBEHAVIOUR.twins) ? 2 : 1;
      const outcomes = await Promise.all(Array.from({ length: copies }, () => this.#post(request)));
      const outcome = outcomes.find((each) => each !== "try again");
      if (outcome !== undefined) return outcome;
      await this.#pause();
    }
    return "try again";
  }

  /** Gives back all that it holds; what was never acknowledged stays. */
  async releaseAll(): Promise<void> {
    for (const request of this.#own.filter(isReservationHeld)) await this.#release(request, () => false);
  }

  #newRequest(): TrackedRequest {
    const { client, random, requests, patience } = this.#deps;
    const size = { cpu: random.between(1, LARGEST.cpu), memoryGi: random.between(1, LARGEST.memoryGi) };
    const waits =
      patience > 0 && random.chance(patience) && this.#own.filter(isWaiting).length < MOST_WAITING;
    const waitFor = waits ? { waitFor: random.chance(WAITS.brief) ? WAITS.briefly : WAITS.long } : {};
    const isSpot = patience > 0 && random.chance(SPOT);
    const asked = { ...size, ...waitFor, isSpot };
    const request = newTrackedRequest(client.clusterId, `key-${this.#own.length}`, asked);
    this.#own.push(request);
    requests.push(request);
    return request;
  }

  async #post(request: TrackedRequest): Promise<Outcome> {
    const { key, size, waitFor, isSpot } = request;
    const body = {
      ...reservationBody(size),
      ...(isSpot ? { tier: "spot" } : {}),
      ...(waitFor === undefined ? {} : { wait: { for: waitFor } }),
    };
    const before = knownOf(request);
    const reply = await this.#answerTo(request, (client, mischief) =>
      client.request("POST", PATH.reservations, { key, body, ...mischief }),
    );
    if (reply === undefined) return "try again";
    if (reply.status < 300) return this.#hear(request, reply, before);
    const isRefusal = reply.status === 409 && waitFor === undefined;
    return isRefusal ? this.#hearRefusal(request, reply, before) : this.#hearOther(request, reply);
  }

  #hearRefusal(request: TrackedRequest, reply: BrokerReply, before: KnownBefore): Outcome | Promise<Outcome> {
    if (request.acknowledged === undefined) return "refused";
    // A refusal binds no key: of two copies sent at once, one may be refused before the other is granted, and be told so
    // after it. The broker's own record must say that it was in this order.
    if (before.acknowledged === undefined) return this.#checkOrderOf(reply, request);
    return this.#checkReply(reply, `asking for ${request.key}`);
  }

  /** The key of one that is released while it waits is closed. */
  #hearOther({ key, waitFor, release }: TrackedRequest, reply: BrokerReply): Outcome {
    const mayBeClosed = waitFor !== undefined && release !== "not asked";
    return reply.status === 410 && mayBeClosed ? "left" : this.#checkReply(reply, `asking for ${key}`);
  }

  #hear(request: TrackedRequest, reply: BrokerReply, before: KnownBefore): Outcome {
    this.#deps.problems.push(...hearReply(request, reply, before));
    if (request.hasLeft) return "left";
    this.#deps.onAcknowledged();
    return request.acknowledged === undefined ? "waits" : "acknowledged";
  }

  /** Asks what has become of one that waits, by its ID or with its key. */
  async #lookAtOne(): Promise<void> {
    const { random } = this.#deps;
    const request = this.#deps.patience > 0 ? random.pick(this.#own.filter(isWaiting)) : undefined;
    if (request?.queued === undefined || !random.chance(LOOKS)) return;
    if (random.chance(0.5)) return void (await this.#post(request));
    const { id } = request.queued;
    const before = knownOf(request);
    const reply = await this.#answerTo(request, (client) => client.request("GET", PATH.reservation(id)));
    if (reply?.status === 200) this.#hear(request, reply, before);
    else if (reply !== undefined) this.#checkReply(reply, `reading ${request.key}`);
  }

  async #releaseOne(isStopped: () => boolean): Promise<void> {
    const { random } = this.#deps;
    const held = this.#own.filter(isReservationHeld);
    const waiting = this.#own.filter((each) => isWaiting(each) && each.release === "not asked");
    const leaves = waiting.length > 0 && (held.length === 0 || random.chance(LEAVES_THE_QUEUE));
    const request = random.pick(leaves ? waiting : held);
    if (request !== undefined) await this.#release(request, isStopped);
  }

  async #release(request: TrackedRequest, isStopped: () => boolean): Promise<void> {
    const path = this.#pathToRelease(request);
    request.release = "asked";
    while (request.release === "asked" && !isStopped()) {
      const before = knownOf(request);
      const reply = await this.#answerTo(request, (client, mischief) =>
        client.request("DELETE", path, mischief),
      );
      if (reply?.status === 200) {
        this.#deps.problems.push(...hearReply(request, reply, before));
        request.release = "acknowledged";
        return;
      }
      if (reply !== undefined) this.#checkReply(reply, `releasing ${request.key}`);
      await this.#pause();
    }
  }

  #pathToRelease({ acknowledged, queued, key }: TrackedRequest): string {
    if (acknowledged !== undefined) return PATH.reservation(acknowledged.id);
    const isByKey = queued === undefined || this.#deps.random.chance(0.5);
    return isByKey ? PATH.releaseByKey(key) : PATH.reservation(queued.id);
  }

  async #checkOrderOf({ body }: BrokerReply, request: TrackedRequest): Promise<Outcome> {
    const refusal = validate(errorSchema, body);
    const id = (refusal.ok ? refusal.value.decisionID : undefined) ?? "no decision";
    const refusedAt = await this.#timeOf(id, request);
    const grantedAt = Date.parse(request.acknowledged?.reservedAt ?? "");
    if (refusedAt <= grantedAt) return "acknowledged";
    return this.#complain(`${request.key}: granted at ${grantedAt}, refused by ${id} at ${refusedAt}`);
  }

  /** When a decision was taken, by the broker's record; not a number when there is none. */
  async #timeOf(decision: string, request: TrackedRequest): Promise<number> {
    let reply: BrokerReply | undefined;
    for (let tries = 0; tries < MOST_TRIES && reply?.status !== 200; tries++) {
      if (tries > 0) await this.#pause();
      reply = await this.#answerTo(request, (client) => client.request("GET", PATH.decision(decision), {}));
    }
    const read = validate(decisionSchema, reply?.body);
    return read.ok ? Date.parse(read.value.at) : Number.NaN;
  }

  /** Undefined: nobody answered. */
  #answerTo(request: TrackedRequest, call: Call): Promise<BrokerReply | undefined> {
    const { gate, client } = this.#deps;
    return gate.pass(async () => {
      try {
        return await call(client, this.#misbehaviour());
      } catch {
        request.unanswered++;
        return undefined;
      }
    });
  }

  /** Too busy, or too often: said so politely, and nothing was booked. Anything else is wrong. */
  #checkReply({ status, body }: BrokerReply, doing: string): Outcome {
    if (status === 429 || status === 503) return "try again";
    return this.#complain(`${doing}: ${status} ${JSON.stringify(body)}`);
  }

  #complain(problem: string): Outcome {
    this.#deps.problems.push(problem);
    return "refused";
  }

  #misbehaviour(): Pick<CallOptions, "hangUp"> {
    const { random } = this.#deps;
    if (random.chance(MISBEHAVIOUR.hangUpMidway)) return { hangUp: "midway" };
    if (random.chance(MISBEHAVIOUR.hangUpAfter))
      return { hangUp: { afterMs: random.below(MAX_CLIENT_WAIT_MS) } };
    return {};
  }

  #pause(): Promise<void> {
    return sleep(this.#deps.random.between(1, LONGEST_PAUSE_MS));
  }
}
