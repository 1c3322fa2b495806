import { type OwnerReference, parseJson } from "@resource-broker/base";
import { fitToSchema, present, reservationSchema, validate } from "@resource-broker/contract";
import {
  apiVersionOf,
  type ProviderInstruction,
  providerInstructionKind,
  quantitiesFrom,
  type ReservationInstruction,
  type ResourceRequest,
  requestedFieldsOf,
  reservationInstructionKind,
  resourceRequestKind,
} from "@resource-broker/contract/crd";
import { type Reservation, withSliceDefaults } from "../reservations/reservation.ts";
import { fromWire, toWire } from "../transport/reservation-mapping.ts";
import { isSameStatus } from "./conditions.ts";
import {
  MANAGED_BY_LABEL,
  MANAGER,
  REQUEST_ANNOTATION,
  REQUEST_UID_LABEL,
  RESERVATION_ANNOTATION,
} from "./labels.ts";

export function providerInstructionName(reservationId: string): string {
  return `${reservationId}-provider`;
}

/** The instruction in the provider's cluster. */
export function providerInstruction(reservation: Reservation, namespace: string): ProviderInstruction {
  return {
    apiVersion: apiVersionOf(providerInstructionKind),
    kind: providerInstructionKind.kind,
    metadata: {
      name: providerInstructionName(reservation.id),
      namespace,
      labels: { [MANAGED_BY_LABEL]: MANAGER },
      annotations: reservationAnnotation(reservation),
    },
    spec: fitToSchema(providerInstructionKind.spec, {
      ...sharedSpec(reservation),
      requesterClusterID: reservation.requester,
      ...present({ requesterLiqoID: reservation.dataPlaneIds.requester }),
    }),
  };
}

/** The instruction in the requester's cluster. `request` is absent where no ResourceRequest exists here. */
export function reservationInstruction(
  reservation: Reservation,
  namespace: string,
  request?: ResourceRequest,
): ReservationInstruction {
  const { providerEndpoint: targetClusterEndpoint, dataPlaneIds } = reservation;
  return {
    apiVersion: apiVersionOf(reservationInstructionKind),
    kind: reservationInstructionKind.kind,
    metadata: {
      name: reservation.id,
      namespace,
      labels: { [MANAGED_BY_LABEL]: MANAGER, ...requestLabel(request) },
      annotations: { ...reservationAnnotation(reservation), ...requestAnnotation(request) },
      ...(request?.metadata.namespace === namespace ? { ownerReferences: [ownerOf(request)] } : {}),
    },
    spec: fitToSchema(reservationInstructionKind.spec, {
      ...sharedSpec(reservation),
      targetClusterID: reservation.provider,
      ...present({ targetClusterEndpoint, targetLiqoID: dataPlaneIds.provider }),
    }),
  };
}

/** The reservation of an instruction: from its annotation, or from its spec where an older agent wrote none. */
export function reservationFromInstruction(
  instruction: ProviderInstruction | ReservationInstruction,
  clusterId: string,
): Reservation {
  const { spec, metadata } = instruction;
  const annotated = validate(
    reservationSchema,
    parseJson(metadata.annotations?.[RESERVATION_ANNOTATION] ?? ""),
  );
  const isAboutIt = annotated.ok && annotated.value.id === spec.reservationName;
  const reservation = fromWire(isAboutIt ? annotated.value : wireFieldsOf(instruction, clusterId));
  // The spec wins: it is immutable there.
  return withSliceDefaults(reservation, spec.sliceDefaults);
}

function wireFieldsOf(
  { spec, metadata }: ProviderInstruction | ReservationInstruction,
  clusterId: string,
): Parameters<typeof fromWire>[0] {
  return {
    id: spec.reservationName,
    requesterID: "requesterClusterID" in spec ? spec.requesterClusterID : clusterId,
    targetClusterID: "targetClusterID" in spec ? spec.targetClusterID : clusterId,
    requestedResources: quantitiesFrom(spec),
    status: present({ phase: "Reserved" as const, message: spec.message ?? "", expiresAt: spec.expiresAt }),
    createdAt: metadata.creationTimestamp ?? "1970-01-01T00:00:00Z",
    ...present({ generation: spec.generation }),
  };
}

function sharedSpec({ id, quantities, sliceDefaults, message, expiresAt, generation }: Reservation) {
  const fields = { reservationName: id, ...requestedFieldsOf(quantities) };
  return present({ ...fields, sliceDefaults, message, expiresAt, generation });
}

function reservationAnnotation(reservation: Reservation): Readonly<Record<string, string>> {
  return { [RESERVATION_ANNOTATION]: JSON.stringify(toWire(reservation)) };
}

function requestLabel(request: ResourceRequest | undefined): Readonly<Record<string, string>> {
  return request?.metadata.uid === undefined ? {} : { [REQUEST_UID_LABEL]: request.metadata.uid };
}

function requestAnnotation(request: ResourceRequest | undefined): Readonly<Record<string, string>> {
  if (request === undefined) return {};
  return { [REQUEST_ANNOTATION]: `${request.metadata.namespace ?? ""}/${request.metadata.name}` };
}

function ownerOf(request: ResourceRequest): OwnerReference {
  return {
    apiVersion: apiVersionOf(resourceRequestKind),
    kind: resourceRequestKind.kind,
    name: request.metadata.name,
    uid: request.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: false,
  };
}

type Instruction = ProviderInstruction | ReservationInstruction;

/** True when the object in the cluster equals the desired one. */
export function isSameInstruction(found: Instruction, desired: Instruction): boolean {
  const annotationOf = (instruction: Instruction) =>
    instruction.metadata.annotations?.[RESERVATION_ANNOTATION];
  return isSameStatus(found.spec, desired.spec) && annotationOf(found) === annotationOf(desired);
}
