import {
  Fault,
  type ReservationDTO,
  type ReservationInstruction,
  type ResourceRequest,
} from "@resource-broker/contract";
import { type KubeClient, toFault } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import type { ReleaseState } from "../data-plane/data-plane.ts";
import type { Tell } from "../events/tell.ts";
import type { Requeue } from "../reconcile.ts";
import { withKey } from "../reservations/attempt-key.ts";
import type { BookEntry, ReservationBook } from "../reservations/reservation-book.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import { askPauses } from "./ask-pauses.ts";
import {
  type AnsweredPlan,
  planAsking,
  planLostAnswer,
  planNoBroker,
  planRefusal,
  planUnanswered,
  planWrongAnswer,
} from "./plan-answer.ts";
import { planForgotten, planRequest, type RequestPlan, type RequestState } from "./plan-request.ts";
import { type Delivery, reservationInStatus } from "./request-status.ts";
import { isSameObject, statusBoard } from "./status-board.ts";

export interface RequestDeps {
  readonly clusterId: string;
  readonly book: ReservationBook;
  readonly client: Pick<KubeClient, "patch">;
  /** As last seen in the cluster, by `namespace/name`. */
  readonly request: (key: string) => ResourceRequest | undefined;
  readonly requestKeys: () => Iterable<string>;
  readonly instruction: (reservationId: string) => ReservationInstruction | undefined;
  /** State of the teardown of an ended reservation; undefined: it has not begun. */
  readonly released: (reservationId: string) => ReleaseState | undefined;
  readonly communicator: Pick<BrokerCommunicator, "requestReservation" | "fetchReservation" | "releaseByKey">;
  readonly withoutBroker?: boolean;
  /** False: the broker ignores keys and would reserve again. Rejects when it cannot be reached. */
  readonly looksAtKeys: () => Promise<boolean>;
  readonly clock: Pick<Clock, "wallMs" | "monotonicMs">;
  /** In [0, 1). */
  readonly random: () => number;
  readonly tell: Tell;
  readonly log: Pick<Log, "warn">;
  /** From the first reconcile of a request to its grant. */
  readonly onReserved: (tookMs: number) => void;
  /** The request was deleted before the answer came: its reservation is to be released. */
  readonly onUnwanted: (request: ResourceRequest) => void;
}

export interface RequestController {
  readonly reconcile: (key: string) => Promise<Requeue>;
  /** Capacity was freed: marks queued requests for their next reconcile. Returns their keys. */
  readonly nudge: () => string[];
}

type Ask = NonNullable<RequestPlan["ask"]>;

