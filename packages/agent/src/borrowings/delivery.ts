import { Fault, type ReservationInstruction, type ResourceRequest } from "@resource-broker/contract";
import type { DataPlaneState, Loan } from "../data-plane/data-plane.ts";
import { MANAGER } from "../forge/labels.ts";
import type { Requeue } from "../reconcile.ts";
import type { BookEntry } from "../reservations/reservation-book.ts";
import { type BorrowingDeps, RESERVATION_INSTRUCTIONS } from "./borrowing-deps.ts";
import { type InstructionStatus, planDelivery } from "./plan-delivery.ts";

/** The objects that people see a reservation by. */
export interface Shown {
  readonly instruction: ReservationInstruction | undefined;
  readonly request: ResourceRequest | undefined;
}

type DeliveryDeps = Pick<
  BorrowingDeps,
  "book" | "client" | "communicator" | "dataPlane" | "machine" | "namespace" | "tell"
>;

/** Brings the resources into the cluster, says how far that has come, and tells the broker once they are there. */
export function delivery(deps: DeliveryDeps): (entry: BookEntry, shown: Shown) => Promise<Requeue> {
  const { book, client, dataPlane, namespace } = deps;

  const write = async (
    id: string,
    { instruction, request }: Shown,
    { state, status }: { state: DataPlaneState; status: InstructionStatus },
  ): Promise<void> => {
    const written: ReservationInstruction = await client.patch(
      RESERVATION_INSTRUCTIONS,
      { name: { name: id, namespace }, patch: { kind: "merge", body: { status } } },
      { subresource: "status", fieldManager: MANAGER },
    );
    const { message } = state;
    const isNew = instruction?.status?.delivered !== true && status.delivered === true;
    if (isNew) deps.tell({ about: written, type: "Normal", reason: "Delivered", message });
    const isTrouble = state.kind === "working" && state.isTrouble === true;
    if (isTrouble && state.reason !== stepOf(instruction)) {
      deps.tell({ about: request ?? written, type: "Warning", reason: "DataPlaneTrouble", message });
    }
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

  return async (entry, shown) => {
    const { id } = entry.reservation;
    const loan = loanOf(entry, shown.request);
    // Nothing new is made for a reservation that nobody vouches for; what is there is kept.
    const isVouched = entry.standing !== "unknown";
    const state = await (isVouched ? dataPlane.establish(loan) : dataPlane.observe(loan));
    const { instruction } = shown;
    const plan = planDelivery({ entry, instruction, dataPlane: state, wallMs: deps.machine.wallMs() });
    if (plan.status !== undefined) await write(id, shown, { state, status: plan.status });
    if (plan.activate) await activate(id);
    return plan.requeueAfterMs === undefined ? {} : { requeueAfterMs: plan.requeueAfterMs };
  };
}

function loanOf({ reservation }: BookEntry, request: ResourceRequest | undefined): Loan {
  const offload = request?.spec.offload;
  return { reservation, ...(offload === undefined ? {} : { offload }) };
}

function stepOf(instruction: ReservationInstruction | undefined): string | undefined {
  return instruction?.status?.conditions?.find(({ type }) => type === "Peered")?.reason;
}
