import { Fault } from "@resource-broker/contract";
import type { ReleaseState } from "../data-plane/data-plane.ts";
import { MANAGER } from "../forge/labels.ts";
import type { Requeue } from "../reconcile.ts";
import { type BorrowingDeps, RESERVATION_INSTRUCTIONS } from "./borrowing-deps.ts";
import type { Shown } from "./delivery.ts";
import { withdrawalStatus } from "./plan-delivery.ts";

type WithdrawalDeps = Pick<
  BorrowingDeps,
  "client" | "dataPlane" | "clock" | "namespace" | "onReleased" | "tell"
>;

/** Tears down what the data plane made, and deletes the instruction when nothing else is left. */
export interface Withdrawal {
  readonly step: (reservationId: string, shown: Shown) => Promise<Requeue>;
  readonly state: (reservationId: string) => ReleaseState | undefined;
  /** The reservation is live again, or objects of it were found: its release state is dropped. */
  readonly forget: (reservationId: string) => void;
  readonly ids: () => Iterable<string>;
}

export function withdrawal(deps: WithdrawalDeps): Withdrawal {
  const { client, dataPlane, namespace } = deps;
  const states = new Map<string, ReleaseState>();

  const learn = (id: string, now: ReleaseState, shown: Shown): void => {
    const before = states.get(id);
    states.set(id, now);
    if (stageOf(before) === stageOf(now)) return;
    deps.onReleased(id);
    const about = shown.request ?? shown.instruction;
    if (about === undefined) return;
    if (now.kind === "working" && now.isTrouble === true) {
      deps.tell({ about, type: "Warning", reason: "CleanupTrouble", message: now.message });
    } else if (now.kind === "clean" && before !== undefined) {
      const message = `nothing of ${id} is left in this cluster`;
      deps.tell({ about, type: "Normal", reason: "Cleaned", message });
    }
  };

  const say = async (id: string, { instruction }: Shown, release: ReleaseState): Promise<void> => {
    const status = withdrawalStatus({ instruction, release, wallMs: deps.clock.wallMs() });
    if (status === undefined) return;
    const change = { name: { name: id, namespace }, patch: { kind: "merge", body: { status } } } as const;
    const options = { subresource: "status", fieldManager: MANAGER } as const;
    await client.patch(RESERVATION_INSTRUCTIONS, change, options).catch(unlessGone);
  };

  return {
    step: async (id, shown) => {
      const release = await dataPlane.release(id);
      if (release.kind === "working") {
        learn(id, release, shown);
        await say(id, shown, release);
        return { requeueAfterMs: release.retryAfterMs };
      }
      if (shown.instruction !== undefined) {
        await client.delete(RESERVATION_INSTRUCTIONS, { name: id, namespace }).catch(unlessGone);
      }
      learn(id, release, shown);
      return {};
    },
    state: (id) => states.get(id),
    forget: (id) => void states.delete(id),
    ids: () => [...states.keys()],
  };
}

/** The part of the state that events are recorded for: a stalled step counts as a new one. */
function stageOf(state: ReleaseState | undefined): string | undefined {
  if (state?.kind !== "working") return state?.kind;
  return state.isTrouble === true ? `${state.reason}!` : state.reason;
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof Fault) || error.code !== "not-found") throw error;
}
