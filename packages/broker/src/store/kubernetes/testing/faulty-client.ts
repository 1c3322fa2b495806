import { Fault, type FaultCode } from "@resource-broker/base";
import { CONFIG_MAPS, type ConfigMap, type KubeClient } from "@resource-broker/kube";
import { LEDGER } from "../segments.ts";

/** What happens to a write of the ledger's manifest. */
export type WriteFault =
  /** It is there, and its answer is lost. */
  | "answer-lost"
  /** It never arrives. */
  | "never-sent"
  /** The connection seems broken, and it arrives when the test says so. */
  | "late"
  /** The client sends it twice because its connection broke, and hears what becomes of the second. */
  | "resent"
  /** Somebody has put an annotation on the object just before. */
  | "touched"
  /** Somebody has deleted the object just before. */
  | "deleted"
  /** The API server refuses it. */
  | { readonly code: FaultCode; readonly message?: string };

export interface FaultyClient {
  readonly through: (client: KubeClient) => KubeClient;
  /** The next writes of the manifest end like this; those after them as usual. */
  readonly plan: (...fates: readonly WriteFault[]) => void;
  /** The next reads of the manifest fail. */
  readonly failReads: (count: number) => void;
  /** Lets a late write arrive; true: the API server took it. */
  readonly arrive: () => Promise<boolean>;
}

/** A real client whose writes of the manifest the test can disturb. */
export function faultyClient(): FaultyClient {
  const faults: WriteFault[] = [];
  let failing = 0;
  let late: (() => Promise<unknown>) | undefined;

  const disturbed = async <T>(
    client: KubeClient,
    manifest: ConfigMap,
    send: () => Promise<T>,
  ): Promise<T> => {
    const fault = faults.shift();
    switch (fault) {
      case undefined:
        return send();
      case "answer-lost":
        await send();
        throw new Fault("unreachable", "the answer is lost");
      case "never-sent":
        throw new Fault("unreachable", "the connection is lost");
      case "late":
        late = send;
        throw new Fault("unreachable", "the connection seems lost");
      case "resent":
        await send();
        return send();
      case "touched":
        await touch(client, manifest);
        return send();
      case "deleted":
        await client.delete(CONFIG_MAPS, nameOf(manifest));
        return send();
      default:
        throw new Fault(fault.code, fault.message ?? "planned");
    }
  };

  return {
    plan: (...next) => void faults.push(...next),
    failReads: (count) => {
      failing = count;
    },
    arrive: async () => {
      const sent = late?.();
      late = undefined;
      return (await sent?.catch(() => undefined)) !== undefined;
    },
    through: (client) => ({
      ...client,
      find: async (resource, name, options) => {
        if (name.name === LEDGER && resource.plural === CONFIG_MAPS.plural && failing-- > 0)
          throw new Fault("unreachable", "it cannot be read");
        return client.find(resource, name, options);
      },
      update: async (resource, object, options) => {
        const send = () => client.update(resource, object, options);
        return isManifest(resource.plural, object) ? disturbed(client, object, send) : send();
      },
    }),
  };
}

function isManifest(plural: string, object: unknown): object is ConfigMap {
  return plural === CONFIG_MAPS.plural && (object as ConfigMap).metadata.name === LEDGER;
}

function nameOf({ metadata: { name, namespace = "" } }: ConfigMap) {
  return { name, namespace };
}

async function touch(client: KubeClient, manifest: ConfigMap): Promise<void> {
  const body = { metadata: { annotations: { touched: String(performance.now()) } } };
  await client.patch(CONFIG_MAPS, { name: nameOf(manifest), patch: { kind: "merge", body } });
}
