import type {
  Actor,
  ClusterId,
  Command,
  Reply,
  Reservation,
  ReservationId,
  ReservationRequest,
} from "@resource-broker/domain";

/** What a cluster sends to the broker: the API's calls, already parsed. */
export type ApiCall =
  | {
      readonly kind: "reserve";
      readonly requester: ClusterId;
      readonly request: ReservationRequest;
      readonly key?: string;
    }
  | { readonly kind: "command"; readonly command: Exclude<Command, { readonly kind: "reserve" }> }
  | { readonly kind: "read"; readonly by: Actor; readonly id: ReservationId }
  | { readonly kind: "read-free"; readonly clusterId: ClusterId }
  | { readonly kind: "list-instructions"; readonly clusterId: ClusterId };

export type ApiReply =
  | { readonly kind: "reply"; readonly reply: Reply }
  /** Nothing was booked: the store does not work, or too much is waiting. */
  | { readonly kind: "busy" }
  | { readonly kind: "reservation"; readonly reservation: Reservation | undefined }
  /** Free CPU; undefined: nothing is advertised. */
  | { readonly kind: "free"; readonly cpuMillis: number | undefined }
  | { readonly kind: "instructions"; readonly reservations: readonly Reservation[] };
