import { Fault, parseTime } from "@resource-broker/base";
import type { ProviderInstruction } from "@resource-broker/contract/crd";
import type { ReconcileResult } from "@resource-broker/kube";
import type { AgentParts } from "../core/agent-deps.ts";
import type { ObjectEvent } from "../events/record-event.ts";
import { ignoring } from "../faults.ts";
import { providerInstructionName } from "../manifests/instructions.ts";
import { PROVIDER_INSTRUCTIONS } from "../manifests/labels.ts";
import { applyOwn, patchStatus } from "../manifests/writes.ts";
import type { Reservation } from "../reservations/reservation.ts";
import {
  type CapacityCheck,
  type ProviderInstructionAction,
  planProviderInstruction,
} from "./plan-provider-instruction.ts";

interface ProviderInstructionDeps extends AgentParts {
  readonly namespace: string;
  readonly checkCapacity: (reservation: Reservation) => CapacityCheck;
  /** The object for the event of a refusal: there is no instruction yet. */
  readonly advertisement: ObjectEvent["regarding"];
}

/** A limit against endless loops; a reservation needs at most three steps: apply, status, acknowledge. */
const MAX_STEPS = 6;

/** The provider's side: holds capacity while a reservation is live. */
export function providerInstructionController(deps: ProviderInstructionDeps) {
  const { cache, client, communicator, namespace } = deps;
  const instructionOf = deps.objects.providerInstruction;
  const acknowledged = new Map<string, number>();
  /** Reservations whose instruction was written; the informer may not show it yet. */
  const writtenIds = new Set<string>();

  const reconcile = async (id: string): Promise<ReconcileResult> => {
    let instruction = instructionOf(id);
    for (let step = 0; step < MAX_STEPS; step++) {
      const entry = cache.get("provider", id);
      const plan = planProviderInstruction({
        entry,
        instruction,
        namespace,
        capacity: entry === undefined ? { kind: "unknown" } : deps.checkCapacity(entry.reservation),
        acknowledged: acknowledged.get(id),
        broker: deps.link.view(),
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
        return patchStatus(client, PROVIDER_INSTRUCTIONS, { name: nameOf(id), status: action.status });
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
    const written = await applyOwn(client, PROVIDER_INSTRUCTIONS, desired);
    writtenIds.add(desired.spec.reservationName);
    if (isNew) {
      const { message = "" } = desired.spec;
      deps.recordEvent({ regarding: written, type: "Normal", reason: "HoldPlaced", message });
      deps.observer.held(
        delayOf(cache.get("provider", desired.spec.reservationName)?.reservation, deps.link.view().now),
      );
    }
    return written;
  };

  const remove = async (id: string, instruction: ProviderInstruction | undefined): Promise<undefined> => {
    await client.delete(PROVIDER_INSTRUCTIONS, nameOf(id)).catch(ignoring("not-found"));
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
      const reservation = await communicator.getReservation(id);
      if (reservation === undefined) cache.markUnknown(id);
      else cache.update("provider", reservation);
    }
  };

  return {
    reconcile,
    /** True once the instruction was written, also before the informer shows it. */
    isHeld: (id: string): boolean => writtenIds.has(id) || instructionOf(id) !== undefined,
    /** The broker has another ledger: everything is acknowledged again. */
    forgetAcknowledgements: () => acknowledged.clear(),
  };
}

function delayOf(reservation: Reservation | undefined, now: number | undefined): number {
  const at = parseTime(reservation?.reservedAt ?? "");
  return at === undefined || now === undefined ? 0 : Math.max(0, now - at);
}
