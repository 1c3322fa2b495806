import type { AdvertisementDTO, ReservationDTO, ReservationRequestDTO } from "@resource-broker/contract";
import { type BrokerProcess, seededRandom } from "@resource-broker/testkit";
import { AGENT } from "./sample-queue.ts";
import { A100, H100, SAMPLE_CLUSTERS, type SampleCluster, WITH_HUGE_PAGES } from "./sample-clusters.ts";

const REQUESTERS = ["rome", "milan", "london", "athens", "zurich", "dublin", "vienna", "paris"];
/** Its agent falls silent before the end. */
const SILENT = "prague";
const GIB = 1024 ** 3;

/** A fleet that lives: clusters that advertise, ask, hold, use and give back, all through the public API. */
export interface SampleFleet {
  readonly advertise: (options?: { readonly isLate?: boolean }) => Promise<void>;
  /** Some requests of a busy day; some are refused. */
  readonly reserveAndRelease: () => Promise<void>;
  readonly newest: () => ReservationDTO | undefined;
}

export function sampleFleet(broker: BrokerProcess, seed = 7): SampleFleet {
  const random = seededRandom(seed);
  const live = new Map<string, ReservationDTO>();
  let sequence = 0;
  let newest: ReservationDTO | undefined;

  const advertise: SampleFleet["advertise"] = async ({ isLate = false } = {}) => {
    sequence += 1;
    const advertising = SAMPLE_CLUSTERS.filter(({ id }) => !(isLate && id === SILENT));
    await Promise.all(
      advertising.map((place) =>
        broker.clientFor(place.id).request("POST", "/api/v1/advertisements", {
          headers: AGENT,
          body: advertisementOf(place, { sequence, live: [...live.values()], swing: random.below(6) / 100 }),
        }),
      ),
    );
  };

  const ask = async (): Promise<void> => {
    const requester = random.pick(REQUESTERS) ?? "rome";
    const request = randomRequest(random);
    const { status, body } = await broker.clientFor(requester).request("POST", "/api/v1/reservations", {
      body: request,
      key: `stage-${sequence}-${random.below(1e9)}`,
    });
    if (status !== 201) return;
    const reservation = body as ReservationDTO;
    newest = reservation;
    live.set(reservation.id, reservation);
    await broker
      .clientFor(reservation.targetClusterID)
      .request("POST", `/api/v1/instructions/${reservation.id}/ack`, { body: { state: "held" } });
    if (random.chance(0.85))
      await broker.clientFor(requester).request("POST", `/api/v1/reservations/${reservation.id}/activate`);
  };

  const releaseOne = async (): Promise<void> => {
    const reservation = random.pick([...live.values()]);
    if (reservation === undefined) return;
    live.delete(reservation.id);
    await broker
      .clientFor(reservation.requesterID)
      .request("DELETE", `/api/v1/reservations/${reservation.id}`);
  };

  return {
    advertise,
    reserveAndRelease: async () => {
      await ask();
      if (random.chance(0.4)) await ask();
      if (live.size > 34 || random.chance(0.15)) await releaseOne();
    },
    newest: () => newest,
  };
}

function randomRequest(random: ReturnType<typeof seededRandom>): ReservationRequestDTO {
  const cpu = random.pick([1, 2, 2, 4, 4, 6, 8, 8, 12, 16, 24]) ?? 4;
  const gpu = random.chance(0.3) ? (random.pick([1, 1, 2, 4, 24]) ?? 1) : 0;
  return {
    requestedResources: {
      cpu: String(cpu),
      memory: `${cpu * 4}Gi`,
      ...(gpu === 0 ? {} : { gpu: String(gpu) }),
      ...(cpu === 2 ? { extended: { "hugepages-2Mi": "1Gi" } } : {}),
    },
    ...(random.chance(0.9) ? { duration: random.pick(["30m", "45m", "1h", "2h", "4h"]) ?? "1h" } : {}),
    ...(random.chance(0.12) ? { constraints: { regions: ["us-west"] } } : {}),
    ...(random.chance(0.2) ? { constraints: { regions: ["eu-south", "eu-west"] } } : {}),
  };
}

interface AdvertisementState {
  readonly sequence: number;
  readonly live: readonly ReservationDTO[];
  readonly swing: number;
}

function advertisementOf(
  place: SampleCluster,
  { sequence, live, swing }: AdvertisementState,
): AdvertisementDTO {
  const { id, cpu, memoryGi, gpus } = place;
  const count = gpus?.count ?? 0;
  const share = Math.min(1, place.busy + swing);
  const extended = { "hugepages-2Mi": id === WITH_HUGE_PAGES ? "64Gi" : "0" };
  const all = { ...amounts(cpu, memoryGi * GIB, count), storage: `${cpu * 20}Gi`, extended };
  const allocated = amounts(
    Math.round(cpu * share * 10) / 10,
    Math.round(memoryGi * share * 0.85) * GIB,
    Math.floor(count * Math.min(0.5, share)),
  );
  return {
    clusterID: id,
    clusterName: place.name,
    resources: { capacity: all, allocatable: all, allocated, available: all },
    timestamp: "2026-07-01T10:00:00Z",
    labels: {
      "topology.kubernetes.io/region": place.region,
      tier: cpu >= 96 ? "gold" : "silver",
      "energy.example/source": place.region === "eu-north" ? "hydro" : "mixed",
    },
    ...(gpus === undefined ? {} : { gpus: [gpus] }),
    ...(place.cpuPrice === null ? {} : { cost: costOf(place.cpuPrice, gpus?.model) }),
    usage: live
      .filter(({ targetClusterID }) => targetClusterID === id)
      .map(({ id: reservationID, requestedResources: granted }, index) => ({
        reservationID,
        granted,
        used: {
          cpu: `${Math.round(Number(granted.cpu) * 1000 * (0.4 + 0.1 * (index % 6)))}m`,
          memory: halfOf(granted.memory),
        },
      })),
    instance: `stage-${id}`,
    sequence,
  };
}

function costOf(cpuCost: string, gpu: string | undefined): NonNullable<AdvertisementDTO["cost"]> {
  const gpuCost = gpu === H100 ? "3.90" : gpu === A100 ? "2.10" : "1.15";
  return {
    cpuCost,
    memoryCost: (Number(cpuCost) / 8).toFixed(4),
    ...(gpu === undefined ? {} : { gpuCost }),
    currency: "EUR",
  };
}

function amounts(cpu: number, memory: number, gpu: number) {
  return { cpu: String(cpu), memory: String(memory), ...(gpu === 0 ? {} : { gpu: String(gpu) }) };
}

function halfOf(memory: string): string {
  return `${Math.round(Number.parseInt(memory, 10) / 2)}Gi`;
}
