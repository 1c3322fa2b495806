import { formatDuration, formatTime, parseDuration, parseTime } from "@resource-broker/base";
import type { Constraints, ReservationRequest } from "@resource-broker/domain";
import type { SomeQuantitiesDTO } from "../wire/quantities.ts";
import type { ReservationRequestDTO } from "../wire/reservation-request.ts";
import { type AmountReader, amountReader, type Mapped, toQuantities, toSomeQuantities } from "./amounts.ts";
import { present } from "./present.ts";

/** Agents count these as `gpu`: asked for under this name, they would fit nowhere. */
const NVIDIA_GPU = "nvidia.com/gpu";

/** The request as the ledger reads it: `500m` and `0.5`, or the same list in another order, are one request. */
export function toReservationRequest(dto: ReservationRequestDTO): Mapped<ReservationRequest> {
  const reader = amountReader();
  const { duration, perNode, start } = dto;
  return reader.finish(
    present({
      resources: reader.wholeUnits(withExtended(dto, reader), "requestedResources"),
      priority: dto.priority ?? 0,
      durationMs: duration === undefined ? undefined : toMilliseconds(duration),
      target: dto.targetClusterID,
      constraints: toConstraints(dto.constraints ?? {}),
      perNode: perNode && reader.wholeUnits(perNode, "perNode"),
      tier: dto.tier ?? "on-demand",
      start: start === undefined ? undefined : parseTime(start),
    }),
  );
}

export function fromReservationRequest(request: ReservationRequest): ReservationRequestDTO {
  const { constraints, durationMs, perNode, start } = request;
  return present({
    requestedResources: toQuantities(request.resources),
    priority: request.priority,
    duration: durationMs === undefined ? undefined : formatDuration(durationMs),
    targetClusterID: request.target,
    constraints: Object.keys(constraints).length === 0 ? undefined : constraints,
    perNode: perNode && toSomeQuantities(perNode),
    tier: request.tier,
    start: start === undefined ? undefined : formatTime(start),
  });
}

/** A duration that was validated before; the longest one is no more than Go can hold. */
export function toMilliseconds(duration: string): number {
  const parsed = parseDuration(duration);
  return parsed.ok ? parsed.ms : 0;
}

/** Extended resources may stand in either of two places; naming one differently in both is a contradiction. */
function withExtended(dto: ReservationRequestDTO, reader: AmountReader): SomeQuantitiesDTO {
  const { extended: inner = {}, ...others } = dto.requestedResources;
  const outer = dto.extended ?? {};
  if (Object.hasOwn(inner, NVIDIA_GPU) || Object.hasOwn(outer, NVIDIA_GPU)) {
    reader.problem(`extended["${NVIDIA_GPU}"]`, "is counted as gpu; write gpu instead");
  }
  for (const name of Object.keys(outer)) {
    const isTwice = Object.hasOwn(inner, name) && inner[name] !== outer[name];
    if (isTwice)
      reader.problem(`extended["${name}"]`, "differs from requestedResources.extended; state it once");
  }
  return { ...others, extended: { ...inner, ...outer } };
}

/** Lists are sorted and without repetition, and empty ones left out: a retry may write them in another order. */
function toConstraints({ regions, labels, excludeClusters }: Constraints): Constraints {
  return present({
    regions: sorted(regions),
    labels: Object.keys(labels ?? {}).length === 0 ? undefined : labels,
    excludeClusters: sorted(excludeClusters),
  });
}

function sorted(words: readonly string[] = []): string[] | undefined {
  return words.length === 0 ? undefined : [...new Set(words)].sort();
}
