import type { DataPlane, DataPlaneState, DeliverySpec, ReleaseState } from "../data-plane/data-plane.ts";
import { dataPlaneOff } from "../data-plane/data-plane-off.ts";

/** A data plane in the hands of a test; its provider's half is off. What is established is there until it was released. */
export interface FakeDataPlane extends DataPlane {
  /** Ids of what is there, or half there. */
  readonly there: Set<string>;
  readonly specs: DeliverySpec[];
  /** Ids of what gets no new pods. */
  readonly cordoned: Set<string>;
  /** What the next calls say. */
  readonly setState: (establish: DataPlaneState) => void;
  /** True: nothing can be taken down. */
  readonly block: (isBlocked: boolean) => void;
}

export function fakeDataPlane(): FakeDataPlane {
  const there = new Set<string>();
  const specs: DeliverySpec[] = [];
  const cordoned = new Set<string>();
  let current: DataPlaneState = { kind: "ready", reason: "NodeReady", message: "the node is ready" };
  let isBlocked = false;
  const blocked: ReleaseState = {
    kind: "working",
    reason: "Draining",
    message: "1 pod is left",
    retryAfterMs: 1000,
  };
  return {
    there,
    specs,
    cordoned,
    setState: (state) => {
      current = state;
    },
    block: (now) => {
      isBlocked = now;
    },
    ...dataPlaneOff(),
    requester: {
      establish: async (spec) => {
        specs.push(spec);
        there.add(spec.reservation.id);
        if (spec.reservation.preempting === undefined) cordoned.delete(spec.reservation.id);
        else cordoned.add(spec.reservation.id);
        return current;
      },
      observe: async () => current,
      release: async (id) => {
        if (isBlocked && there.has(id)) return blocked;
        there.delete(id);
        cordoned.delete(id);
        return { kind: "clean" };
      },
      listPods: async () => [],
      listReservationIds: async () => [...there],
    },
  };
}
