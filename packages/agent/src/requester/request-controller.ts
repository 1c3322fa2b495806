import { Fault, toFault } from "@resource-broker/base";
import type { ReservationInstruction, ResourceRequest } from "@resource-broker/contract/crd";
import type { ReconcileResult } from "@resource-broker/kube";
import type { AgentParts } from "../core/agent-deps.ts";
import type { ReleaseState } from "../data-plane/data-plane.ts";
import { ignoring } from "../faults.ts";
import { attemptOf, type Reservation, type WaitingRequest, withKey } from "../reservations/reservation.ts";
import type { CachedReservation, ReservationCache } from "../reservations/reservation-cache.ts";
import {
  type AnsweredPlan,
  planAsking,
  planLostAnswer,
  planNextKey,
  planNoBroker,
  planRefusal,
  planUnanswered,
  planWrongAnswer,
} from "./plan-answer.ts";
import { planForgotten, planRequest, type RequestPlan, type RequestState } from "./plan-request.ts";
import { waitingStatus, waitsByStatus } from "./plan-waiting.ts";
import { requestPauses } from "./request-pauses.ts";
import { type DeliveryStatus, reservationFromStatus } from "./request-status.ts";
import { isSameObject, requestStatusWriter } from "./request-status-writer.ts";
import { type Answer, isWaiting, mayHaveReserved, sendRequest } from "./send-request.ts";

interface RequestOptions {
  readonly clusterId: string;
  readonly withoutBroker?: boolean;
}

export interface RequestDeps extends AgentParts {
  /** State of the teardown of an ended reservation; undefined: it has not begun. */
  readonly releaseState: (reservationId: string) => ReleaseState | undefined;
  /** The request was deleted before the answer came: its reservation is to be released. */
  readonly onRequestDeleted: (request: ResourceRequest) => void;
  /** A request has begun to wait: its place in the queue is not known yet. */
  readonly onQueued: () => void;
}

type ReservationCall = NonNullable<RequestPlan["ask"]>;

/** `isRepeatable` false: the broker ignores keys. */
interface NotGranted {
  readonly call: ReservationCall;
  readonly answer: Fault | WaitingRequest;
  readonly isRepeatable: boolean;
}

