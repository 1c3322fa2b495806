import { FIELD_RESOURCES, type ResourceVector } from "@resource-broker/base";
import {
  describeProblems,
  reservationRequestSchema,
  toReservationRequest,
  validate,
} from "@resource-broker/contract";
import { quantitiesFrom, type ResourceRequest } from "@resource-broker/contract/crd";
import type { ReservationRequestBody } from "../transport/broker-communicator.ts";

export type RequestReading =
  | { readonly ok: true; readonly request: ReservationRequestBody; readonly resources: ResourceVector }
  | { readonly ok: false; readonly problem: string };

/** Field names of the spec, for messages. */
const FIELD_NAMES: readonly (readonly [wire: string, spec: string])[] = [
  ...FIELD_RESOURCES.map(({ name, requestField }) => [`requestedResources.${name}`, requestField] as const),
  ["requestedResources.extended", "extended"],
];

/** The reservation request of a ResourceRequest. The API server validates it too, unless its CRD is older than this agent. */
export function readRequest({ spec }: Pick<ResourceRequest, "spec">): RequestReading {
  const {
    queue: _queue,
    queueTimeout: _queueTimeout,
    offload: _offload,
    extended: _extended,
    ...request
  } = spec;
  // Fields of the spec that the request does not have are ignored.
  const body = { ...request, requestedResources: quantitiesFrom(spec) };
  const checked = validate(reservationRequestSchema, body);
  if (!checked.ok) return { ok: false, problem: inSpecTerms(checked.problems) };
  const sized = toReservationRequest(checked.value);
  if (!sized.ok) return { ok: false, problem: inSpecTerms(sized.problems) };
  return { ok: true, request: checked.value, resources: sized.value.resources };
}

function inSpecTerms(problems: Parameters<typeof describeProblems>[0]): string {
  return describeProblems(problems.map(({ path, message }) => ({ path: specPath(path), message })));
}

function specPath(path: string): string {
  const [wire, spec] = FIELD_NAMES.find(([name]) => path.startsWith(name)) ?? [];
  return wire === undefined ? path : `spec.${spec}${path.slice(wire.length)}`;
}
