import { randomUUID } from "node:crypto";
import { parseDuration } from "@resource-broker/base";
import {
  isReserved,
  releaseByKeyCall,
  releaseCall,
  renewCall,
  type ReservationOrWaiting,
  reserveCall,
  reserveOrWaitCall,
  type TypedCall,
} from "@resource-broker/client";
import { HEADER, type ReservationRequestDTO, type WaitingRequestDTO } from "@resource-broker/contract";
import { isFinal, type Phase, PHASES } from "@resource-broker/domain";
import type { Host, Run, View } from "../cli/command.ts";
import { CommandError, didYouMean } from "../cli/exit-code.ts";
import type {
  RELEASE_OPTIONS,
  RENEW_OPTIONS,
  RESERVE_OPTIONS,
  WAIT_OPTIONS,
} from "../commands/broker-options.ts";
import { type Broker, withBroker } from "../connection/broker.ts";
import { followWaiting, stillWaits } from "../queue/follow-waiting.ts";
import { eitherView, isLeft, leftQueue } from "../queue/waiting.ts";
import { asRequester, readRequest, requesterFor } from "./read-request.ts";
import { readReservation, reservationIdIn, reservationView, withHint } from "./reservation.ts";

export const reserve: Run<typeof RESERVE_OPTIONS> = async ({ options }, host) => {
  const { wait: waitFor, "no-follow": mayLeave } = options;
  if (mayLeave && waitFor === undefined) {
    throw new CommandError("usage", "--no-follow needs --wait: without it, nothing waits");
  }
  const body = readRequest(options, options);
  // Always with a key: if a call is repeated at another replica, the reservation is made once.
  const { key = `brokerctl-${randomUUID()}` } = options;
  return withBroker(options, host, async (broker) => {
    const requester = requesterFor(options.for, broker);
    const { value, ...answer } = await broker.request(asRequester(callFor(body, key), requester));
    await checkRequester(broker, value, requester);
    const isKnown = answer.headers[HEADER.idempotencyReplayed.toLowerCase()] === "true";
    if (isReserved(value)) {
      host.note(isKnown ? "A reservation with this key exists already; nothing new was reserved\n" : "");
      return reservationView({ ...answer, value }, host);
    }
    host.note(isKnown ? "A request with this key waits already\n" : "");
    return waitOn(broker, value, { host, isFollowed: waitFor !== undefined && !mayLeave });
  });
};

/** Also without --wait: a key may belong to a request that waits. */
function callFor(body: ReservationRequestDTO, key: string): TypedCall<ReservationOrWaiting> {
  const call = reserveOrWaitCall(body, key);
  return body.wait === undefined ? { ...reserveCall(body, key), schema: call.schema } : call;
}

async function checkRequester(
  broker: Broker,
  { id, requesterID }: ReservationOrWaiting,
  requester: string | undefined,
): Promise<void> {
  if (requester === undefined || requesterID === requester) return;
  await broker.requestOptional(releaseCall(id));
  throw new CommandError(
    "error",
    `this broker is too old for --for: it reserved for ${requesterID}, and that reservation was released again; use the certificate of ${requester}`,
  );
}

interface Following {
  readonly host: Host;
  /** False: the request is printed as it is, and goes on waiting. */
  readonly isFollowed: boolean;
}

async function waitOn(
  broker: Broker,
  waiting: WaitingRequestDTO,
  { host, isFollowed }: Following,
): Promise<View> {
  if (isLeft(waiting)) throw leftQueue(waiting);
  const { id, until } = waiting;
  if (isFollowed) {
    host.note(`${id} waits in the queue, until ${until} at the latest\n`);
    return reservationView(await followWaiting(broker, id, host), host);
  }
  host.note(stillWaits(id));
  return eitherView(await readReservation(broker, id), host);
}

