import {
  type AdvertisementDTO,
  advertisementSchema,
  formatTime,
  parseDuration,
  type ReservationDTO,
  validate,
} from "@resource-broker/contract";
import { formatBytes, formatCpu, parseAmount } from "@resource-broker/domain";

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
/** Go prints its own time zone, and all nine digits. */
const OFFSET_MS = 2 * HOUR_MS;

/** What the Go broker remembers. It knows no keys, and forgets nothing: it never releases. */
export interface GoLedger {
  readonly reservations: readonly ReservationDTO[];
  /** Undefined: it cannot be read. */
  readonly advertise: (body: unknown) => AdvertisementDTO | undefined;
  readonly advertisement: (clusterId: string) => AdvertisementDTO | undefined;
  readonly reserve: (requester: string, body: unknown, nowMs: number) => Booking;
}

export function createGoLedger(): GoLedger {
  const advertisements = new Map<string, AdvertisementDTO>();
  const reservations: ReservationDTO[] = [];

  const reservedOf = (clusterId: string): Amounts =>
    reservations
      .filter(({ targetClusterID }) => targetClusterID === clusterId)
      .map(({ requestedResources }) => amountsOf(requestedResources))
      .reduce(plus, { cpuMillis: 0, memoryBytes: 0 });

  const availableOf = ({ clusterID, resources }: AdvertisementDTO): Amounts =>
    minus(minus(amountsOf(resources.allocatable), amountsOf(resources.allocated)), reservedOf(clusterID));

  const shown = (advertisement: AdvertisementDTO): AdvertisementDTO => ({
    ...advertisement,
    resources: {
      ...advertisement.resources,
      reserved: quantitiesOf(reservedOf(advertisement.clusterID)),
      available: quantitiesOf(availableOf(advertisement)),
    },
  });

  const findProvider = (requester: string, asked: Amounts): string | undefined =>
    [...advertisements.values()]
      .filter(({ clusterID }) => clusterID !== requester)
      .map((advertisement) => ({ id: advertisement.clusterID, free: availableOf(advertisement) }))
      .filter(({ free }) => free.cpuMillis >= asked.cpuMillis && free.memoryBytes >= asked.memoryBytes)
      .toSorted((a, b) => b.free.cpuMillis - a.free.cpuMillis)[0]?.id;

  return {
    reservations,
    advertise: (body) => {
      const validated = validate(advertisementSchema, body);
      if (!validated.ok) return undefined;
      const { clusterID, clusterName, resources, timestamp } = validated.value;
      const kept = { clusterID, ...(clusterName === undefined ? {} : { clusterName }), resources, timestamp };
      advertisements.set(clusterID, kept);
      return shown(kept);
    },
    advertisement: (clusterId) => {
      const found = advertisements.get(clusterId);
      return found && shown(found);
    },
    reserve: (requester, body, nowMs) => {
      const { requestedResources = {}, duration } = body as GoRequest;
      const asked = readAsked(requestedResources);
      if (asked === undefined) return { ok: false, status: 400, problem: "invalid cpu or memory quantity" };
      const durationMs = readDuration(duration);
      if (durationMs === undefined) return { ok: false, status: 400, problem: "invalid duration" };
      const provider = findProvider(requester, asked);
      if (provider === undefined) return { ok: false, status: 409, problem: "no suitable cluster found" };
      const reservation: ReservationDTO = {
        id: `rsv-${requester}-${nowMs + reservations.length}`,
        requesterID: requester,
        targetClusterID: provider,
        requestedResources: quantitiesOf(asked),
        status: {
          phase: "Reserved",
          message: `${provider} lends it`,
          reservedAt: goTime(nowMs),
          ...(durationMs === 0 ? {} : { expiresAt: goTime(nowMs + durationMs) }),
        },
        createdAt: goTime(nowMs),
      };
      reservations.push(reservation);
      return { ok: true, reservation };
    },
  };
}

function readAsked({
  cpu,
  memory,
}: {
  readonly cpu?: unknown;
  readonly memory?: unknown;
}): Amounts | undefined {
  if (typeof cpu !== "string" || typeof memory !== "string") return undefined;
  const [cores, bytes] = [
    parseAmount(cpu, { unit: "milli", rounding: "up" }),
    parseAmount(memory, { unit: "one", rounding: "up" }),
  ];
  if (!cores.ok || !bytes.ok || cores.amount <= 0 || bytes.amount <= 0) return undefined;
  return { cpuMillis: cores.amount, memoryBytes: bytes.amount };
}

/** 0: none is stated. Undefined: it cannot be read. */
function readDuration(duration: unknown): number | undefined {
  if (duration === undefined || duration === "") return 0;
  const parsed = typeof duration === "string" ? parseDuration(duration) : undefined;
  return parsed?.ok === true ? parsed.ms : undefined;
}

function amountsOf(quantities: { readonly cpu: string; readonly memory: string }): Amounts {
  return readAsked(quantities) ?? { cpuMillis: 0, memoryBytes: 0 };
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

function goTime(ms: number): string {
  return formatTime(ms + OFFSET_MS).replace("Z", "456789+02:00");
}
