import { randomUUID } from "node:crypto";
import type { Clock, Log } from "@resource-broker/base";
import { customResourceDefinition, KINDS } from "@resource-broker/contract/crd";
import { CONFIG_MAPS, type KubeClient, LEASES, NAMESPACES } from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import {
  kubeClientFor,
  type RealControlPlane,
  type SimulatedControlPlanes,
  simulatedControlPlanes,
} from "@resource-broker/testkit";
import type { ReplicatedStore } from "../../common/leader-elector.ts";
import { type KubernetesStoreOptions, kubernetesStore } from "../kubernetes-store.ts";
import { LEDGER, LEDGER_LABEL } from "../segments.ts";

const silent = (): void => undefined;
const NO_LOG: Log = { info: silent, warn: silent, error: silent };
const CLOCK = systemClock(() => Math.round(performance.timeOrigin + performance.now()));

export interface ReplicaOptions extends Partial<KubernetesStoreOptions> {
  readonly clock?: Clock;
  readonly log?: Log;
  /** What this replica has instead of the client itself. */
  readonly through?: (client: KubeClient) => KubeClient;
}

/** A ledger in a namespace of its own. */
export interface TestLedger {
  readonly namespace: string;
  readonly client: KubeClient;
  readonly connect: (options?: ReplicaOptions) => ReplicatedStore;
  /** Takes the lease away from whoever holds it, as the end of its time would. */
  readonly expireLease: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** An API server with our kinds, whoever runs it. */
export interface LedgerServer {
  readonly newLedger: () => Promise<TestLedger>;
  readonly dispose: () => Promise<void>;
}

export type SimFaults = ReturnType<SimulatedControlPlanes["cluster"]>["faults"];

export async function simulatedServer(): Promise<LedgerServer & { readonly faults: SimFaults }> {
  const planes = simulatedControlPlanes();
  const { kubeconfig } = await planes.start("broker", brokerDefinitions());
  const client = kubeClientFor(kubeconfig);
  return {
    faults: planes.cluster("broker").faults,
    newLedger: () => ledgerOn(client),
    dispose: async () => {
      client.close();
      await planes.stop();
    },
  };
}

/** On a control plane that somebody else starts and ends. */
export async function realServer(plane: RealControlPlane): Promise<LedgerServer> {
  await plane.seed(brokerDefinitions());
  const client = kubeClientFor(plane.kubeconfig);
  return {
    newLedger: () => ledgerOn(client),
    dispose: () => Promise.resolve(client.close()),
  };
}

type Objects = Parameters<SimulatedControlPlanes["start"]>[1];

/** The definitions of our kinds. */
export function brokerDefinitions(): Objects {
  // Through JSON: what is undefined is left out.
  const all: unknown = JSON.parse(JSON.stringify(KINDS.map((kind) => customResourceDefinition(kind))));
  return all as Objects;
}

/** How many objects of each kind the ledger has, such as `log` or `audit`; its manifest is `head`. */
export async function objectsOf({ client, namespace }: TestLedger): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  await client.list(CONFIG_MAPS, { namespace, labelSelector: LEDGER_LABEL }, ({ metadata: { name } }) => {
    const [, kind = "head"] = /^resource-broker-ledger-([a-z]+)-/.exec(name) ?? [];
    counts[kind] = (counts[kind] ?? 0) + 1;
  });
  return counts;
}

async function ledgerOn(client: KubeClient): Promise<TestLedger> {
  const namespace = `ledger-${randomUUID()}`;
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  return {
    namespace,
    client,
    connect: ({ clock = CLOCK, log = NO_LOG, through = (own: KubeClient) => own, ...options } = {}) =>
      kubernetesStore(
        { replica: "test", ...options },
        { clock, log, cluster: () => Promise.resolve({ client: through(client), namespace }) },
      ),
    expireLease: async () => {
      const name = { name: LEDGER, namespace };
      const body = { spec: { holderIdentity: "" } };
      await client.patch(LEASES, { name, patch: { kind: "merge", body } });
    },
    remove: () => client.delete(NAMESPACES, { name: namespace }),
  };
}