/** The requester's side: sends ResourceRequests to the broker and writes the result into their status. */
export function requestController({ clusterId, withoutBroker = false }: RequestOptions, deps: RequestDeps) {
  const { cache, communicator, clock, objects } = deps;
  const requeued = new Set<string>();
  const firstSeen = new Map<string, number>();
  const statusWriter = requestStatusWriter({ ...deps, requests: objects.requests });
  const pauses = requestPauses(clock, deps.random);

  /** False: the broker ignores keys and would reserve again. Rejects when it cannot be reached. */
  const supportsKeys = async (): Promise<boolean> => {
    if (deps.link.isCurrent() === true) return true;
    await communicator.ping();
    return deps.link.isCurrent() === true;
  };

  const reconcile = async (key: string): Promise<ReconcileResult> => {
    const request = statusWriter.latest(key);
    if (request === undefined) {
      requeued.delete(key);
      firstSeen.delete(key);
      pauses.end(key);
      return {};
    }
    const state = stateOf(key, request);
    return execute(key, state, planRequest(state));
  };

  const stateOf = (key: string, request: ResourceRequest): RequestState => {
    const entry = newestReservationOf(request, cache);
    const instruction = entry && objects.reservationInstruction(entry.reservation.id);
    return {
      request,
      entry,
      waiting: newestOf(deps.waiting.ofRequest(request.metadata.uid ?? "")),
      delivery: instruction && deliveryStatusOf(instruction),
      release: entry && deps.releaseState(entry.reservation.id),
      now: clock.wallMs(),
      isRequeued: requeued.has(key),
    };
  };

  const execute = async (key: string, state: RequestState, plan: RequestPlan): Promise<ReconcileResult> => {
    const needsBroker = plan.lookUp !== undefined || plan.ask !== undefined;
    if (needsBroker && withoutBroker) return reportNoBroker(key, state, plan);
    if (plan.lookUp !== undefined) return lookUp(key, state, plan.lookUp);
    if (plan.ask !== undefined) {
      const pauseMs = pauses.remainingMs(key);
      return pauseMs > 0 ? { requeueAfterMs: pauseMs } : ask(key, state, plan.ask);
    }
    if (plan.status !== undefined) await statusWriter.write(key, state.request, plan.status);
    return plan;
  };

  /** No broker is configured: the status of a new request says so; a request with a reservation stays unchanged. */
  const reportNoBroker = (key: string, state: RequestState, plan: RequestPlan): Promise<ReconcileResult> =>
    plan.ask === undefined ? Promise.resolve({}) : applyPlan(key, state, planNoBroker(state));

  const lookUp = async (key: string, state: RequestState, id: string): Promise<ReconcileResult> => {
    const pauseMs = pauses.remainingMs(key);
    if (pauseMs > 0) return { requeueAfterMs: pauseMs };
    if (await isInQueue(state, id)) return { requeueAfterMs: 0 };
    const forgotten = planForgotten(state);
    const found = await communicator.getReservation(id).catch(toFault);
    if (found instanceof Fault) return restoreFromStatus(key, state, found);
    if (found !== undefined && found.id !== id) {
      // The reservation in the status is kept: this answer is about another one.
      logWrongAnswer(key, found);
      return { requeueAfterMs: pauses.afterFailure(key) };
    }
    const update = found && cache.update("requester", withKey(found, forgotten.ask?.key));
    const isForgotten = update === undefined || update === "not-ours";
    return isForgotten ? execute(key, state, forgotten) : { requeueAfterMs: 0 };
  };

  /** The status says that it waits; true when the broker knows of it. */
  const isInQueue = async ({ request }: RequestState, id: string): Promise<boolean> => {
    if (!waitsByStatus(request.status ?? {})) return false;
    const found = await communicator.getWaiting(id).catch(ignoring("unsupported"));
    const isOurs = found !== undefined && attemptOf(found.key)?.uid === request.metadata.uid;
    return isOurs && deps.waiting.update(found) !== "old";
  };

  /** A broker that cannot look up a reservation would make another: the status is restored into the cache. */
  const restoreFromStatus = async (
    key: string,
    state: RequestState,
    fault: Fault,
  ): Promise<ReconcileResult> => {
    const { request } = state;
    if (fault.code !== "unsupported") throw fault;
    // What waited at another broker is not reserved here.
    if (waitsByStatus(request.status ?? {})) return execute(key, state, planForgotten(state));
    const restored = reservationFromStatus(request, clusterId);
    if (restored === undefined) throw fault;
    cache.restore("requester", restored);
    return { requeueAfterMs: 0 };
  };

  const ask = async (key: string, state: RequestState, call: ReservationCall): Promise<ReconcileResult> => {
    if (!firstSeen.has(key)) {
      firstSeen.set(key, clock.monotonicMs());
      deps.log.info({ request: key, key: call.key }, "requesting a reservation");
    }
    requeued.delete(key);
    const isRepeatable = await supportsKeys().catch(toFault);
    if (isRepeatable instanceof Fault)
      return applyPlan(key, state, planUnanswered(state, isRepeatable, attemptIn(call)));
    if (!isRepeatable) await statusWriter.write(key, state.request, planAsking(state));
    const answer = await sendRequest(deps, state.request, call).catch(toFault);
    if (!(answer instanceof Fault)) learn(answer, call);
    const latest = statusWriter.latest(key);
    if (latest === undefined || !isSameObject(latest, state.request)) {
      deps.onRequestDeleted(state.request);
      return {};
    }
    if (!(answer instanceof Fault) && !isWaiting(answer)) return granted(key, latest, answer);
    if (isKnown(latest, call)) return granted(key, latest);
    return notGranted(key, state, { call, answer, isRepeatable });
  };

  const notGranted = (
    key: string,
    state: RequestState,
    { call, answer, isRepeatable }: NotGranted,
  ): Promise<ReconcileResult> =>
    answer instanceof Fault
      ? refused(key, state, { call, fault: answer, isRepeatable })
      : queued(key, state, { call, answer });

  const learn = (answer: Answer, { key }: ReservationCall): void => {
    if (isWaiting(answer)) deps.waiting.update(answer);
    else cache.update("requester", withKey(answer, key));
  };

  /** The request waits in the broker's queue, or has left it. */
  const queued = async (
    key: string,
    state: RequestState,
    { call, answer }: { readonly call: ReservationCall; readonly answer: WaitingRequest },
  ): Promise<ReconcileResult> => {
    const { request } = state;
    const attempt = attemptIn(call);
    const known = deps.waiting.get(answer.id);
    if (known?.key !== call.key) {
      logWrongAnswer(key, answer);
      return applyPlan(key, state, planWrongAnswer(state, answer, attempt));
    }
    if (request.spec.queue !== true) {
      await communicator.releaseByKey(call.key);
      return applyPlan(key, state, planNextKey(state, "it shall not wait any more; asking again", attempt));
    }
    pauses.end(key);
    if (state.waiting === undefined) {
      deps.log.info({ request: key, reservation: answer.id }, "waiting in the broker's queue");
      deps.onQueued();
    }
    await statusWriter.write(key, request, waitingStatus(state, known));
    return {};
  };

  /** The event stream may have delivered what the answer did not. */
  const isKnown = (request: ResourceRequest, call: ReservationCall): boolean =>
    newestReservationOf(request, cache)?.reservation.key === call.key;

  const granted = (key: string, latest: ResourceRequest, answer?: Reservation): Promise<ReconcileResult> => {
    const state = stateOf(key, latest);
    const plan = planRequest(state);
    // An answer that does not change the request must not cause an immediate retry.
    if (plan.ask !== undefined && answer !== undefined) {
      logWrongAnswer(key, answer);
      return applyPlan(key, state, planWrongAnswer(state, answer, attemptIn(plan.ask)));
    }
    pauses.end(key);
    deps.observer.reserved(clock.monotonicMs() - (firstSeen.get(key) ?? 0));
    firstSeen.delete(key);
    return execute(key, state, plan);
  };

  const logWrongAnswer = (key: string, { id, requester: requesterID }: Answer): void =>
    deps.log.warn(
      { request: key, reservation: id, requesterID },
      "the broker answered with a reservation that was not requested; it is ignored",
    );

  const refused = async (
    key: string,
    state: RequestState,
    { call, fault, isRepeatable }: { call: ReservationCall; fault: Fault; isRepeatable: boolean },
  ): Promise<ReconcileResult> => {
    if (!isRepeatable && mayHaveReserved(fault)) return applyPlan(key, state, planLostAnswer(state));
    const plan = planRefusal(state, fault, attemptIn(call));
    // It may still wait, but not over this connection, or it was edited: what the key has is released.
    const mayWait = plan.isUnanswered !== true && waitsByStatus(state.request.status ?? {});
    if (fault.code === "key-mismatch" || mayWait)
      await communicator.releaseByKey(call.key).catch(ignoring("unsupported"));
    return applyPlan(key, state, plan);
  };

  const applyPlan = async (
    key: string,
    { request, waiting }: RequestState,
    plan: AnsweredPlan,
  ): Promise<ReconcileResult> => {
    let { requeueAfterMs } = plan;
    if (plan.isUnanswered === true) requeueAfterMs = pauses.afterFailure(key, requeueAfterMs);
    else pauses.end(key);
    // A changed request that could not be sent: the status still says where it waits.
    const waits = waiting !== undefined && waitsByStatus(request.status ?? {});
    if (plan.isUnanswered === true && waits) return { requeueAfterMs: requeueAfterMs ?? 0 };
    await statusWriter.write(key, request, plan.status);
    return requeueAfterMs === undefined ? {} : { requeueAfterMs };
  };

  return {
    reconcile,
    /** Capacity was freed: marks queued requests for their next reconcile. Returns their keys. */
    requeueQueued: (): string[] => {
      const queued = [...objects.requests.keys()].filter((key) => isQueued(statusWriter.latest(key)));
      for (const key of queued) requeued.add(key);
      return queued;
    },
  };
}

/** The newest reservation of a request; without keys, the one in its status. */
function newestReservationOf(
  { metadata, status }: ResourceRequest,
  cache: ReservationCache,
): CachedReservation | undefined {
  const newest = newestOf(cache.ofRequest(metadata.uid ?? ""));
  if (newest !== undefined) return newest;
  return status?.reservationName === undefined ? undefined : cache.get("requester", status.reservationName);
}

function newestOf<T>(attempts: ReadonlyMap<number, T>): T | undefined {
  return attempts.size === 0 ? undefined : attempts.get(Math.max(...attempts.keys()));
}

function attemptIn({ key }: ReservationCall): number {
  return attemptOf(key)?.attempt ?? 1;
}

function deliveryStatusOf({ status }: ReservationInstruction): DeliveryStatus | undefined {
  const peered = status?.conditions?.find(({ type }) => type === "Peered");
  return peered && { isDelivered: status?.delivered === true, peered };
}

function isQueued(request: ResourceRequest | undefined): boolean {
  return request?.status?.phase === "Pending" && request.status.nextAttemptTime !== undefined;
}
