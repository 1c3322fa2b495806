import { type Clock, Fault, type Log, parseTime } from "@resource-broker/base";
import type { ProviderInstruction } from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import type { ObjectEvent, RecordEvent } from "../events/record-event.ts";
import { providerInstructionName } from "../manifests/instructions.ts";
import { MANAGER, PROVIDER_INSTRUCTIONS } from "../manifests/labels.ts";
import type { Requeue } from "../reconcile.ts";
import type { BrokerView } from "../reservations/expiry.ts";
import type { Reservation } from "../reservations/reservation.ts";
import type { ReservationCache } from "../reservations/reservation-cache.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import {
  type CapacityCheck,
  type ProviderInstructionAction,
  planProviderInstruction,
} from "./plan-provider-instruction.ts";

export interface ProviderInstructionDeps {
  readonly cache: ReservationCache;
  readonly client: Pick<KubeClient, "apply" | "patch" | "delete">;
  /** As last seen in the cluster. */
  readonly instruction: (reservationId: string) => ProviderInstruction | undefined;
  readonly communicator: Pick<BrokerCommunicator, "acknowledge" | "refuse" | "fetchReservation">;
  readonly checkCapacity: (reservation: Reservation) => CapacityCheck;
  readonly broker: () => BrokerView;
  readonly clock: Pick<Clock, "wallMs">;
  readonly recordEvent: RecordEvent;
  readonly log: Log;
  readonly namespace: string;
  /** The object for the event of a refusal: there is no instruction yet. */
  readonly advertisement: ObjectEvent["regarding"];
  /** Called when the instruction was created, with the time since the grant, by the broker's time. */
  readonly onHeld: (delayMs: number) => void;
}

export interface ProviderInstructionController {
  readonly reconcile: (reservationId: string) => Promise<Requeue>;
  /** True once the instruction was written, also before the informer shows it. */
  readonly isHeld: (reservationId: string) => boolean;
  /** The broker has another ledger: everything is acknowledged again. */
  readonly forgetAcknowledgements: () => void;
}

/** A limit against endless loops; a reservation needs at most three steps: apply, status, acknowledge. */
const MAX_STEPS = 6;

/** The provider's side: holds capacity while a reservation is live. */
export function providerInstructionController(deps: ProviderInstructionDeps): ProviderInstructionController {
  const { cache, communicator, namespace } = deps;
  const acknowledged = new Map<string, number>();
  /** Reservations whose instruction was written; the informer may not show it yet. */
  const writtenIds = new Set<string>();

  const reconcile = async (id: string): Promise<Requeue> => {
    let instruction = deps.instruction(id);
    for (let step = 0; step < MAX_STEPS; step++) {
      const entry = cache.get("provider", id);
      const plan = planProviderInstruction({
        entry,
        instruction,
        namespace,
        capacity: entry === undefined ? { kind: "unknown" } : deps.checkCapacity(entry.reservation),
        acknowledged: acknowledged.get(id),
        broker: deps.broker(),
        wallMs: deps.clock.wallMs(),
      });
      const [action] = plan.actions;
      if (action === undefined) return plan;
      instruction = await perform(id, action, instruction);
      if (action.kind === "refuse") return {};
    }
    return { requeueAfterMs: 0 };
  };

  const perform = async (
    id: string,
    action: ProviderInstructionAction,
    instruction: ProviderInstruction | undefined,
  ): Promise<ProviderInstruction | undefined> => {
    switch (action.kind) {
      case "apply":
        return applyInstruction(action.instruction, instruction === undefined);
      case "status":
        return deps.client.patch(
          PROVIDER_INSTRUCTIONS,
          { name: nameOf(id), patch: { kind: "merge", body: { status: action.status } } },
          { subresource: "status", fieldManager: MANAGER },
        );
      case "acknowledge":
        await report(id, () => communicator.acknowledge(id, action.generation));
        acknowledged.set(id, action.generation ?? -1);
        return instruction;
      case "refuse":
        await report(id, () => communicator.refuse(id, action.reason));
        deps.log.warn({ reservation: id, reason: action.reason }, "the provider refuses the reservation");
        deps.recordEvent({
          regarding: deps.advertisement,
          type: "Warning",
          reason: "HoldRefused",
          message: `${id}: ${action.reason}`,
        });
        return instruction;
      case "expire-locally":
        cache.endLocally(id, "Expired");
        return instruction;
      case "remove":
        return remove(id, instruction);
    }
  };

  const applyInstruction = async (
    desired: ProviderInstruction,
    isNew: boolean,
  ): Promise<ProviderInstruction> => {
    const written = await deps.client.apply(PROVIDER_INSTRUCTIONS, desired, {
      fieldManager: MANAGER,
      force: true,
    });
    writtenIds.add(desired.spec.reservationName);
    if (isNew) {
      const { message = "" } = desired.spec;
      deps.recordEvent({ regarding: written, type: "Normal", reason: "HoldPlaced", message });
      deps.onHeld(
        delayOf(cache.get("provider", desired.spec.reservationName)?.reservation, deps.broker().now),
      );
    }
    return written;
  };

  const remove = async (id: string, instruction: ProviderInstruction | undefined): Promise<undefined> => {
    await deps.client.delete(PROVIDER_INSTRUCTIONS, nameOf(id)).catch(ignoreNotFound);
    acknowledged.delete(id);
    writtenIds.delete(id);
    if (instruction === undefined) return;
    const { reservation } = cache.get("provider", id) ?? {};
    const message = reservation?.message ?? "the reservation has expired";
    deps.recordEvent({ regarding: instruction, type: "Normal", reason: "HoldRemoved", message });
  };

  const nameOf = (id: string) => ({ name: providerInstructionName(id), namespace });

  /** An answer that comes too late, or for a reservation that the broker does not know, updates the cache. */
  const report = async (id: string, call: () => Promise<void>): Promise<void> => {
    try {
      await call();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.code === "unsupported") return; // older brokers take no acknowledgements, and need none
      if (error.code === "not-found") return cache.markUnknown(id);
      if (error.code !== "already-ended" && error.code !== "ledger-conflict") throw error;
      const reservation = await communicator.fetchReservation(id);
      if (reservation === undefined) cache.markUnknown(id);
      else cache.update("provider", reservation);
    }
  };

  return {
    reconcile,
    isHeld: (id) => writtenIds.has(id) || deps.instruction(id) !== undefined,
    forgetAcknowledgements: () => acknowledged.clear(),
  };
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof Fault) || error.code !== "not-found") throw error;
}

function delayOf(reservation: Reservation | undefined, now: number | undefined): number {
  const at = parseTime(reservation?.reservedAt ?? "");
  return at === undefined || now === undefined ? 0 : Math.max(0, now - at);
}
