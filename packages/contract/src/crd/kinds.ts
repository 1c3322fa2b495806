import { advertisementKind } from "./advertisement.ts";
import { brokerPolicyKind } from "./broker-policy.ts";
import { clusterAdvertisementKind } from "./cluster-advertisement.ts";
import type { Kind } from "./kind.ts";
import { providerInstructionKind } from "./provider-instruction.ts";
import { reservationKind } from "./reservation.ts";
import { reservationInstructionKind } from "./reservation-instruction.ts";
import { resourceRequestKind } from "./resource-request.ts";

/** Every kind there is. */
export const KINDS: readonly Kind<unknown, unknown>[] = [
  advertisementKind,
  resourceRequestKind,
  reservationInstructionKind,
  providerInstructionKind,
  clusterAdvertisementKind,
  reservationKind,
  brokerPolicyKind,
];