export const renew: Run<typeof RENEW_OPTIONS> = async ({ options, words }, host) => {
  const id = reservationIdIn(words[0]);
  const { duration } = options;
  const parsed = parseDuration(duration);
  if (!parsed.ok) throw new CommandError("usage", `--duration: ${parsed.problem}`);
  return withBroker(options, host, async (broker) => {
    const answer = await withHint(broker, id, broker.request(renewCall(id, duration)));
    if (answer.value.status.expiresAt === undefined) {
      host.note("It lasts until it is released: there was nothing to renew\n");
    }
    return reservationView(answer, host);
  });
};

export const release: Run<typeof RELEASE_OPTIONS> = async ({ options, words: [word] }, host) => {
  const { key } = options;
  if ((word === undefined) === (key === undefined)) {
    throw new CommandError("usage", "say which to release: one reservation, or --key");
  }
  const id = reservationIdIn(word);
  return withBroker(options, host, async (broker) => {
    const call =
      key === undefined
        ? releaseCall(id)
        : asRequester(releaseByKeyCall(key), requesterFor(options.for, broker));
    const { value, ...answer } = await withHint(broker, id, broker.requestOptional(call));
    if (value !== undefined) {
      if (!isReserved(value)) host.note(`${value.id} waits no more: ${value.status.message}\n`);
      return eitherView({ value, ...answer }, host);
    }
    host.note("No reservation has this key. The key is now released and cannot be used any more\n");
    return undefined;
  });
};

const POLL_MS = 500;
/** A place in the queue costs the broker a walk through it. */
const PENDING_POLL_MS = 2000;
const DEFAULT_TIMEOUT_MS = 30_000;

/** What is waited for. */
interface Goal {
  readonly words: string;
  readonly isReached: (phase: Phase) => boolean;
  /** True: it can still come. A reservation never goes back. */
  readonly isPossible: (phase: Phase) => boolean;
}

export const wait: Run<typeof WAIT_OPTIONS> = async ({ options, words }, host) => {
  const id = reservationIdIn(words[0]);
  const goal = readGoal(options.for);
  const { timeout = DEFAULT_TIMEOUT_MS } = options;
  return withBroker(options, host, async (broker) => {
    const deadline = host.now() + timeout;
    for (;;) {
      const answer = await readReservation(broker, id);
      const { phase } = answer.value.status;
      if (goal.isReached(phase)) return eitherView(answer, host);
      if (!goal.isPossible(phase)) throw unreachableGoal(answer.value, goal);
      const leftMs = deadline - host.now();
      if (leftMs <= 0) {
        throw new CommandError(
          "timeout",
          `${id} is ${phase} after ${timeout / 1000} s, not ${goal.words}; --timeout waits longer`,
        );
      }
      await host.pause(Math.min(phase === "Pending" ? PENDING_POLL_MS : POLL_MS, leftMs));
    }
  });
};

function readGoal(text: string): Goal {
  if (text === "ended") return { words: text, isReached: isFinal, isPossible: () => true };
  const wanted = text === "released" ? "Released" : text.replace(/^phase=/u, "");
  const phase = PHASES.find((each) => each === wanted);
  if (phase === undefined || (wanted === text && text !== "released")) throw noGoal(text);
  const rank = PHASES.indexOf(phase);
  return {
    words: phase,
    isReached: (current) => current === phase,
    isPossible: (current) => !isFinal(current) && PHASES.indexOf(current) < rank,
  };
}

function noGoal(text: string): CommandError {
  const known = ["released", "ended", ...PHASES];
  const hint = didYouMean(text.replace(/^[a-z]+=/u, ""), known, (word) =>
    PHASES.some((phase) => phase === word) ? `phase=${word}` : word,
  );
  return new CommandError(
    "usage",
    `--for ${JSON.stringify(text)}: write phase=<phase>, released or ended${hint}`,
  );
}

function unreachableGoal({ id, status, reason }: ReservationOrWaiting, { words }: Goal): CommandError {
  const why = reason === undefined ? "" : ` (${reason})`;
  return new CommandError("conflict", `${id} is ${status.phase}${why} and will never be ${words}`);
}
