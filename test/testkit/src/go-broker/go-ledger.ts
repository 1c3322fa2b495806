import {
  add,
  fits,
  formatResources,
  formatTime,
  NO_RESOURCES,
  parseDuration,
  parseResources,
  type ResourceVector,
  subtract,
} from "@resource-broker/base";
import {
  type AdvertisementDTO,
  advertisementSchema,
  type ReservationDTO,
  validate,
} from "@resource-broker/contract";

const MINUTE_MS = 60_000;
/** Go prints its own time zone; its objects keep whole seconds. */
const OFFSET_MS = 120 * MINUTE_MS;
/** A controller marks a cluster active some time after its first advertisement; until then it lends nothing. */
export const ACTIVE_AFTER_MS = 2000;

export interface GoReply {
  readonly status: number;
  readonly type: string;
  readonly content: string;
}

export function json(status: number, body: unknown): GoReply {
  return { status, type: "application/json", content: `${JSON.stringify(body)}\n` };
}

/**
 * What the Go broker remembers. It knows no keys. `reserved` is a counter beside the reservations, and drifts: each
 * reservation is locked twice, by the HTTP handler and by the controller, and released once.
 */
export interface GoLedger {
  readonly reservations: () => readonly ReservationDTO[];
  /** Undefined: it cannot be read. */
  readonly advertise: (body: unknown) => AdvertisementDTO | undefined;
  readonly advertisement: (clusterId: string) => AdvertisementDTO | undefined;
  readonly reserve: (requester: string, body: unknown) => GoReply;
}

export function createGoLedger(now: () => number): GoLedger {
  const clusters = new Map<string, { readonly kept: AdvertisementDTO; readonly firstAtMs: number }>();
  const reserved = new Map<string, ResourceVector>();
  const reservations = new Map<string, ReservationDTO>();
  /** When its controller looks at a reservation for the first time after its end. */
  const endings = new Map<string, { readonly atMs: number; readonly amounts: ResourceVector }>();

  const reservedOf = (clusterId: string): ResourceVector => reserved.get(clusterId) ?? NO_RESOURCES;
  const availableOf = ({ clusterID, resources }: AdvertisementDTO): ResourceVector => {
    const free = subtract(readAmounts(resources.allocatable), readAmounts(resources.allocated));
    return subtract(free, reservedOf(clusterID));
  };
  const shown = (kept: AdvertisementDTO): AdvertisementDTO => ({
    ...kept,
    resources: {
      ...kept.resources,
      ...(reserved.has(kept.clusterID) ? { reserved: formatResources(reservedOf(kept.clusterID)) } : {}),
      available: formatResources(availableOf(kept)),
    },
  });
  const lenders = (asked: ResourceVector): readonly AdvertisementDTO[] =>
    [...clusters.values()]
      .filter(({ firstAtMs }) => now() >= firstAtMs + ACTIVE_AFTER_MS)
      .map(({ kept }) => kept)
      .filter((kept) => fits(asked, availableOf(kept)))
      .toSorted((a, b) => availableOf(b).cpuMillis - availableOf(a).cpuMillis);
  const lock = (clusterId: string, asked: ResourceVector): void => {
    if (!lenders(asked).some(({ clusterID }) => clusterID === clusterId)) return;
    reserved.set(clusterId, add(reservedOf(clusterId), asked));
  };
  const releaseDue = (): void => {
    for (const [id, { atMs, amounts }] of endings) {
      const reservation = reservations.get(id);
      if (reservation === undefined || now() < atMs) continue;
      endings.delete(id);
      const { targetClusterID: provider, status } = reservation;
      reserved.set(provider, subtract(reservedOf(provider), amounts));
      const message = "Reservation expired and resources released";
      reservations.set(id, { ...reservation, status: { ...status, phase: "Released", message } });
    }
  };

  return {
    reservations: () => {
      releaseDue();
      return [...reservations.values()];
    },
    advertise: (body) => {
      const validated = validate(advertisementSchema, body);
      if (!validated.ok) return undefined;
      const { clusterID, clusterName, resources, timestamp } = validated.value;
      const kept = { clusterID, ...(clusterName === undefined ? {} : { clusterName }), resources, timestamp };
      clusters.set(clusterID, { kept, firstAtMs: clusters.get(clusterID)?.firstAtMs ?? now() });
      return shown(kept);
    },
    advertisement: (clusterId) => {
      releaseDue();
      const found = clusters.get(clusterId);
      return found && shown(found.kept);
    },
    reserve: (requester, body) => {
      releaseDue();
      const { requestedResources = {}, duration = "0s" } = body as GoRequest;
      const asked = readAmounts(requestedResources);
      if (Math.min(asked.cpuMillis, asked.memoryBytes) <= 0) return refusal(400, "Invalid CPU quantity");
      const provider = lenders(asked).find(({ clusterID }) => clusterID !== requester)?.clusterID;
      if (provider === undefined) return refusal(409, "No suitable cluster found");
      const lasting = parseDuration(duration);
      if (!lasting.ok) return refusal(400, "Invalid duration");
      const id = `rsv-${requester}-${now()}`;
      // Its names are made of the time: of two requests in one millisecond the second finds its object taken.
      if (reservations.has(id)) return refusal(500, "Failed to create reservation");
      // The controller looks at a reservation every minute.
      const atMs = now() + Math.ceil(lasting.ms / MINUTE_MS) * MINUTE_MS;
      if (lasting.ms > 0) endings.set(id, { atMs, amounts: asked });
      const parties = { id, requesterID: requester, targetClusterID: provider };
      const reservation = {
        ...parties,
        ...granted({ provider, asked, lastingMs: lasting.ms, nowMs: now() }),
      };
      reservations.set(id, reservation);
      for (const _lockedBy of ["handler", "controller"]) lock(provider, asked);
      return json(201, reservation);
    },
  };
}

interface Grant {
  readonly provider: string;
  readonly asked: ResourceVector;
  /** 0: for ever. */
  readonly lastingMs: number;
  readonly nowMs: number;
}

function granted({ provider, asked, lastingMs, nowMs }: Grant) {
  const createdAt = goTime(nowMs);
  const status = {
    phase: "Reserved",
    message: `Resources locked in cluster ${provider}`,
    reservedAt: createdAt,
    ...(lastingMs === 0 ? {} : { expiresAt: goTime(nowMs + lastingMs) }),
  } as const;
  return { requestedResources: formatResources(asked), status, createdAt };
}

/** What a request of an older agent may say; everything else in it is ignored. */
interface GoRequest {
  readonly requestedResources?: Quantities;
  readonly duration?: string;
}

interface Quantities {
  readonly cpu?: string;
  readonly memory?: string;
}

function refusal(status: number, error: string): GoReply {
  return json(status, { error });
}

/** Nothing: it cannot be read. */
function readAmounts({ cpu = "", memory = "" }: Quantities): ResourceVector {
  const read = parseResources({ cpu, memory }, "up");
  return read.ok ? read.resources : NO_RESOURCES;
}

function goTime(ms: number): string {
  const seconds = Math.floor(ms / 1000) * 1000;
  return formatTime(seconds + OFFSET_MS).replace(/(\.\d+)?Z$/, "+02:00");
}
