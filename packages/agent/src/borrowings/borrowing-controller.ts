import type { ReservationInstruction, ResourceRequest } from "@resource-broker/contract";
import type { ReleaseState } from "../data-plane/data-plane.ts";
import { MANAGER } from "../forge/labels.ts";
import { type Requeue, sooner } from "../reconcile.ts";
import type { BookEntry } from "../reservations/reservation-book.ts";
import { type BorrowingDeps, type Origin, RESERVATION_INSTRUCTIONS } from "./borrowing-deps.ts";
import { delivery } from "./delivery.ts";
import { type BorrowingPlan, planBorrowing } from "./plan-borrowing.ts";
import { withdrawal } from "./withdrawal.ts";

export interface BorrowingController {
  readonly reconcile: (reservationId: string) => Promise<Requeue>;
  /** State of the release of an ended reservation; undefined: the release has not begun. */
  readonly released: (reservationId: string) => ReleaseState | undefined;
  /** Marks data plane objects that no live reservation needs; the next reconcile checks them again. */
  readonly found: (reservationId: string) => void;
  /** Drops the release state of reservations that are no longer in the cache. */
  readonly tidy: () => void;
}

/** The requester's side: creates the ReservationInstruction and has the data plane deliver the resources. */
export function borrowingController(deps: BorrowingDeps): BorrowingController {
  const { book, client, namespace } = deps;
  const deliver = delivery(deps);
  const withdraw = withdrawal(deps);
  const strays = new Set<string>();

  const reconcile = async (id: string): Promise<Requeue> => {
    const entry = book.get("requester", id);
    if (entry === undefined) return takeDownStray(id);
    const origin = deps.originOf(entry);
    const instruction = deps.instruction(id);
    const plan = planBorrowing({
      entry,
      instruction,
      namespace,
      request: requestOf(origin),
      isOrphan: origin.kind === "gone",
      isCleared: withdraw.state(id)?.kind === "clean",
      broker: deps.broker(),
    });
    return carryOut(plan, { entry, origin, instruction });
  };

  /** The cache does not have it, and the broker does not know it. */
  const takeDownStray = async (id: string): Promise<Requeue> => {
    if (!strays.has(id)) return {};
    const next = await withdraw.step(id, { instruction: deps.instruction(id), request: undefined });
    if (withdraw.state(id)?.kind === "clean") {
      strays.delete(id);
      withdraw.forget(id);
    }
    return next;
  };

  const carryOut = async (
    plan: BorrowingPlan,
    { entry, origin, instruction: found }: Scene,
  ): Promise<Requeue> => {
    const { id } = entry.reservation;
    const request = requestOf(origin);
    let instruction = found;
    let next: Requeue = plan.requeueAfterMs === undefined ? {} : { requeueAfterMs: plan.requeueAfterMs };
    for (const action of plan.actions) {
      switch (action.kind) {
        case "put":
          instruction = await client.apply(RESERVATION_INSTRUCTIONS, action.instruction, {
            fieldManager: MANAGER,
            force: true,
          });
          break;
        case "deliver":
          withdraw.forget(id);
          next = sooner(next, await deliver.step(entry, { instruction, request }));
          break;
        case "end-here":
          book.endHere(id, "Expired");
          break;
        case "withdraw":
          deliver.forget(id);
          next = sooner(next, await withdraw.step(id, { instruction, request }));
          break;
      }
    }
    return next;
  };

  return {
    reconcile,
    released: withdraw.state,
    found: (id) => {
      if (book.get("requester", id) === undefined) strays.add(id);
      else if (withdraw.state(id)?.kind === "clean") withdraw.forget(id);
    },
    tidy: () => {
      for (const id of withdraw.ids()) {
        if (book.get("requester", id) === undefined && !strays.has(id)) withdraw.forget(id);
      }
    },
  };
}

interface Scene {
  readonly entry: BookEntry;
  readonly origin: Origin;
  readonly instruction: ReservationInstruction | undefined;
}

function requestOf(origin: Origin): ResourceRequest | undefined {
  return origin.kind === "request" ? origin.request : undefined;
}
