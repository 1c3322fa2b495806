import { formatBytes, formatCpu, formatTime, parseAmount, parseDuration } from "@resource-broker/base";
import {
  type AdvertisementDTO,
  advertisementSchema,
  type ReservationDTO,
  validate,
} from "@resource-broker/contract";

/** What a request of an older agent may say; everything else in it is ignored. */
interface GoRequest {
  readonly requestedResources?: { readonly cpu?: unknown; readonly memory?: unknown };
  readonly duration?: unknown;
}

export type Booking =
  | { readonly ok: true; readonly reservation: ReservationDTO }
  | { readonly ok: false; readonly status: number; readonly problem: string };

interface Amounts {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Go prints its own time zone; its objects keep whole seconds. */
const OFFSET_MS = 2 * HOUR_MS;
/** A controller marks a cluster active some time after its first advertisement; until then it lends nothing. */
export const ACTIVE_AFTER_MS = 2000;
const NOTHING: Amounts = { cpuMillis: 0, memoryBytes: 0 };

interface GoCluster {
  readonly advertisement: AdvertisementDTO;
  readonly firstAtMs: number;
}

interface GoReservation {
  readonly reservation: ReservationDTO;
  readonly amounts: Amounts;
  /** When its controller looks at it for the first time after its end; undefined: it never ends. */
  readonly releaseAtMs: number | undefined;
}

/**
 * What the Go broker remembers. It knows no keys. `reserved` is a counter beside the reservations, and drifts: each
 * reservation is locked twice, by the HTTP handler and by the controller, and released once.
 */
export interface GoLedger {
  /** Ends what is over at this time. */
  readonly advanceTo: (nowMs: number) => void;
  readonly reservations: () => readonly ReservationDTO[];
  /** Undefined: it cannot be read. */
  readonly advertise: (body: unknown, nowMs: number) => AdvertisementDTO | undefined;
  readonly advertisement: (clusterId: string) => AdvertisementDTO | undefined;
  readonly reserve: (requester: string, body: unknown, nowMs: number) => Booking;
}

export function createGoLedger(): GoLedger {
  const clusters = new Map<string, GoCluster>();
  const reserved = new Map<string, Amounts>();
  const reservations = new Map<string, GoReservation>();

  const reservedOf = (clusterId: string): Amounts => reserved.get(clusterId) ?? NOTHING;
  const availableOf = ({ clusterID, resources }: AdvertisementDTO): Amounts =>
    minus(minus(amountsOf(resources.allocatable), amountsOf(resources.allocated)), reservedOf(clusterID));
  const canLend = (clusterId: string, asked: Amounts): boolean => {
    const cluster = clusters.get(clusterId);
    return cluster !== undefined && covers(availableOf(cluster.advertisement), asked);
  };
  const lock = (clusterId: string, asked: Amounts): void => {
    if (canLend(clusterId, asked)) reserved.set(clusterId, plus(reservedOf(clusterId), asked));
  };

  const shown = (advertisement: AdvertisementDTO): AdvertisementDTO => ({
    ...advertisement,
    resources: {
      ...advertisement.resources,
      ...(reserved.has(advertisement.clusterID)
        ? { reserved: quantitiesOf(reservedOf(advertisement.clusterID)) }
        : {}),
      available: quantitiesOf(availableOf(advertisement)),
    },
  });

  const findProvider = (requester: string, asked: Amounts, nowMs: number): string | undefined =>
    [...clusters.values()]
      .filter(({ firstAtMs }) => nowMs >= firstAtMs + ACTIVE_AFTER_MS)
      .map(({ advertisement }) => ({ id: advertisement.clusterID, free: availableOf(advertisement) }))
      .filter(({ id, free }) => id !== requester && covers(free, asked))
      .toSorted((a, b) => b.free.cpuMillis - a.free.cpuMillis)[0]?.id;

  const release = ({ reservation, amounts }: GoReservation): void => {
    const { targetClusterID: provider, status } = reservation;
    reserved.set(provider, minus(reservedOf(provider), amounts));
    const message = "Reservation expired and resources released";
    const ended = { ...reservation, status: { ...status, phase: "Released", message } as const };
    reservations.set(reservation.id, { reservation: ended, amounts, releaseAtMs: undefined });
  };

  return {
    advanceTo: (nowMs) => {
      for (const each of reservations.values()) {
        if (each.releaseAtMs !== undefined && nowMs >= each.releaseAtMs) release(each);
      }
    },
    reservations: () => [...reservations.values()].map(({ reservation }) => reservation),
    advertise: (body, nowMs) => {
      const validated = validate(advertisementSchema, body);
      if (!validated.ok) return undefined;
      const { clusterID, clusterName, resources, timestamp } = validated.value;
      const kept = { clusterID, ...(clusterName === undefined ? {} : { clusterName }), resources, timestamp };
      const firstAtMs = clusters.get(clusterID)?.firstAtMs ?? nowMs;
      clusters.set(clusterID, { advertisement: kept, firstAtMs });
      return shown(kept);
    },
    advertisement: (clusterId) => {
      const found = clusters.get(clusterId);
      return found && shown(found.advertisement);
    },
    reserve: (requester, body, nowMs) => {
      const { requestedResources = {}, duration } = body as GoRequest;
      const asked = readAsked(requestedResources);
      if (asked === undefined) return { ok: false, status: 400, problem: "Invalid CPU quantity" };
      const provider = findProvider(requester, asked, nowMs);
      if (provider === undefined) return { ok: false, status: 409, problem: "No suitable cluster found" };
      const durationMs = readDuration(duration);
      if (durationMs === undefined) return { ok: false, status: 400, problem: "Invalid duration" };
      const id = `rsv-${requester}-${nowMs}`;
      // Its names are made of the time: of two requests in one millisecond the second finds its object taken.
      if (reservations.has(id)) return { ok: false, status: 500, problem: "Failed to create reservation" };
      const secondMs = Math.floor(nowMs / 1000) * 1000;
      const reservation: ReservationDTO = {
        id,
        requesterID: requester,
        targetClusterID: provider,
        requestedResources: quantitiesOf(asked),
        status: {
          phase: "Reserved",
          message: `Resources locked in cluster ${provider}`,
          reservedAt: goTime(secondMs),
          ...(durationMs === 0 ? {} : { expiresAt: goTime(secondMs + durationMs) }),
        },
        createdAt: goTime(secondMs),
      };
      // The controller looks at a reservation every minute.
      const minutes = Math.ceil(durationMs / MINUTE_MS);
      const releaseAtMs = durationMs === 0 ? undefined : nowMs + minutes * MINUTE_MS;
      reservations.set(id, { reservation, amounts: asked, releaseAtMs });
      for (const _lockedBy of ["handler", "controller"]) lock(provider, asked);
      return { ok: true, reservation };
    },
  };
}

function readAsked({ cpu, memory }: NonNullable<GoRequest["requestedResources"]>): Amounts | undefined {
  if (typeof cpu !== "string" || typeof memory !== "string") return undefined;
  const amounts = readAmounts({ cpu, memory });
  return amounts !== undefined && amounts.cpuMillis > 0 && amounts.memoryBytes > 0 ? amounts : undefined;
}

function readAmounts({
  cpu,
  memory,
}: {
  readonly cpu: string;
  readonly memory: string;
}): Amounts | undefined {
  const cores = parseAmount(cpu, { unit: "milli", rounding: "up" });
  const bytes = parseAmount(memory, { unit: "one", rounding: "up" });
  return cores.ok && bytes.ok ? { cpuMillis: cores.amount, memoryBytes: bytes.amount } : undefined;
}

/** 0: none is stated. Undefined: it cannot be read. */
function readDuration(duration: unknown): number | undefined {
  if (duration === undefined || duration === "") return 0;
  const parsed = typeof duration === "string" ? parseDuration(duration) : undefined;
  return parsed?.ok === true ? parsed.ms : undefined;
}

function amountsOf(quantities: { readonly cpu: string; readonly memory: string }): Amounts {
  return readAmounts(quantities) ?? NOTHING;
}

function quantitiesOf({ cpuMillis, memoryBytes }: Amounts): { cpu: string; memory: string } {
  return { cpu: formatCpu(cpuMillis), memory: formatBytes(memoryBytes) };
}

function plus(a: Amounts, b: Amounts): Amounts {
  return { cpuMillis: a.cpuMillis + b.cpuMillis, memoryBytes: a.memoryBytes + b.memoryBytes };
}

function minus(a: Amounts, b: Amounts): Amounts {
  return { cpuMillis: a.cpuMillis - b.cpuMillis, memoryBytes: a.memoryBytes - b.memoryBytes };
}

function covers(free: Amounts, asked: Amounts): boolean {
  return free.cpuMillis >= asked.cpuMillis && free.memoryBytes >= asked.memoryBytes;
}

function goTime(ms: number): string {
  return formatTime(ms + OFFSET_MS).replace(/(\.\d+)?Z$/, "+02:00");
}
