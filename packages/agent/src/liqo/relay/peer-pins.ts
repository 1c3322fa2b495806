import { Fault } from "@resource-broker/base";
import { CONFIG_MAPS, type ConfigMap, type KubeClient } from "@resource-broker/kube";
import { isFault } from "../../faults.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";

/** What this cluster has pinned of another one: a ConfigMap of its own, which nothing else deletes. */
export interface Pin {
  readonly name: string;
  readonly clusterId: string;
  /** The identity key; undefined: none yet. */
  readonly key?: string | undefined;
  readonly liqoId?: string | undefined;
  /** Of the newest statement whose content differed from the one before it. Replays of older ones are ignored. */
  readonly generation: number;
  /** The fingerprint that a person has accepted. */
  readonly accepted?: string | undefined;
  /** The request that Liqo signs at that cluster; Liqo refuses another one in its place. */
  readonly csr?: string | undefined;
  /** Of the object that was read. */
  readonly version?: string | undefined;
}

type KeyPin = Required<Pick<Pin, "key" | "liqoId" | "generation">>;
type PinChange = Partial<KeyPin & Pick<Pin, "csr">>;

export const PEER_LABEL = "rear.fluidos.eu/peer";
const MAX_CONFLICTS = 5;

export function pinName(clusterId: string): string {
  return `rear-peer-${clusterId}`;
}

/** The command by which a person accepts an identity key. */
export function acceptCommand(
  clusterId: string,
  fingerprint: string,
  { pin, namespace }: { readonly pin: Pin | undefined; readonly namespace: string },
): string {
  const name = pinName(clusterId);
  if (pin === undefined)
    return `kubectl create configmap ${name} -n ${namespace} --from-literal=accepted=${fingerprint}`;
  const patch = `{"data":{"accepted":"${fingerprint}"}}`;
  return `kubectl patch configmap ${name} -n ${namespace} --type merge -p '${patch}'`;
}

function readPin(clusterId: string, { metadata, data = {} }: ConfigMap): Pin {
  const generation = Number(data["generation"] ?? "0");
  return {
    name: metadata.name,
    clusterId,
    key: data["key"],
    liqoId: data["liqoID"],
    generation: Number.isSafeInteger(generation) ? generation : 0,
    accepted: data["accepted"],
    csr: data["csr"],
    version: metadata.resourceVersion,
  };
}

/** The object with the change. An accepted fingerprint is used up once its key is pinned. */
function changedPin(before: ConfigMap, { key, liqoId, generation, csr }: PinChange): ConfigMap {
  const { accepted: _, ...kept } = before.data ?? {};
  return {
    ...before,
    metadata: {
      ...before.metadata,
      labels: { ...before.metadata.labels, [PEER_LABEL]: "true", [MANAGED_BY_LABEL]: MANAGER },
    },
    data: {
      ...(key === undefined ? before.data : kept),
      ...(key === undefined ? {} : { key }),
      ...(liqoId === undefined ? {} : { liqoID: liqoId }),
      ...(generation === undefined ? {} : { generation: String(generation) }),
      ...(csr === undefined ? {} : { csr }),
    },
  };
}

export type PeerPins = ReturnType<typeof peerPins>;

/** The pins in the agent's namespace. People edit them too, so they are read each time. */
export function peerPins(client: Pick<KubeClient, "find" | "list" | "create" | "update">, namespace: string) {
  const nameOf = (clusterId: string) => ({ name: pinName(clusterId), namespace });
  const of = async (clusterId: string): Promise<Pin | undefined> => {
    const found = await client.find(CONFIG_MAPS, nameOf(clusterId));
    return found && readPin(clusterId, found);
  };
  const write = async (clusterId: string, found: ConfigMap | undefined, by: PinChange): Promise<Pin> => {
    const empty = { apiVersion: "v1", kind: "ConfigMap", metadata: nameOf(clusterId) };
    const after = changedPin(found ?? empty, by);
    const perform = found === undefined ? client.create : client.update;
    return readPin(clusterId, await perform(CONFIG_MAPS, after, { fieldManager: MANAGER }));
  };
  /** Pins a key that was judged beside this pin. Rejects with a conflict when a person, or another statement, was faster. */
  const pinKey = async (clusterId: string, judged: Pin | undefined, by: KeyPin): Promise<Pin> => {
    const found = await client.find(CONFIG_MAPS, nameOf(clusterId));
    if (found?.metadata.resourceVersion !== judged?.version)
      throw new Fault("conflict", `ConfigMap ${namespace}/${pinName(clusterId)} has changed`);
    return await write(clusterId, found, by);
  };
  const change = async (
    clusterId: string,
    by: Omit<PinChange, "key" | "liqoId">,
    triesLeft = MAX_CONFLICTS,
  ): Promise<Pin> => {
    const found = await client.find(CONFIG_MAPS, nameOf(clusterId));
    try {
      return await write(clusterId, found, by);
    } catch (error) {
      if (!isFault(error, "conflict", "already-exists") || triesLeft === 0) throw error;
      return await change(clusterId, by, triesLeft - 1);
    }
  };
  /** The cluster that this Liqo ID is pinned for. */
  const owners = async (): Promise<ReadonlyMap<string, string>> => {
    const found = new Map<string, string>();
    await client.list(CONFIG_MAPS, { namespace, labelSelector: `${PEER_LABEL}=true` }, (object) => {
      const { liqoID } = object.data ?? {};
      if (liqoID !== undefined && object.metadata.labels?.[PEER_LABEL] === "true")
        found.set(liqoID, object.metadata.name.slice(pinName("").length));
    });
    return found;
  };
  return { namespace, of, pinKey, change, owners };
}
