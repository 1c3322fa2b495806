import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { customResourceDefinition, KINDS } from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import {
  type BrokerProcess,
  kubeClientFor,
  type SimulatedControlPlanes,
  simulatedControlPlanes,
  startBroker,
  type TestCertificates,
} from "@resource-broker/testkit";
import type { BrokerTransport } from "../../broker-communicator.ts";
import { kubernetesTransport } from "../kubernetes-transport.ts";
import { issuedFor, NAMESPACE } from "./objects.ts";

type JsonObject = Parameters<SimulatedControlPlanes["start"]>[1][number];

const NAME = "hub";
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The broker's cluster on kube-sim, and a real broker that serves its objects. */
export interface Hub {
  readonly broker: BrokerProcess;
  readonly sim: ReturnType<SimulatedControlPlanes["cluster"]>;
  /** A client with full rights; closed by the hub. */
  readonly admin: KubeClient;
  /** The agent of this cluster; `through` puts something in the way of its client. */
  readonly connect: (
    clusterId: string,
    through?: (client: KubeClient) => KubeClient,
  ) => Promise<BrokerTransport>;
  readonly loseLedger: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startHub(certificates: TestCertificates): Promise<Hub> {
  const planes = simulatedControlPlanes();
  const definitions = KINDS.filter(({ group }) => group === "broker.fluidos.eu").map(
    (kind) => JSON.parse(JSON.stringify(customResourceDefinition(kind))) as JsonObject,
  );
  const { kubeconfig } = await planes.start(NAME, definitions);
  const folder = await mkdtemp(join(tmpdir(), "hub-"));
  const file = join(folder, "kubeconfig.yaml");
  await writeFile(file, kubeconfig);
  const flags = [
    "--broker-interface=http,kubernetes",
    `--kubeconfig=${file}`,
    `--http-namespace=${NAMESPACE}`,
  ];
  const broker = await startBroker({ certificates, flags });
  const admin = kubeClientFor(kubeconfig);
  return {
    broker,
    sim: planes.cluster(NAME),
    admin,
    connect: (clusterId, through = (client) => client) =>
      kubernetesTransport(
        { namespace: NAMESPACE, clusterId: "" },
        {
          client: through(issuedFor(clusterId, kubeClientFor(kubeconfig))),
          clock: systemClock(() => Math.round(performance.timeOrigin + performance.now())),
          random: () => 0.5,
          randomBytes,
          log: quiet,
        },
      ),
    loseLedger: async () => {
      await broker.kill("SIGKILL");
      await rm(broker.storeDirectory, { recursive: true });
      await broker.restart();
    },
    stop: async () => {
      admin.close();
      await broker.dispose();
      await planes.stop();
      await rm(folder, { recursive: true });
    },
  };
}
