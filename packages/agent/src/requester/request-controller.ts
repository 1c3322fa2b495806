import { type Clock, Fault, type Log, toFault } from "@resource-broker/base";
import type { ReservationInstruction, ResourceRequest } from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import type { ReleaseState } from "../data-plane/data-plane.ts";
import type { RecordEvent } from "../events/record-event.ts";
import type { Requeue } from "../reconcile.ts";
import { type Reservation, withKey } from "../reservations/reservation.ts";
import type { CachedReservation, ReservationCache } from "../reservations/reservation-cache.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
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
import { requestBackoff } from "./request-backoff.ts";
import { type DeliveryStatus, reservationFromStatus } from "./request-status.ts";
import { isSameObject, requestStatusWriter } from "./request-status-writer.ts";

export interface RequestDeps {
  readonly clusterId: string;
  readonly cache: ReservationCache;
  readonly client: Pick<KubeClient, "patch">;
  /** As last seen in the cluster, by `namespace/name`. */
  readonly request: (key: string) => ResourceRequest | undefined;
  readonly requestKeys: () => Iterable<string>;
  readonly instruction: (reservationId: string) => ReservationInstruction | undefined;
  /** State of the teardown of an ended reservation; undefined: it has not begun. */
  readonly releaseState: (reservationId: string) => ReleaseState | undefined;
  readonly communicator: Pick<BrokerCommunicator, "requestReservation" | "fetchReservation" | "releaseByKey">;
  readonly withoutBroker?: boolean;
  /** False: the broker ignores keys and would reserve again. Rejects when it cannot be reached. */
  readonly supportsKeys: () => Promise<boolean>;
  readonly clock: Pick<Clock, "wallMs" | "monotonicMs">;
  /** In [0, 1). */
  readonly random: () => number;
  readonly recordEvent: RecordEvent;
  readonly log: Pick<Log, "info" | "warn">;
  /** From the first reconcile of a request to its grant. */
  readonly onReserved: (tookMs: number) => void;
  /** The request was deleted before the answer came: its reservation is to be released. */
  readonly onRequestDeleted: (request: ResourceRequest) => void;
}

export interface RequestController {
  readonly reconcile: (key: string) => Promise<Requeue>;
  /** Capacity was freed: marks queued requests for their next reconcile. Returns their keys. */
  readonly requeueQueued: () => string[];
}

type ReservationCall = NonNullable<RequestPlan["ask"]>;

