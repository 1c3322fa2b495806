import {
  Fault,
  type ReservationInstruction,
  reservationInstructionKind,
  type ResourceRequest,
} from "@resource-broker/contract";
import { customResource, type KubeClient } from "@resource-broker/kube";
import type { MachineTime } from "@resource-broker/runtime";
import type { DataPlane } from "../data-plane/data-plane.ts";
import type { Tell } from "../events/tell.ts";
import { MANAGER } from "../forge/labels.ts";
import { type Requeue, sooner } from "../reconcile.ts";
import type { BrokerView } from "../reservations/expiry.ts";
import type { BookEntry, ReservationBook } from "../reservations/reservation-book.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import { planBorrowing, planDelivery } from "./plan-borrowing.ts";

export const RESERVATION_INSTRUCTIONS = customResource(reservationInstructionKind);

/** What is known of the ResourceRequest that a reservation was asked with. */
export type Origin =
  | { readonly kind: "request"; readonly request: ResourceRequest }
  /** Made by an admin, or on the broker's cluster: nobody asked for it here. */
  | { readonly kind: "foreign" }
  | { readonly kind: "gone" };

export interface BorrowingDeps {
  readonly book: ReservationBook;
  readonly client: Pick<KubeClient, "apply" | "patch" | "delete">;
  /** As last seen in the cluster. */
  readonly instruction: (reservationId: string) => ReservationInstruction | undefined;
  readonly originOf: (entry: BookEntry) => Origin;
  readonly communicator: Pick<BrokerCommunicator, "activate">;
  readonly dataPlane: DataPlane;
  readonly broker: () => BrokerView;
  readonly machine: Pick<MachineTime, "wallMs">;
  readonly tell: Tell;
  readonly namespace: string;
}

export interface BorrowingController {
  readonly reconcile: (reservationId: string) => Promise<Requeue>;
}

const WITHDRAW_AGAIN_MS = 1000;

/** The requester's side: turns a reservation into an instruction, and that into resources pods can use. */
export function borrowingController(deps: BorrowingDeps): BorrowingController {
  const { book, client, namespace, dataPlane } = deps;

  const reconcile = async (id: string): Promise<Requeue> => {
    const entry = book.get("requester", id);
    if (entry === undefined) return {};
    const origin = deps.originOf(entry);
    let instruction = deps.instruction(id);
    const plan = planBorrowing({
      entry,
      instruction,
      namespace,
      request: origin.kind === "request" ? origin.request : undefined,
      isOrphan: origin.kind === "gone",
      broker: deps.broker(),
    });
    let next: Requeue = plan;
    for (const action of plan.actions) {
      switch (action.kind) {
        case "put":
          instruction = await client.apply(RESERVATION_INSTRUCTIONS, action.instruction, {
            fieldManager: MANAGER,
            force: true,
          });
          break;
        case "deliver":
          next = sooner(next, await deliver(entry, instruction));
          break;
        case "end-here":
          book.endHere(id, "Expired");
          break;
        case "withdraw":
          next = sooner(next, await withdraw(id));
          break;
      }
    }
    return next;
  };

  const deliver = async (
    entry: BookEntry,
    instruction: ReservationInstruction | undefined,
  ): Promise<Requeue> => {
    const { id } = entry.reservation;
    const state = await dataPlane.ensure(entry.reservation);
    const plan = planDelivery({ entry, instruction, dataPlane: state, wallMs: deps.machine.wallMs() });
    if (plan.status !== undefined) {
      const written: ReservationInstruction = await client.patch(
        RESERVATION_INSTRUCTIONS,
        { name: { name: id, namespace }, patch: { kind: "merge", body: { status: plan.status } } },
        { subresource: "status", fieldManager: MANAGER },
      );
      const isNew = instruction?.status?.delivered !== true && plan.status.delivered === true;
      if (isNew) deps.tell({ about: written, type: "Normal", reason: "Delivered", message: state.message });
    }
    if (plan.activate) await activate(id);
    return plan;
  };

  const activate = async (id: string): Promise<void> => {
    try {
      book.learn("requester", await deps.communicator.activate(id));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.code === "unsupported") return; // older brokers know no activation: Reserved is all there is
      if (error.code === "not-found") return book.markUnknown(id);
      if (error.code !== "already-ended") throw error; // its end arrives by the stream
    }
  };

  const withdraw = async (id: string): Promise<Requeue> => {
    if (!(await dataPlane.remove(id))) return { requeueAfterMs: WITHDRAW_AGAIN_MS };
    await client.delete(RESERVATION_INSTRUCTIONS, { name: id, namespace }).catch((error: unknown) => {
      if (!(error instanceof Fault) || error.code !== "not-found") throw error;
    });
    return {};
  };

  return { reconcile };
}
