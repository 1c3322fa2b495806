import type { AdvertisementDTO, ReservationDTO, ReservationRequestDTO } from "@resource-broker/contract";
import { type BrokerProcess, seededRandom } from "@resource-broker/testkit";

interface Place {
  readonly id: string;
  readonly name: string;
  readonly region: string;
  readonly cpu: number;
  readonly memoryGi: number;
  readonly gpus?: { readonly model: string; readonly count: number };
  /** Of what there is, used by the cluster itself. */
  readonly busy: number;
  readonly cpuPrice: string | null;
}

const H100 = "NVIDIA-H100-80GB";
const A100 = "NVIDIA-A100-40GB";
const L40 = "NVIDIA-L40S";

const PLACES: readonly Place[] = [
  {
    id: "amsterdam",
    name: "Amsterdam edge",
    region: "eu-west",
    cpu: 96,
    memoryGi: 384,
    busy: 0.35,
    cpuPrice: "0.041",
  },
  { id: "athens", name: "Athens", region: "eu-south", cpu: 32, memoryGi: 128, busy: 0.7, cpuPrice: "0.029" },
  {
    id: "berlin",
    name: "Berlin research",
    region: "eu-central",
    cpu: 128,
    memoryGi: 512,
    gpus: { model: A100, count: 8 },
    busy: 0.4,
    cpuPrice: "0.044",
  },
  { id: "dublin", name: "Dublin", region: "eu-west", cpu: 64, memoryGi: 256, busy: 0.5, cpuPrice: "0.038" },
  {
    id: "frankfurt",
    name: "Frankfurt core",
    region: "eu-central",
    cpu: 256,
    memoryGi: 1024,
    gpus: { model: H100, count: 16 },
    busy: 0.3,
    cpuPrice: "0.047",
  },
  { id: "lisbon", name: "Lisbon", region: "eu-south", cpu: 48, memoryGi: 192, busy: 0.25, cpuPrice: "0.031" },
  {
    id: "london",
    name: "London trading",
    region: "eu-west",
    cpu: 192,
    memoryGi: 768,
    busy: 0.86,
    cpuPrice: "0.062",
  },
  {
    id: "madrid",
    name: "Madrid",
    region: "eu-south",
    cpu: 64,
    memoryGi: 256,
    gpus: { model: L40, count: 4 },
    busy: 0.45,
    cpuPrice: "0.033",
  },
  {
    id: "milan",
    name: "Milan fashion AI",
    region: "eu-south",
    cpu: 40,
    memoryGi: 160,
    busy: 0.9,
    cpuPrice: null,
  },
  {
    id: "montreal",
    name: "Montréal",
    region: "ca-east",
    cpu: 96,
    memoryGi: 512,
    gpus: { model: A100, count: 4 },
    busy: 0.2,
    cpuPrice: "0.027",
  },
  {
    id: "oslo",
    name: "Oslo hydro",
    region: "eu-north",
    cpu: 160,
    memoryGi: 640,
    gpus: { model: H100, count: 8 },
    busy: 0.15,
    cpuPrice: "0.022",
  },
  {
    id: "paris",
    name: "Paris",
    region: "eu-west",
    cpu: 128,
    memoryGi: 512,
    gpus: { model: A100, count: 8 },
    busy: 0.4,
    cpuPrice: "0.045",
  },
  {
    id: "prague",
    name: "Prague",
    region: "eu-central",
    cpu: 48,
    memoryGi: 192,
    busy: 0.55,
    cpuPrice: "0.026",
  },
  { id: "rome", name: "Rome", region: "eu-south", cpu: 32, memoryGi: 128, busy: 0.95, cpuPrice: "0.036" },
  {
    id: "stockholm",
    name: "Stockholm",
    region: "eu-north",
    cpu: 96,
    memoryGi: 384,
    busy: 0.3,
    cpuPrice: "0.024",
  },
  {
    id: "vienna",
    name: "Vienna",
    region: "eu-central",
    cpu: 56,
    memoryGi: 224,
    busy: 0.5,
    cpuPrice: "0.034",
  },
  {
    id: "warsaw",
    name: "Warsaw",
    region: "eu-central",
    cpu: 80,
    memoryGi: 320,
    gpus: { model: L40, count: 8 },
    busy: 0.35,
    cpuPrice: "0.025",
  },
  {
    id: "zurich",
    name: "Zürich",
    region: "eu-central",
    cpu: 72,
    memoryGi: 288,
    busy: 0.6,
    cpuPrice: "0.071",
  },
];

