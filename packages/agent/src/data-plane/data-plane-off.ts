import type { DataPlane, DataPlaneState } from "./data-plane.ts";

const OFF: DataPlaneState = {
  kind: "off",
  reason: "DataPlaneOff",
  message: "this agent drives no data plane: the instruction is the delivery",
};

/** No data plane: somebody else acts on the instruction. */
export function dataPlaneOff(): DataPlane {
  return {
    establish: async () => OFF,
    observe: async () => OFF,
    release: async () => ({ kind: "clean" }),
    leftovers: async () => [],
  };
}
