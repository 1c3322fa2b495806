import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { customResourceDefinition, KINDS } from "@resource-broker/contract/crd";
import { systemClock } from "@resource-broker/runtime";
import {
  kubeClientFor,
  type SimulatedControlPlanes,
  simulatedControlPlanes,
  startBroker,
  TRANSPORT_PROMISES,
  type TransportUnderTest,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { kubernetesTransport } from "./kubernetes-transport.ts";
import { issuedFor, NAMESPACE } from "./testing/fake-hub.ts";

type JsonObject = Parameters<SimulatedControlPlanes["start"]>[1][number];

const certificates = await testCertificates();
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const definitions = KINDS.filter(({ group }) => group === "broker.fluidos.eu").map(
  (kind) => JSON.parse(JSON.stringify(customResourceDefinition(kind))) as JsonObject,
);

/** The broker's cluster on kube-sim, and a real broker that serves its objects. */
async function makeTransport(): Promise<TransportUnderTest> {
  const planes = simulatedControlPlanes();
  const { kubeconfig } = await planes.start("hub", definitions);
  const folder = await mkdtemp(join(tmpdir(), "hub-"));
  const file = join(folder, "kubeconfig.yaml");
  await writeFile(file, kubeconfig);
  const flags = [
    "--broker-interface=http,kubernetes",
    `--kubeconfig=${file}`,
    `--http-namespace=${NAMESPACE}`,
  ];
  const broker = await startBroker({ certificates, flags });
  return {
    connect: (clusterId) =>
      kubernetesTransport(
        { namespace: NAMESPACE, clusterId: "" },
        {
          client: issuedFor(clusterId, kubeClientFor(kubeconfig)),
          clock: systemClock(() => Math.round(performance.timeOrigin + performance.now())),
          random: () => 0.5,
          randomBytes,
          log: quiet,
        },
      ),
    cut: planes.cluster("hub").faults.cut,
    loseLedger: async () => {
      await broker.kill("SIGKILL");
      await rm(broker.storeDirectory, { recursive: true });
      await broker.restart();
    },
    admin: broker.api,
    remove: async () => {
      await broker.dispose();
      await planes.stop();
      await rm(folder, { recursive: true });
    },
  };
}

describe("Kubernetes passes the conformance suite of a transport", () => {
  test.each(TRANSPORT_PROMISES)("$name", async ({ keep }) => {
    await expect(keep(makeTransport)).resolves.toBeUndefined();
  });
});
