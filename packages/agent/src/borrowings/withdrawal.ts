import { Fault } from "@resource-broker/contract";
import type { ReleaseState } from "../data-plane/data-plane.ts";
import { MANAGER } from "../forge/labels.ts";
import type { Requeue } from "../reconcile.ts";
import { RESERVATION_INSTRUCTIONS, type ReservationInstructionDeps } from "./borrowing-deps.ts";
import type { StatusTargets } from "./delivery.ts";
import { teardownStatus } from "./plan-delivery.ts";

type TeardownDeps = Pick<
  ReservationInstructionDeps,
  "client" | "dataPlane" | "clock" | "namespace" | "onReleaseState" | "recordEvent"
>;

/** Tears down what the data plane made, and deletes the instruction when nothing else is left. */
export interface TeardownReconciler {
  readonly step: (reservationId: string, shown: StatusTargets) => Promise<Requeue>;
  readonly state: (reservationId: string) => ReleaseState | undefined;
  /** The reservation is live again, or objects of it were found: its release state is dropped. */
  readonly reset: (reservationId: string) => void;
  readonly ids: () => Iterable<string>;
}

export function teardownReconciler(deps: TeardownDeps): TeardownReconciler {
  const { client, dataPlane, namespace } = deps;
  const states = new Map<string, ReleaseState>();

  const setState = (id: string, now: ReleaseState, targets: StatusTargets): void => {
    const before = states.get(id);
    states.set(id, now);
    if (stageKey(before) === stageKey(now)) return;
    deps.onReleaseState(id);
    const regarding = targets.request ?? targets.instruction;
    if (regarding === undefined) return;
    if (now.kind === "working" && now.isStalled === true) {
      deps.recordEvent({ regarding, type: "Warning", reason: "CleanupTrouble", message: now.message });
    } else if (now.kind === "clean" && before !== undefined) {
      const message = `nothing of ${id} is left in this cluster`;
      deps.recordEvent({ regarding, type: "Normal", reason: "Cleaned", message });
    }
  };

  const writeStatus = async (
    id: string,
    { instruction }: StatusTargets,
    release: ReleaseState,
  ): Promise<void> => {
    const status = teardownStatus({ instruction, release, wallMs: deps.clock.wallMs() });
    if (status === undefined) return;
    const change = { name: { name: id, namespace }, patch: { kind: "merge", body: { status } } } as const;
    const options = { subresource: "status", fieldManager: MANAGER } as const;
    await client.patch(RESERVATION_INSTRUCTIONS, change, options).catch(ignoreNotFound);
  };

  return {
    step: async (id, shown) => {
      const release = await dataPlane.release(id);
      if (release.kind === "working") {
        setState(id, release, shown);
        await writeStatus(id, shown, release);
        return { requeueAfterMs: release.retryAfterMs };
      }
      if (shown.instruction !== undefined) {
        await client.delete(RESERVATION_INSTRUCTIONS, { name: id, namespace }).catch(ignoreNotFound);
      }
      setState(id, release, shown);
      return {};
    },
    state: (id) => states.get(id),
    reset: (id) => void states.delete(id),
    ids: () => [...states.keys()],
  };
}

/** The part of the state that events are recorded for: a stalled step counts as a new one. */
function stageKey(state: ReleaseState | undefined): string | undefined {
  if (state?.kind !== "working") return state?.kind;
  return state.isStalled === true ? `${state.reason}!` : state.reason;
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof Fault) || error.code !== "not-found") throw error;
}
