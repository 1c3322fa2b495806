import { HEADER, PROTOCOL_VERSION, type ReservationRequestDTO } from "@resource-broker/contract";
import type { BrokerProcess, BrokerProcessOptions, BrokerReply } from "@resource-broker/testkit";

/** Teams that share the fleet; spot reservations give way, with so long a notice that it can be looked at. */
export const SAMPLE_POLICY: NonNullable<BrokerProcessOptions["policy"]> = {
  version: "sample",
  tenants: {
    ml: {
      members: [{ cluster: "rome", namespaces: ["ml-*"] }, { cluster: "milan" }],
      weight: 3,
      quota: { gpu: "24", reservations: 40 },
      budget: { perDay: "900" },
    },
    trading: {
      members: [{ cluster: "london" }],
      quota: { cpu: "24", memory: "96Gi" },
      budget: { perDay: "40" },
    },
    web: { members: [{ cluster: "vienna" }], budget: { perDay: "0.5" } },
    default: { maxPriority: 100 },
  },
  preemption: { victims: "spot", minRun: "1m", grace: "30m" },
};

export const AGENT = { [HEADER.agentProtocol]: String(PROTOCOL_VERSION) };

type Options = "namespace" | "priority" | "constraints" | "duration" | "targetClusterID";

interface Asked extends Pick<ReservationRequestDTO, Options> {
  readonly by: string;
  readonly cpu: string;
  readonly gpu?: string;
}

const GPUS = { cpu: "32", gpu: "10", duration: "2h" };

/** The first gets what is free, or the capacity of a spot reservation; the others wait, each for another reason. */
const WAITING: readonly Asked[] = [
  { by: "rome", namespace: "ml-training", priority: 20, ...GPUS },
  { by: "milan", namespace: "ml-vision", priority: 10, ...GPUS, gpu: "6", targetClusterID: "oslo" },
  { by: "athens", ...GPUS, gpu: "12" },
  { by: "rome", namespace: "ml-inference", cpu: "16", gpu: "10", duration: "30m" },
  { by: "london", namespace: "risk", cpu: "48", duration: "4h" },
  { by: "vienna", namespace: "shop", cpu: "16", duration: "6h" },
  { by: "zurich", cpu: "16", gpu: "64" },
];

/** With how often they are asked. */
const REFUSED: readonly (readonly [attempts: number, asked: Asked])[] = [
  [12, { by: "dublin", namespace: "batch", cpu: "8", gpu: "24" }],
  [3, { by: "paris", cpu: "24", constraints: { regions: ["us-west"] } }],
  [5, { by: "rome", namespace: "ml-training", cpu: "900" }],
];

/** Requests that wait, and that are refused again and again. */
export function sampleQueue(broker: BrokerProcess) {
  const ask = (
    { by, cpu, gpu, ...more }: Asked,
    key: string,
    extra: Partial<ReservationRequestDTO>,
  ): Promise<BrokerReply> => {
    const amounts = { cpu, memory: `${Number(cpu) * 4}Gi`, ...(gpu === undefined ? {} : { gpu }) };
    const body = { requestedResources: amounts, ...more, ...extra };
    return broker.clientFor(by).request("POST", "/api/v1/reservations", { body, key, headers: AGENT });
  };
  return {
    /** A spot reservation, which gives way later, and one that ends soon. */
    hold: async (): Promise<void> => {
      await ask({ by: "paris", cpu: "32", gpu: "10", duration: "6h" }, "spot-1", { tier: "spot" });
      await ask({ by: "zurich", cpu: "8", gpu: "4", duration: "90m", targetClusterID: "oslo" }, "held-1", {});
    },
    fill: async (): Promise<void> => {
      for (const [index, each] of WAITING.entries()) {
        const { status, body } = await ask(each, `wait-${index}`, { wait: {} });
        if (status !== 202 && status !== 201)
          throw new Error(`${each.by}: ${status} ${JSON.stringify(body)}`);
      }
      for (const [index, [attempts, each]] of REFUSED.entries()) {
        const object = `5f1c8a3e-1111-4222-8333-44445555${6000 + index}`;
        for (let attempt = 1; attempt <= attempts; attempt++) await ask(each, `${object}-${attempt}`, {});
      }
    },
  };
}
