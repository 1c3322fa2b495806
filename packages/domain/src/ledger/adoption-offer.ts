import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Phase } from "../reservation/lifecycle.ts";
import type { ResourceVector } from "../resources/resource-vector.ts";

/** A reservation as one of its parties reports it for adoption. */
export interface AdoptionOffer {
  readonly id: ReservationId;
  readonly requester: ClusterId;
  readonly provider: ClusterId;
  readonly granted: ResourceVector;
  readonly phase: Extract<Phase, "Reserved" | "Active">;
  readonly generation: number;
  readonly createdAt: Instant;
  readonly expiresAt?: Instant;
  readonly key?: string;
}
