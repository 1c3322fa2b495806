import { Fault, type ReservationInstruction, type ResourceRequest } from "@resource-broker/contract";
import type { DataPlaneState, Loan } from "../data-plane/data-plane.ts";
import type { Occurrence } from "../events/tell.ts";
import { MANAGER } from "../forge/labels.ts";
import type { Requeue } from "../reconcile.ts";
import type { BookEntry } from "../reservations/reservation-book.ts";
import { type BorrowingDeps, RESERVATION_INSTRUCTIONS } from "./borrowing-deps.ts";
import { type InstructionStatus, planDelivery } from "./plan-delivery.ts";

/** The objects whose status shows the reservation. */
export interface Shown {
  readonly instruction: ReservationInstruction | undefined;
  readonly request: ResourceRequest | undefined;
}

type DeliveryDeps = Pick<
  BorrowingDeps,
  "book" | "client" | "communicator" | "dataPlane" | "clock" | "namespace" | "tell"
>;

/** Has the data plane establish the resources, writes the status, and activates the reservation at the broker. */
export interface Delivery {
  readonly step: (entry: BookEntry, shown: Shown) => Promise<Requeue>;
  /** The reservation is torn down: what was reported about its delivery is reset. */
  readonly forget: (reservationId: string) => void;
}

export function delivery(deps: DeliveryDeps): Delivery {
  const { book, client, dataPlane, namespace } = deps;
  /** The problem that was last recorded, by reservation. */
  const troubles = new Map<string, string>();

  const tellTrouble = (id: string, state: DataPlaneState, about: Occurrence["about"] | undefined): void => {
    if (state.kind !== "working" || state.isTrouble !== true) return void troubles.delete(id);
    if (about === undefined || troubles.get(id) === state.reason) return;
    troubles.set(id, state.reason);
    deps.tell({ about, type: "Warning", reason: "DataPlaneTrouble", message: state.message });
  };

  const write = async (
    id: string,
    instruction: ReservationInstruction | undefined,
    { state, status }: { state: DataPlaneState; status: InstructionStatus },
  ): Promise<ReservationInstruction> => {
    const written: ReservationInstruction = await client.patch(
      RESERVATION_INSTRUCTIONS,
      { name: { name: id, namespace }, patch: { kind: "merge", body: { status } } },
      { subresource: "status", fieldManager: MANAGER },
    );
    const { message } = state;
    const isNew = instruction?.status?.delivered !== true && status.delivered === true;
    if (isNew) deps.tell({ about: written, type: "Normal", reason: "Delivered", message });
    return written;
  };

  const activate = async (id: string): Promise<void> => {
    try {
      book.learn("requester", await deps.communicator.activate(id));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.code === "unsupported") return; // older brokers have no activation: the reservation stays Reserved
      if (error.code === "not-found") return book.markUnknown(id);
      if (error.code !== "already-ended") throw error; // the end arrives on the event stream
    }
  };

  const step: Delivery["step"] = async (entry, shown) => {
    const { id } = entry.reservation;
    const loan = loanOf(entry, shown.request);
    // Nothing new is made for a reservation that the broker does not know; existing objects are kept.
    const isVouched = entry.standing !== "unknown";
    const state = await (isVouched ? dataPlane.establish(loan) : dataPlane.observe(loan));
    const { instruction } = shown;
    const plan = planDelivery({ entry, instruction, dataPlane: state, wallMs: deps.clock.wallMs() });
    const { status } = plan;
    const written = status === undefined ? instruction : await write(id, instruction, { state, status });
    tellTrouble(id, state, shown.request ?? written);
    if (plan.activate) await activate(id);
    return plan.requeueAfterMs === undefined ? {} : { requeueAfterMs: plan.requeueAfterMs };
  };

  return { step, forget: (id) => void troubles.delete(id) };
}

function loanOf({ reservation }: BookEntry, request: ResourceRequest | undefined): Loan {
  const offload = request?.spec.offload;
  return { reservation, ...(offload === undefined ? {} : { offload }) };
}
