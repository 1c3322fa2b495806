import { Fault } from "@resource-broker/base";
import { CUSTOM_RESOURCE_DEFINITIONS, type KubeClient, NAMESPACES } from "@resource-broker/kube";

export interface ObjectLocation {
  readonly namespace: string;
  readonly kind: { readonly plural: string; readonly group: string };
  /** Returns false, instead of throwing, for what the broker may not read. */
  readonly isForbiddenIgnored?: boolean;
}

/**
 * True if the namespace or the CRD of the kind is being deleted or is missing: then the objects are deleted with it, and
 * nobody asked for that. The server marks namespace and CRD before it deletes their objects, so a check after a
 * deletion was seen is reliable.
 */
export async function isNamespaceTerminating(
  client: KubeClient,
  { namespace, kind, isForbiddenIgnored = false }: ObjectLocation,
): Promise<boolean> {
  const name = `${kind.plural}.${kind.group}`;
  const isTerminating = await Promise.all(
    [client.find(NAMESPACES, { name: namespace }), client.find(CUSTOM_RESOURCE_DEFINITIONS, { name })].map(
      async (found) => {
        try {
          return isDeleted(await found);
        } catch (error) {
          if (isForbiddenIgnored && error instanceof Fault && error.code === "forbidden") return false;
          throw error;
        }
      },
    ),
  );
  return isTerminating.includes(true);
}

interface Deletable {
  readonly metadata: { readonly deletionTimestamp?: string };
  /** Only namespaces have a phase. */
  readonly status?: { readonly phase?: string; readonly conditions?: unknown };
}

function isDeleted(object: Deletable | undefined): boolean {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return true;
  return object.status?.phase === "Terminating";
}
