import type { ReservationInstruction, ResourceRequest } from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import type { ReleaseState } from "../data-plane/data-plane.ts";
import { MANAGER, RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import { earliestRequeue, type Requeue } from "../reconcile.ts";
import type { BrokerView } from "../reservations/expiry.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";
import { type DeliveryDeps, deliveryReconciler, teardownReconciler } from "./delivery.ts";
import {
  planReservationInstruction,
  type ReservationInstructionPlan,
} from "./plan-reservation-instruction.ts";

/** The ResourceRequest that a reservation was made for, if any. */
export type Origin =
  | { readonly kind: "request"; readonly request: ResourceRequest }
  /** Made by an admin, or as an object in the broker's cluster: there is no ResourceRequest here. */
  | { readonly kind: "foreign" }
  | { readonly kind: "gone" };

export interface ReservationInstructionDeps extends DeliveryDeps {
  readonly client: Pick<KubeClient, "apply" | "patch" | "delete">;
  /** As last seen in the cluster. */
  readonly instruction: (reservationId: string) => ReservationInstruction | undefined;
  readonly originOf: (entry: CachedReservation) => Origin;
  readonly broker: () => BrokerView;
}

export interface ReservationInstructionController {
  readonly reconcile: (reservationId: string) => Promise<Requeue>;
  /** State of the release of an ended reservation; undefined: the release has not begun. */
  readonly releaseState: (reservationId: string) => ReleaseState | undefined;
  /** Marks data plane objects that no live reservation needs; the next reconcile checks them again. */
  readonly markOrphan: (reservationId: string) => void;
  /** Drops the release state of reservations that are no longer in the cache. */
  readonly prune: () => void;
}

/** The requester's side: creates the ReservationInstruction and has the data plane deliver the resources. */
export function reservationInstructionController(
  deps: ReservationInstructionDeps,
): ReservationInstructionController {
  const { cache, client, namespace } = deps;
  const delivery = deliveryReconciler(deps);
  const teardown = teardownReconciler(deps);
  const orphans = new Set<string>();

  const reconcile = async (id: string): Promise<Requeue> => {
    const entry = cache.get("requester", id);
    if (entry === undefined) return tearDownOrphan(id);
    const origin = deps.originOf(entry);
    const instruction = deps.instruction(id);
    const plan = planReservationInstruction({
      entry,
      instruction,
      namespace,
      request: requestOf(origin),
      isOrphan: origin.kind === "gone",
      isTornDown: teardown.state(id)?.kind === "clean",
      broker: deps.broker(),
    });
    return execute(plan, { entry, origin, instruction });
  };

  /** The cache does not have it, and the broker does not know it. */
  const tearDownOrphan = async (id: string): Promise<Requeue> => {
    if (!orphans.has(id)) return {};
    const next = await teardown.step(id, { instruction: deps.instruction(id), request: undefined });
    if (teardown.state(id)?.kind === "clean") {
      orphans.delete(id);
      teardown.reset(id);
    }
    return next;
  };

  const execute = async (
    plan: ReservationInstructionPlan,
    { entry, origin, instruction: found }: ReconcileContext,
  ): Promise<Requeue> => {
    const { id } = entry.reservation;
    const request = requestOf(origin);
    let instruction = found;
    let next: Requeue = plan.requeueAfterMs === undefined ? {} : { requeueAfterMs: plan.requeueAfterMs };
    for (const action of plan.actions) {
      switch (action.kind) {
        case "apply":
          instruction = await client.apply(RESERVATION_INSTRUCTIONS, action.instruction, {
            fieldManager: MANAGER,
            force: true,
          });
          break;
        case "deliver":
          teardown.reset(id);
          next = earliestRequeue(next, await delivery.step(entry, { instruction, request }));
          break;
        case "expire-locally":
          cache.endLocally(id, "Expired");
          break;
        case "tear-down":
          delivery.reset(id);
          next = earliestRequeue(next, await teardown.step(id, { instruction, request }));
          break;
      }
    }
    return next;
  };

  return {
    reconcile,
    releaseState: teardown.state,
    markOrphan: (id) => {
      if (cache.get("requester", id) === undefined) orphans.add(id);
      else if (teardown.state(id)?.kind === "clean") teardown.reset(id);
    },
    prune: () => {
      for (const id of teardown.ids()) {
        if (cache.get("requester", id) === undefined && !orphans.has(id)) teardown.reset(id);
      }
    },
  };
}

interface ReconcileContext {
  readonly entry: CachedReservation;
  readonly origin: Origin;
  readonly instruction: ReservationInstruction | undefined;
}

function requestOf(origin: Origin): ResourceRequest | undefined {
  return origin.kind === "request" ? origin.request : undefined;
}