const BORROWERS = ["rome", "milan", "london", "athens", "zurich", "dublin", "vienna", "paris"];
/** Its agent falls silent before the end. */
const SILENT = "prague";
const GIB = 1024 ** 3;

/** A fleet that lives: clusters that advertise, ask, hold, use and give back, all through the public API. */
export interface StageFleet {
  readonly advertise: (options?: { readonly isLate?: boolean }) => Promise<void>;
  /** Some requests of a busy day; some are refused. */
  readonly trade: () => Promise<void>;
  readonly newest: () => ReservationDTO | undefined;
}

export function stageFleet(broker: BrokerProcess, seed = 7): StageFleet {
  const random = seededRandom(seed);
  const live = new Map<string, ReservationDTO>();
  let sequence = 0;
  let newest: ReservationDTO | undefined;

  const advertise: StageFleet["advertise"] = async ({ isLate = false } = {}) => {
    sequence += 1;
    const speaking = PLACES.filter(({ id }) => !(isLate && id === SILENT));
    await Promise.all(
      speaking.map((place) =>
        broker.clientFor(place.id).request("POST", "/api/v1/advertisements", {
          body: advertisementOf(place, { sequence, live: [...live.values()], swing: random.below(6) / 100 }),
        }),
      ),
    );
  };

  const ask = async (): Promise<void> => {
    const requester = random.pick(BORROWERS) ?? "rome";
    const request = wish(random);
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

  const giveBack = async (): Promise<void> => {
    const reservation = random.pick([...live.values()]);
    if (reservation === undefined) return;
    live.delete(reservation.id);
    await broker
      .clientFor(reservation.requesterID)
      .request("DELETE", `/api/v1/reservations/${reservation.id}`);
  };

  return {
    advertise,
    trade: async () => {
      await ask();
      if (random.chance(0.4)) await ask();
      if (live.size > 34 || random.chance(0.15)) await giveBack();
    },
    newest: () => newest,
  };
}

function wish(random: ReturnType<typeof seededRandom>): ReservationRequestDTO {
  const cpu = random.pick([1, 2, 2, 4, 4, 6, 8, 8, 12, 16, 24]) ?? 4;
  const gpu = random.chance(0.3) ? (random.pick([1, 1, 2, 4, 24]) ?? 1) : 0;
  return {
    requestedResources: {
      cpu: String(cpu),
      memory: `${cpu * 4}Gi`,
      ...(gpu === 0 ? {} : { gpu: String(gpu) }),
    },
    ...(random.chance(0.9) ? { duration: random.pick(["30m", "45m", "1h", "2h", "4h"]) ?? "1h" } : {}),
    ...(random.chance(0.12) ? { constraints: { regions: ["us-west"] } } : {}),
    ...(random.chance(0.2) ? { constraints: { regions: ["eu-south", "eu-west"] } } : {}),
  };
}

interface Moment {
  readonly sequence: number;
  readonly live: readonly ReservationDTO[];
  readonly swing: number;
}

function advertisementOf(place: Place, { sequence, live, swing }: Moment): AdvertisementDTO {
  const { id, cpu, memoryGi, gpus } = place;
  const share = Math.min(1, place.busy + swing);
  const all = amounts(cpu, memoryGi * GIB, gpus?.count ?? 0);
  const allocated = amounts(
    Math.round(cpu * share * 10) / 10,
    Math.round(memoryGi * share * 0.85) * GIB,
    Math.floor((gpus?.count ?? 0) * Math.min(0.5, share)),
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
