import type { ReservationRequestDTO } from "@resource-broker/contract";

/**
 * Fields of a request that an older broker would ignore, and then grant something else. It supports cpu, memory
 * and duration; priority only affects the order.
 */
export function newerFieldsIn(request: ReservationRequestDTO): readonly string[] {
  const { gpu, storage, extended } = request.requestedResources;
  const fields: Readonly<Record<string, boolean>> = {
    gpu: isMore(gpu),
    storage: isMore(storage),
    extended: isAnyMore(extended) || isAnyMore(request.extended),
    perNode: request.perNode !== undefined,
    constraints: Object.values(request.constraints ?? {}).some((value) => Object.keys(value).length > 0),
    targetClusterID: request.targetClusterID !== undefined,
    tier: request.tier !== undefined,
    start: request.start !== undefined,
  };
  return Object.keys(fields).filter((name) => fields[name]);
}

function isMore(quantity: string | undefined): boolean {
  return quantity !== undefined && Number.parseFloat(quantity) !== 0;
}

function isAnyMore(quantities: Readonly<Record<string, string>> | undefined): boolean {
  return Object.values(quantities ?? {}).some(isMore);
}
