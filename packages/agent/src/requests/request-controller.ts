import {
  Fault,
  type ReservationInstruction,
  type ResourceRequest,
  resourceRequestKind,
} from "@resource-broker/contract";
import { customResource, type KubeClient, toFault } from "@resource-broker/kube";
import type { MachineTime } from "@resource-broker/runtime";
import type { Tell } from "../events/tell.ts";
import { saysTheSame } from "../forge/conditions.ts";
import { MANAGER } from "../forge/labels.ts";
import type { Requeue } from "../reconcile.ts";
import type { BookEntry, ReservationBook } from "../reservations/reservation-book.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import {
  planForgotten,
  planRefusal,
  planRequest,
  type RequestPlan,
  type RequestState,
} from "./plan-request.ts";
import { occurrenceOf } from "./request-events.ts";
import type { Delivery, RequestStatus } from "./request-status.ts";

export const RESOURCE_REQUESTS = customResource(resourceRequestKind);

export interface RequestDeps {
  readonly book: ReservationBook;
  readonly client: Pick<KubeClient, "patch">;
  /** As last seen in the cluster, by `namespace/name`. */
  readonly request: (key: string) => ResourceRequest | undefined;
  readonly instruction: (reservationId: string) => ReservationInstruction | undefined;
  readonly communicator: Pick<BrokerCommunicator, "requestReservation" | "fetchReservation">;
  readonly machine: Pick<MachineTime, "wallMs" | "monotonicMs">;
  readonly tell: Tell;
  /** From the first sight of a request to its grant. */
  readonly onReserved: (tookMs: number) => void;
}

export interface RequestController {
  readonly reconcile: (key: string) => Promise<Requeue>;
  /** Capacity was freed: queued requests ask at their next reconcile. Returns their keys. */
  readonly nudge: () => string[];
}

/** The requester's side: asks the broker for what a ResourceRequest wants, and tells in its status what came of it. */
export function requestController(deps: RequestDeps): RequestController {
  const { book, communicator, machine } = deps;
  const queued = new Set<string>();
  const nudged = new Set<string>();
  const firstSeen = new Map<string, number>();

  const reconcile = async (key: string): Promise<Requeue> => {
    const request = deps.request(key);
    if (request === undefined) {
      for (const kept of [queued, nudged, firstSeen]) kept.delete(key);
      return {};
    }
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
      now: machine.wallMs(),
      isNudged: nudged.has(key),
    };
  };

  const carryOut = async (key: string, state: RequestState, plan: RequestPlan): Promise<Requeue> => {
    if (plan.lookUp !== undefined) return lookUp(key, state, plan.lookUp);
    if (plan.ask !== undefined) return ask(key, state, plan.ask);
    if (plan.status !== undefined) await write(key, state.request, plan.status);
    return plan.requeueAfterMs === undefined ? {} : { requeueAfterMs: plan.requeueAfterMs };
  };

  const lookUp = async (key: string, state: RequestState, id: string): Promise<Requeue> => {
    const found = await communicator.fetchReservation(id);
    if (found === undefined) return carryOut(key, state, planForgotten(state));
    book.learn("requester", found);
    return { requeueAfterMs: 0 };
  };

  const ask = async (
    key: string,
    state: RequestState,
    { request, key: idempotencyKey }: NonNullable<RequestPlan["ask"]>,
  ): Promise<Requeue> => {
    if (!firstSeen.has(key)) firstSeen.set(key, machine.monotonicMs());
    nudged.delete(key);
    try {
      const reservation = await communicator.requestReservation(request, idempotencyKey);
      // Brokers that know no keys do not repeat them; here they are what ties the two together.
      book.learn("requester", { key: idempotencyKey, ...reservation });
      queued.delete(key);
      deps.onReserved(machine.monotonicMs() - (firstSeen.get(key) ?? 0));
      const now = deps.request(key) ?? state.request;
      return carryOut(key, stateOf(key, now), planRequest(stateOf(key, now)));
    } catch (error) {
      return refused(key, state, toFault(error));
    }
  };

  const refused = async (key: string, state: RequestState, fault: Fault): Promise<Requeue> => {
    const plan = planRefusal(state, fault);
    if (plan.status.nextAttemptTime !== undefined) queued.add(key);
    await write(key, state.request, plan.status);
    // Thrown, so that the queue waits longer each time; the status has already said what is wrong.
    if (plan.isOpen && plan.requeueAfterMs === undefined) throw fault;
    return plan.requeueAfterMs === undefined ? {} : { requeueAfterMs: plan.requeueAfterMs };
  };

  const write = async (key: string, request: ResourceRequest, status: RequestStatus): Promise<void> => {
    if (saysTheSame(request.status, status)) return;
    const { name, namespace = "" } = request.metadata;
    const body = { status: { ...cleared(request.status), ...status } };
    try {
      await deps.client.patch(
        RESOURCE_REQUESTS,
        { name: { name, namespace }, patch: { kind: "merge", body } },
        { subresource: "status", fieldManager: MANAGER },
      );
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "not-found") throw error; // deleted meanwhile
    }
    const occurrence = occurrenceOf(request, status);
    if (occurrence !== undefined) deps.tell(occurrence);
    if (status.phase !== "Pending") firstSeen.delete(key);
  };

  return {
    reconcile,
    nudge: () => {
      for (const key of queued) nudged.add(key);
      return [...queued];
    },
  };
}

/** The newest reservation that a request led to; brokers without keys are asked by the name in its status. */
function borrowingOf({ metadata, status }: ResourceRequest, book: ReservationBook): BookEntry | undefined {
  const made = book.ofRequest(metadata.uid ?? "");
  if (made.size > 0) return made.get(Math.max(...made.keys()));
  return status?.reservationName === undefined ? undefined : book.get("requester", status.reservationName);
}

function deliveryOf({ status }: ReservationInstruction): Delivery | undefined {
  const peered = status?.conditions?.find(({ type }) => type === "Peered");
  return peered && { isDelivered: status?.delivered === true, peered };
}

/** A merge patch keeps what it does not name: what the old status said and the new one does not is taken away. */
function cleared(before: RequestStatus | undefined): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.keys(before ?? {}).map((name) => [name, null]));
}