/** The requester's side: sends ResourceRequests to the broker and writes the result into their status. */
export function requestController(deps: RequestDeps): RequestController {
  const { book, communicator, clock } = deps;
  const nudged = new Set<string>();
  const firstSeen = new Map<string, number>();
  const board = statusBoard(deps);
  const pauses = askPauses(deps);

  const reconcile = async (key: string): Promise<Requeue> => {
    const request = board.newest(key);
    if (request === undefined) {
      nudged.delete(key);
      firstSeen.delete(key);
      pauses.end(key);
      return {};
    }
    return decideFor(key, request);
  };

  const decideFor = (key: string, request: ResourceRequest): Promise<Requeue> => {
    const state = stateOf(key, request);
    return carryOut(key, state, planRequest(state));
  };

  const stateOf = (key: string, request: ResourceRequest): RequestState => {
    const borrowing = borrowingOf(request, book);
    const instruction = borrowing && deps.instruction(borrowing.reservation.id);
    return {
      request,
      borrowing,
      delivery: instruction && deliveryOf(instruction),
      release: borrowing && deps.released(borrowing.reservation.id),
      now: clock.wallMs(),
      isNudged: nudged.has(key),
    };
  };

  const carryOut = async (key: string, state: RequestState, plan: RequestPlan): Promise<Requeue> => {
    const needsBroker = plan.lookUp !== undefined || plan.ask !== undefined;
    if (needsBroker && deps.withoutBroker === true) return wait(key, state, plan);
    if (plan.lookUp !== undefined) return lookUp(key, state, plan.lookUp);
    if (plan.ask !== undefined) {
      const pauseMs = pauses.left(key);
      return pauseMs > 0 ? { requeueAfterMs: pauseMs } : ask(key, state, plan.ask);
    }
    if (plan.status !== undefined) await board.write(key, state.request, plan.status);
    return plan.requeueAfterMs === undefined ? {} : { requeueAfterMs: plan.requeueAfterMs };
  };

  /** No broker is configured: a new request says so, and one with a reservation stays unchanged. */
  const wait = (key: string, state: RequestState, plan: RequestPlan): Promise<Requeue> =>
    plan.ask === undefined ? Promise.resolve({}) : follow(key, state, planNoBroker(state));

  const lookUp = async (key: string, state: RequestState, id: string): Promise<Requeue> => {
    const pauseMs = pauses.left(key);
    if (pauseMs > 0) return { requeueAfterMs: pauseMs };
    const forgotten = planForgotten(state);
    const found = await communicator.fetchReservation(id).catch(toFault);
    if (found instanceof Fault) return believeStatus(state, found);
    if (found !== undefined && found.id !== id) {
      // The reservation in the status is kept: this answer is about another one.
      logWrongAnswer(key, found);
      return { requeueAfterMs: pauses.begin(key) };
    }
    const learned = found && book.learn("requester", withKey(found, forgotten.ask?.key));
    const isForgotten = learned === undefined || learned === "not-ours";
    return isForgotten ? carryOut(key, state, forgotten) : { requeueAfterMs: 0 };
  };

  /** A broker that cannot look up a reservation would make another: the status is restored into the cache. */
  const believeStatus = async ({ request }: RequestState, fault: Fault): Promise<Requeue> => {
    const said = fault.code === "unsupported" ? reservationInStatus(request, deps.clusterId) : undefined;
    if (said === undefined) throw fault;
    book.remember("requester", said);
    return { requeueAfterMs: 0 };
  };

  const ask = async (key: string, state: RequestState, wish: Ask): Promise<Requeue> => {
    if (!firstSeen.has(key)) firstSeen.set(key, clock.monotonicMs());
    nudged.delete(key);
    const isRepeatable = await deps.looksAtKeys().catch(toFault);
    if (isRepeatable instanceof Fault) return follow(key, state, planUnanswered(state, isRepeatable));
    if (!isRepeatable) await board.write(key, state.request, planAsking(state));
    const answer = await communicator.requestReservation(wish.request, wish.key).catch(toFault);
    if (!(answer instanceof Fault)) book.learn("requester", withKey(answer, wish.key));
    const now = board.newest(key);
    if (now === undefined || !isSameObject(now, state.request)) {
      deps.onUnwanted(state.request);
      return {};
    }
    if (!(answer instanceof Fault)) return granted(key, now, answer);
    return isKnown(now, wish)
      ? granted(key, now)
      : refused(key, state, { wish, fault: answer, isRepeatable });
  };

  /** The event stream may have delivered what the answer did not. */
  const isKnown = (request: ResourceRequest, wish: Ask): boolean =>
    borrowingOf(request, book)?.reservation.key === wish.key;

  const granted = (key: string, now: ResourceRequest, answer?: ReservationDTO): Promise<Requeue> => {
    const state = stateOf(key, now);
    const plan = planRequest(state);
    // An answer that does not change the request must not cause an immediate retry.
    if (plan.ask !== undefined && answer !== undefined) {
      logWrongAnswer(key, answer);
      return follow(key, state, planWrongAnswer(state, answer));
    }
    pauses.end(key);
    deps.onReserved(clock.monotonicMs() - (firstSeen.get(key) ?? 0));
    firstSeen.delete(key);
    return carryOut(key, state, plan);
  };

  const logWrongAnswer = (key: string, { id, requesterID }: ReservationDTO): void =>
    deps.log.warn(
      { request: key, reservation: id, requesterID },
      "the broker answered with a reservation that was not requested; it is ignored",
    );

  const refused = async (
    key: string,
    state: RequestState,
    { wish, fault, isRepeatable }: { wish: Ask; fault: Fault; isRepeatable: boolean },
  ): Promise<Requeue> => {
    if (!isRepeatable && mayHaveBooked(fault)) return follow(key, state, planLostAnswer(state));
    // An answer was lost and the request was edited since: the first reservation is released.
    if (fault.code === "key-mismatch") await communicator.releaseByKey(wish.key);
    return follow(key, state, planRefusal(state, fault));
  };

  const follow = async (key: string, { request }: RequestState, plan: AnsweredPlan): Promise<Requeue> => {
    const requeueAfterMs = paced(key, plan);
    await board.write(key, request, plan.status);
    return requeueAfterMs === undefined ? {} : { requeueAfterMs };
  };

  const paced = (key: string, { isUnanswered, requeueAfterMs }: AnsweredPlan): number | undefined => {
    if (isUnanswered === true) return pauses.begin(key, requeueAfterMs);
    pauses.end(key);
    return requeueAfterMs;
  };

  return {
    reconcile,
    nudge: () => {
      const queued = [...deps.requestKeys()].filter((key) => isQueued(board.newest(key)));
      for (const key of queued) nudged.add(key);
      return queued;
    },
  };
}

/** The newest reservation of a request; without keys, the one in its status. */
function borrowingOf({ metadata, status }: ResourceRequest, book: ReservationBook): BookEntry | undefined {
  const made = book.ofRequest(metadata.uid ?? "");
  if (made.size > 0) return made.get(Math.max(...made.keys()));
  return status?.reservationName === undefined ? undefined : book.get("requester", status.reservationName);
}

function deliveryOf({ status }: ReservationInstruction): Delivery | undefined {
  const peered = status?.conditions?.find(({ type }) => type === "Peered");
  return peered && { isDelivered: status?.delivered === true, peered };
}

function isQueued(request: ResourceRequest | undefined): boolean {
  return request?.status?.phase === "Pending" && request.status.nextAttemptTime !== undefined;
}

/** No answer, or one without a clear result. An unsupported call was never sent. */
function mayHaveBooked({ code, status }: Fault): boolean {
  return status >= 500 && code !== "unsupported";
}
