import { NO_DATA_PLANE } from "@resource-broker/accounting";
import type { DataPlane, DataPlaneState } from "./data-plane.ts";

const OFF: DataPlaneState = {
  kind: "off",
  reason: "DataPlaneOff",
  message: "no data plane is configured: the instruction is all that is delivered",
};

/** No data plane: another program acts on the instruction. */
export function dataPlaneOff(): DataPlane {
  const nothing = async (): Promise<void> => undefined;
  return {
    requester: {
      establish: async () => OFF,
      observe: async () => OFF,
      release: async () => ({ kind: "clean" }),
      listPods: async () => [],
      listReservationIds: async () => [],
    },
    createProvider: () => ({ start: nothing, stop: nothing, identity: () => undefined }),
    accounting: NO_DATA_PLANE,
    stop: nothing,
  };
}
