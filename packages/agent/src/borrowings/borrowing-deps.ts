import {
  type ReservationInstruction,
  reservationInstructionKind,
  type ResourceRequest,
} from "@resource-broker/contract";
import { customResource, type KubeClient } from "@resource-broker/kube";
import type { Clock } from "@resource-broker/runtime";
import type { RequesterDataPlane } from "../data-plane/data-plane.ts";
import type { RecordEvent } from "../events/record-event.ts";
import type { BrokerView } from "../reservations/expiry.ts";
import type { CachedReservation, ReservationCache } from "../reservations/reservation-cache.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";

export const RESERVATION_INSTRUCTIONS = customResource(reservationInstructionKind);

/** The ResourceRequest that a reservation was made for, if any. */
export type Origin =
  | { readonly kind: "request"; readonly request: ResourceRequest }
  /** Made by an admin, or as an object in the broker's cluster: there is no ResourceRequest here. */
  | { readonly kind: "foreign" }
  | { readonly kind: "gone" };

export interface ReservationInstructionDeps {
  readonly cache: ReservationCache;
  readonly client: Pick<KubeClient, "apply" | "patch" | "delete">;
  /** As last seen in the cluster. */
  readonly instruction: (reservationId: string) => ReservationInstruction | undefined;
  readonly originOf: (entry: CachedReservation) => Origin;
  readonly communicator: Pick<BrokerCommunicator, "activate">;
  readonly dataPlane: RequesterDataPlane;
  readonly broker: () => BrokerView;
  readonly clock: Pick<Clock, "wallMs">;
  readonly recordEvent: RecordEvent;
  /** Called when the state of a release has changed. */
  readonly onReleaseState: (reservationId: string) => void;
  readonly namespace: string;
}
