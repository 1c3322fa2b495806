import type { ReservationInstruction, ResourceRequest } from "@resource-broker/contract/crd";
import { type ReconcileResult, type Reconciler, reconcileLoop } from "@resource-broker/kube";
import type { AgentParts } from "../core/agent-deps.ts";
import { reservationFromInstruction } from "../manifests/instructions.ts";
import { attemptOf } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";
import type { CapacityChange } from "../transport/broker-communicator.ts";
import { createOrphanCollector } from "./orphan-collector.ts";
import { releaseController } from "./release-controller.ts";
import { requestController } from "./request-controller.ts";
import { type Origin, reservationInstructionController } from "./reservation-instruction-controller.ts";

export interface RequesterOptions {
  readonly clusterId: string;
  readonly instructionNamespace: string;
  readonly withoutBroker?: boolean;
}

export interface RequesterDeps extends AgentParts {
  /** A request has begun to wait at the broker. */
  readonly onQueued: () => void;
}

const NOT_SYNCED_RETRY_MS = 100;

/** The requester's half of the agent: ResourceRequests, ReservationInstructions and releases. */
export function createRequester(options: RequesterOptions, deps: RequesterDeps) {
  const { cache, objects, observer } = deps;
  const requests = requestController(options, {
    ...deps,
    releaseState: (id) => instructions.releaseState(id),
    onRequestDeleted: requestDeleted,
  });
  const instructions = reservationInstructionController({
    ...deps,
    namespace: options.instructionNamespace,
    originOf,
    onReleaseState: (id) => {
      const entry = cache.get("requester", id);
      if (entry !== undefined) triggerRequestOf(entry);
    },
  });
  const releases = releaseController(deps);
  /** Existing reservations are known only when all instructions were listed: before that, nothing may be requested again. */
  const loopOf = (name: string, reconcile: (key: string) => Promise<ReconcileResult>): Reconciler =>
    reconcileLoop(
      {
        name,
        concurrency: 8,
        reconcile: async (key) =>
          objects.synced() ? reconcile(key) : { requeueAfterMs: NOT_SYNCED_RETRY_MS },
      },
      { ...deps, observer: { onRetry: () => observer.reconcileFailed(name) } },
    );
  const loops = {
    requests: loopOf("requests", requests.reconcile),
    reservations: loopOf("borrowings", instructions.reconcile),
    releases: loopOf("releases", releases.reconcile),
  };

  function originOf({ reservation }: CachedReservation): Origin {
    const attempt = attemptOf(reservation.key);
    if (attempt === undefined) return { kind: "foreign" };
    const request = objects.requestByUid(attempt.uid);
    const isThere = request !== undefined && request.metadata.deletionTimestamp === undefined;
    return isThere ? { kind: "request", request } : { kind: "gone" };
  }

  function requestDeleted(request: ResourceRequest): void {
    const uid = releases.noteDeleted(request);
    loops.releases.enqueue(uid);
    for (const { reservation } of cache.ofRequest(uid).values()) loops.reservations.enqueue(reservation.id);
  }
  const triggerRequest = (uid: string): void => {
    const request = objects.requestByUid(uid);
    if (request !== undefined) loops.requests.enqueue(keyOf(request));
  };
  const triggerRequestOf = ({ reservation }: Pick<CachedReservation, "reservation">): void => {
    const attempt = attemptOf(reservation.key);
    if (attempt !== undefined) triggerRequest(attempt.uid);
  };
  deps.waiting.onChange(triggerRequest);

  objects.requests.listen((key, now, before) => {
    const isReplaced = before !== undefined && before.metadata.uid !== now?.metadata.uid;
    if (isReplaced) requestDeleted(before);
    else if (now?.metadata.deletionTimestamp !== undefined) requestDeleted(now);
    loops.requests.enqueue(key);
  });
  objects.reservationInstructions.listen((_, now, before) => {
    const instruction = now ?? before;
    if (instruction === undefined) return;
    if (objects.synced()) logInstruction(instruction, { now, before });
    instructionSeen(instruction, now === undefined);
  });
  const logInstruction = (
    { spec }: ReservationInstruction,
    { now, before }: Record<"now" | "before", ReservationInstruction | undefined>,
  ): void => {
    const { reservationName: reservation, targetClusterID: provider } = spec;
    if (before === undefined) deps.log.info({ reservation, provider }, "ReservationInstruction created");
    if (now === undefined) deps.log.info({ reservation }, "ReservationInstruction removed");
    if (isDelivered(now) && !isDelivered(before)) deps.log.info({ reservation, provider }, "delivered");
  };
  const instructionSeen = (instruction: ReservationInstruction, isGone: boolean): void => {
    const id = instruction.spec.reservationName;
    if (!isGone) cache.restore("requester", reservationFromInstruction(instruction, options.clusterId));
    const entry = cache.get("requester", id);
    if (isGone && entry?.syncState === "unknown" && originOf(entry).kind !== "gone") {
      // The broker does not know it either, so a person may delete the instruction.
      cache.endLocally(id, "ReleasedByAdmin");
    }
    loops.reservations.enqueue(id);
    if (entry !== undefined) triggerRequestOf(entry);
  };
  cache.onChange((role, id) => {
    const entry = role === "requester" ? cache.get(role, id) : undefined;
    if (entry === undefined) return;
    loops.reservations.enqueue(id);
    triggerRequestOf(entry);
  });

  const orphanCollector = createOrphanCollector({
    ...deps,
    onOrphan: (id) => {
      instructions.markOrphan(id);
      loops.reservations.enqueue(id);
    },
    beforeRun: instructions.prune,
  });

  const warnOfRisk = ({ reservationIds, message }: CapacityChange): void => {
    for (const id of reservationIds) {
      const attempt = attemptOf(cache.get("requester", id)?.reservation.key);
      const regarding = (attempt && objects.requestByUid(attempt.uid)) ?? objects.reservationInstruction(id);
      if (regarding !== undefined)
        deps.recordEvent({ regarding, type: "Warning", reason: "CapacityAtRisk", message });
    }
  };

  return {
    /** Starts the orphan collection; the controllers start with the informers. */
    start: orphanCollector.start,
    stop: async (): Promise<void> => {
      await orphanCollector.stop();
      await Promise.all(Object.values(loops).map((loop) => loop.stop()));
    },
    /** Releases what a deleted request with this UID still has reserved. */
    releaseRequest: loops.releases.enqueue,
    capacityChanged: (capacity: CapacityChange): void => {
      if (capacity.change === "at-risk") warnOfRisk(capacity);
      else for (const key of requests.requeueQueued()) loops.requests.enqueue(key);
    },
  };
}

function isDelivered(instruction: ReservationInstruction | undefined): boolean {
  return instruction?.status?.delivered === true;
}

function keyOf({ metadata }: ResourceRequest): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}
