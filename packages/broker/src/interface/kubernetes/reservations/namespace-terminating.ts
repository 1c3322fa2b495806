import { reservationKind } from "@resource-broker/contract";
import { CUSTOM_RESOURCE_DEFINITIONS, type KubeClient, NAMESPACES } from "@resource-broker/kube";

const DEFINITION = `${reservationKind.plural}.${reservationKind.group}`;

/**
 * True if the namespace or the CRD of Reservations is being deleted or is missing: then the objects are deleted with it, and
 * nobody asked for a release. The server marks namespace and CRD before it deletes their objects, so a check after a
 * deletion was seen is reliable.
 */
export async function isNamespaceTerminating(client: KubeClient, namespace: string): Promise<boolean> {
  const [namespaceObject, definition] = await Promise.all([
    client.find(NAMESPACES, { name: namespace }),
    client.find(CUSTOM_RESOURCE_DEFINITIONS, { name: DEFINITION }),
  ]);
  const isTerminating = namespaceObject?.status?.phase === "Terminating";
  return (
    isTerminating ||
    [namespaceObject, definition].some((object) => object?.metadata.deletionTimestamp !== undefined) ||
    namespaceObject === undefined ||
    definition === undefined
  );
}
