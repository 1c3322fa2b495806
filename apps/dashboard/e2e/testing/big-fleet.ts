import type { AdvertisementDTO, ReservationDTO } from "@resource-broker/contract";
import type { BrokerProcess } from "@resource-broker/testkit";

const REGIONS = [
  "eu-west",
  "eu-central",
  "eu-north",
  "eu-south",
  "us-east",
  "us-west",
  "ap-south",
  "ap-east",
];
const AT_A_TIME = 16;
/** Only so many ask, each on connections that are kept. */
const REQUESTERS = 20;

export interface BigFleet {
  readonly advertise: (from: number, to: number) => Promise<void>;
  readonly reserve: (count: number) => Promise<void>;
  /** Returns its ID. */
  readonly reserveOne: () => Promise<string>;
}

/** Many clusters and many reservations, all through the public API. */
export function bigFleet(broker: BrokerProcess, clusters: number): BigFleet {
  const nameOf = (index: number): string => `cluster-${String(index).padStart(4, "0")}`;
  return {
    advertise: (from, to) =>
      inTurns(to - from, async (turn) => {
        const id = nameOf((from + turn) % clusters);
        const { status } = await broker
          .clientFor(id, { maxSockets: 1 })
          .request("POST", "/api/v1/advertisements", { body: advertisementOf(id, from + turn) });
        if (status !== 200) throw new Error(`${id} may not advertise: ${status}`);
      }),
    reserveOne: async () => {
      const body = { requestedResources: { cpu: "1", memory: "1Gi" } };
      const reply = await broker.clientFor(nameOf(1)).request("POST", "/api/v1/reservations", { body });
      return (reply.body as ReservationDTO).id;
    },
    reserve: (count) =>
      inTurns(count, async (turn) => {
        const body = { requestedResources: { cpu: String(1 + (turn % 4)), memory: `${1 + (turn % 7)}Gi` } };
        const client = broker.clientFor(nameOf(turn % REQUESTERS));
        const { status } = await client.request("POST", "/api/v1/reservations", { body });
        if (status !== 201) throw new Error(`no reservation: ${status}`);
      }),
  };
}

async function inTurns(count: number, act: (turn: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let turn = next++; turn < count; turn = next++) await act(turn);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}

function advertisementOf(clusterID: string, index: number): AdvertisementDTO {
  const cpu = 64 + (index % 64);
  const all = { cpu: String(cpu), memory: `${cpu * 4}Gi`, gpu: String(index % 9) };
  const allocated = { cpu: String(index % 24), memory: `${index % 64}Gi`, gpu: "0" };
  return {
    clusterID,
    clusterName: `Cluster ${index}`,
    resources: { capacity: all, allocatable: all, allocated, available: all },
    labels: { "topology.kubernetes.io/region": REGIONS[index % REGIONS.length] ?? "eu-west", tier: "gold" },
    cost: { cpuCost: `0.0${20 + (index % 40)}`, memoryCost: "0.004", gpuCost: "1.9", currency: "EUR" },
    timestamp: "2026-07-01T10:00:00Z",
  };
}