/** The requester's side: sends ResourceRequests to the broker and writes the result into their status. */
export function requestController(deps: RequestDeps): RequestController {
  const { cache, communicator, clock } = deps;
  const requeued = new Set<string>();
  const firstSeen = new Map<string, number>();
  const statusWriter = requestStatusWriter(deps);
  const backoff = requestBackoff(deps);

  const reconcile = async (key: string): Promise<Requeue> => {
    const request = statusWriter.latest(key);
    if (request === undefined) {
      requeued.delete(key);
      firstSeen.delete(key);
      backoff.reset(key);
      return {};
    }
    return reconcileRequest(key, request);
  };

  const reconcileRequest = (key: string, request: ResourceRequest): Promise<Requeue> => {
    const state = stateOf(key, request);
    return execute(key, state, planRequest(state));
  };

  const stateOf = (key: string, request: ResourceRequest): RequestState => {
    const entry = newestReservationOf(request, cache);
    const instruction = entry && deps.instruction(entry.reservation.id);
    return {
      request,
      entry,
      delivery: instruction && deliveryStatusOf(instruction),
      release: entry && deps.releaseState(entry.reservation.id),
      now: clock.wallMs(),
      isRequeued: requeued.has(key),
    };
  };

  const execute = async (key: string, state: RequestState, plan: RequestPlan): Promise<Requeue> => {
    const needsBroker = plan.lookUp !== undefined || plan.ask !== undefined;
    if (needsBroker && deps.withoutBroker === true) return reportNoBroker(key, state, plan);
    if (plan.lookUp !== undefined) return lookUp(key, state, plan.lookUp);
    if (plan.ask !== undefined) {
      const pauseMs = backoff.remainingMs(key);
      return pauseMs > 0 ? { requeueAfterMs: pauseMs } : ask(key, state, plan.ask);
    }
    if (plan.status !== undefined) await statusWriter.write(key, state.request, plan.status);
    return plan.requeueAfterMs === undefined ? {} : { requeueAfterMs: plan.requeueAfterMs };
  };

  /** No broker is configured: the status of a new request says so; a request with a reservation stays unchanged. */
  const reportNoBroker = (key: string, state: RequestState, plan: RequestPlan): Promise<Requeue> =>
    plan.ask === undefined ? Promise.resolve({}) : applyPlan(key, state, planNoBroker(state));

  const lookUp = async (key: string, state: RequestState, id: string): Promise<Requeue> => {
    const pauseMs = backoff.remainingMs(key);
    if (pauseMs > 0) return { requeueAfterMs: pauseMs };
    const forgotten = planForgotten(state);
    const found = await communicator.fetchReservation(id).catch(toFault);
    if (found instanceof Fault) return restoreFromStatus(state, found);
    if (found !== undefined && found.id !== id) {
      // The reservation in the status is kept: this answer is about another one.
      logWrongAnswer(key, found);
      return { requeueAfterMs: backoff.fail(key) };
    }
    const update = found && cache.update("requester", withKey(found, forgotten.ask?.key));
    const isForgotten = update === undefined || update === "not-ours";
    return isForgotten ? execute(key, state, forgotten) : { requeueAfterMs: 0 };
  };

  /** A broker that cannot look up a reservation would make another: the status is restored into the cache. */
  const restoreFromStatus = async ({ request }: RequestState, fault: Fault): Promise<Requeue> => {
    const restored =
      fault.code === "unsupported" ? reservationFromStatus(request, deps.clusterId) : undefined;
    if (restored === undefined) throw fault;
    cache.restore("requester", restored);
    return { requeueAfterMs: 0 };
  };

  const ask = async (key: string, state: RequestState, call: ReservationCall): Promise<Requeue> => {
    if (!firstSeen.has(key)) {
      firstSeen.set(key, clock.monotonicMs());
      deps.log.info({ request: key, key: call.key }, "requesting a reservation");
    }
    requeued.delete(key);
    const isRepeatable = await deps.supportsKeys().catch(toFault);
    if (isRepeatable instanceof Fault) return applyPlan(key, state, planUnanswered(state, isRepeatable));
    if (!isRepeatable) await statusWriter.write(key, state.request, planAsking(state));
    const answer = await communicator.requestReservation(call.request, call.key).catch(toFault);
    if (!(answer instanceof Fault)) cache.update("requester", withKey(answer, call.key));
    const latest = statusWriter.latest(key);
    if (latest === undefined || !isSameObject(latest, state.request)) {
      deps.onRequestDeleted(state.request);
      return {};
    }
    if (!(answer instanceof Fault)) return granted(key, latest, answer);
    return isKnown(latest, call)
      ? granted(key, latest)
      : refused(key, state, { call, fault: answer, isRepeatable });
  };

  /** The event stream may have delivered what the answer did not. */
  const isKnown = (request: ResourceRequest, call: ReservationCall): boolean =>
    newestReservationOf(request, cache)?.reservation.key === call.key;

  const granted = (key: string, latest: ResourceRequest, answer?: Reservation): Promise<Requeue> => {
    const state = stateOf(key, latest);
    const plan = planRequest(state);
    // An answer that does not change the request must not cause an immediate retry.
    if (plan.ask !== undefined && answer !== undefined) {
      logWrongAnswer(key, answer);
      return applyPlan(key, state, planWrongAnswer(state, answer));
    }
    backoff.reset(key);
    deps.onReserved(clock.monotonicMs() - (firstSeen.get(key) ?? 0));
    firstSeen.delete(key);
    return execute(key, state, plan);
  };

  const logWrongAnswer = (key: string, { id, requester: requesterID }: Reservation): void =>
    deps.log.warn(
      { request: key, reservation: id, requesterID },
      "the broker answered with a reservation that was not requested; it is ignored",
    );

  const refused = async (
    key: string,
    state: RequestState,
    { call, fault, isRepeatable }: { call: ReservationCall; fault: Fault; isRepeatable: boolean },
  ): Promise<Requeue> => {
    if (!isRepeatable && mayHaveReserved(fault)) return applyPlan(key, state, planLostAnswer(state));
    // An answer was lost and the request was edited since: the first reservation is released.
    if (fault.code === "key-mismatch") await communicator.releaseByKey(call.key);
    return applyPlan(key, state, planRefusal(state, fault));
  };

  const applyPlan = async (key: string, { request }: RequestState, plan: AnsweredPlan): Promise<Requeue> => {
    const requeueAfterMs = withBackoff(key, plan);
    await statusWriter.write(key, request, plan.status);
    return requeueAfterMs === undefined ? {} : { requeueAfterMs };
  };

  const withBackoff = (key: string, { isUnanswered, requeueAfterMs }: AnsweredPlan): number | undefined => {
    if (isUnanswered === true) return backoff.fail(key, requeueAfterMs);
    backoff.reset(key);
    return requeueAfterMs;
  };

  return {
    reconcile,
    requeueQueued: () => {
      const queued = [...deps.requestKeys()].filter((key) => isQueued(statusWriter.latest(key)));
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
  const attempts = cache.ofRequest(metadata.uid ?? "");
  if (attempts.size > 0) return attempts.get(Math.max(...attempts.keys()));
  return status?.reservationName === undefined ? undefined : cache.get("requester", status.reservationName);
}

function deliveryStatusOf({ status }: ReservationInstruction): DeliveryStatus | undefined {
  const peered = status?.conditions?.find(({ type }) => type === "Peered");
  return peered && { isDelivered: status?.delivered === true, peered };
}

function isQueued(request: ResourceRequest | undefined): boolean {
  return request?.status?.phase === "Pending" && request.status.nextAttemptTime !== undefined;
}

/** No answer, or one without a clear result. An unsupported call was never sent. */
function mayHaveReserved({ code, status }: Fault): boolean {
  return status >= 500 && code !== "unsupported";
}
