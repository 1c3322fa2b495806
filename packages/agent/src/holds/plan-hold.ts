import {
  fitToSchema,
  formatTime,
  type ProviderInstruction,
  providerInstructionKind,
} from "@resource-broker/contract";
import { type Said, saysTheSame, withConditions } from "../forge/conditions.ts";
import { providerInstruction } from "../forge/instructions.ts";
import { isSameInstruction } from "../forge/is-same-instruction.ts";
import { unknownMessage, unknownToBroker } from "../forge/unknown-to-broker.ts";
import { type BrokerView, expiryOf } from "../reservations/expiry.ts";
import type { BookEntry } from "../reservations/reservation-book.ts";
import { asWritten } from "../reservations/slice-defaults.ts";

/** Whether the cluster has capacity for a reservation that it has not accepted yet. `unknown`: the cluster is not observed yet. */
export type Room =
  | { readonly kind: "fits" | "unknown" }
  | { readonly kind: "short"; readonly reason: string };

export interface HoldState {
  readonly entry: BookEntry | undefined;
  readonly instruction: ProviderInstruction | undefined;
  readonly namespace: string;
  readonly room: Room;
  /** The generation that was last acknowledged to this broker; -1: acknowledged without a generation. */
  readonly acknowledged: number | undefined;
  readonly broker: BrokerView;
  /** Wall clock, for times in the status. */
  readonly wallMs: number;
}

export type HoldStatus = NonNullable<ProviderInstruction["status"]>;

export type HoldAction =
  | { readonly kind: "put"; readonly instruction: ProviderInstruction }
  | { readonly kind: "status"; readonly status: HoldStatus }
  | { readonly kind: "acknowledge"; readonly generation: number | undefined }
  | { readonly kind: "refuse"; readonly reason: string }
  /** It has expired, and the broker cannot be asked. */
  | { readonly kind: "end-here" }
  | { readonly kind: "remove" };

export interface HoldPlan {
  readonly actions: readonly HoldAction[];
  readonly requeueAfterMs?: number;
}

const LOOK_AGAIN_MS = 100;

/** What a provider does about one reservation. */
export function planHold(state: HoldState): HoldPlan {
  const { entry, instruction } = state;
  if (entry === undefined) return { actions: [] };
  const removal: readonly HoldAction[] = instruction === undefined ? [] : [{ kind: "remove" }];
  if (entry.endedAt !== undefined) return { actions: removal };
  const expiry = expiryOf(entry, state.broker);
  if (expiry.kind === "over") return { actions: [{ kind: "end-here" }, ...removal] };
  if (isNew(state)) {
    if (state.room.kind === "unknown") return { actions: [], requeueAfterMs: LOOK_AGAIN_MS };
    if (state.room.kind === "short") return { actions: [{ kind: "refuse", reason: state.room.reason }] };
  }
  return {
    actions: keep(entry, state),
    ...(expiry.kind === "later" ? { requeueAfterMs: expiry.inMs } : {}),
  };
}

/** Only a reservation that was never accepted can be refused; an accepted one is kept. */
function isNew({ entry, instruction, acknowledged }: HoldState): boolean {
  return instruction === undefined && acknowledged === undefined && entry?.standing === "confirmed";
}

function keep(entry: BookEntry, state: HoldState): HoldAction[] {
  const { instruction, namespace, acknowledged } = state;
  const { generation } = entry.reservation;
  const wanted = providerInstruction(asWritten(entry.reservation, instruction), namespace);
  const actions: HoldAction[] = [];
  if (instruction === undefined || !isSameInstruction(instruction, wanted)) {
    actions.push({ kind: "put", instruction: wanted });
  }
  const status = heldStatus(entry, state);
  if (!saysTheSame(instruction?.status, status)) actions.push({ kind: "status", status });
  const isTold = acknowledged !== undefined && acknowledged >= (generation ?? -1);
  if (entry.standing === "confirmed" && !isTold) actions.push({ kind: "acknowledge", generation });
  return actions;
}

function heldStatus(entry: BookEntry, { instruction, wallMs }: HoldState): HoldStatus {
  const { message } = entry.reservation.status;
  const now = formatTime(wallMs);
  const observedGeneration = instruction?.metadata.generation;
  const said: readonly Said[] = [
    { type: "Enforced", status: "True", reason: "Held", message },
    unknownToBroker(entry),
  ];
  return fitToSchema(providerInstructionKind.status, {
    enforced: true,
    message: entry.standing === "unknown" ? unknownMessage(entry) : message,
    lastUpdateTime: now,
    conditions: withConditions(instruction?.status?.conditions, said, { now, observedGeneration }),
  });
}
