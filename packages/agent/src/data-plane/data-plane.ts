import type { ReservationDTO } from "@resource-broker/contract";

/** How far borrowed resources have come into this cluster. */
export type DataPlaneState =
  /** `off`: this agent drives no data plane; the instruction itself is the delivery. */
  | { readonly kind: "ready" | "off"; readonly reason: string; readonly message: string }
  | {
      readonly kind: "working";
      readonly reason: string;
      readonly message: string;
      readonly retryAfterMs: number;
    };

/** What makes a reservation usable by pods here. Both calls are made again and again until they say so. */
export interface DataPlane {
  readonly ensure: (reservation: ReservationDTO) => Promise<DataPlaneState>;
  /** True when nothing of it is left. */
  readonly remove: (reservationId: string) => Promise<boolean>;
}

/** No data plane: the instruction itself is the delivery, and somebody else acts on it. */
export function instructionOnly(): DataPlane {
  return {
    ensure: async () => ({
      kind: "off",
      reason: "DataPlaneOff",
      message: "this agent drives no data plane: the instruction is the delivery",
    }),
    remove: async () => true,
  };
}
