import type { DataPlane, DataPlaneState, Loan, ReleaseState } from "../data-plane/data-plane.ts";

/** A data plane in the hands of a test. What is established is there until it was released. */
export interface FakeDataPlane extends DataPlane {
  /** Ids of what is there, or half there. */
  readonly there: Set<string>;
  readonly loans: Loan[];
  /** What the next calls say. */
  readonly say: (establish: DataPlaneState) => void;
  /** True: nothing can be taken down. */
  readonly block: (isBlocked: boolean) => void;
}

export function fakeDataPlane(): FakeDataPlane {
  const there = new Set<string>();
  const loans: Loan[] = [];
  let said: DataPlaneState = { kind: "ready", reason: "NodeReady", message: "the node is ready" };
  let isBlocked = false;
  const blocked: ReleaseState = {
    kind: "working",
    reason: "Draining",
    message: "1 pod is left",
    retryAfterMs: 1000,
  };
  return {
    there,
    loans,
    say: (state) => {
      said = state;
    },
    block: (now) => {
      isBlocked = now;
    },
    establish: async (loan) => {
      loans.push(loan);
      there.add(loan.reservation.id);
      return said;
    },
    observe: async () => said,
    release: async (id) => {
      if (isBlocked && there.has(id)) return blocked;
      there.delete(id);
      return { kind: "clean" };
    },
    leftovers: async () => [...there],
  };
}
