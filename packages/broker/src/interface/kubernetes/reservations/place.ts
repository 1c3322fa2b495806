import { reservationKind } from "@resource-broker/contract";
import { CUSTOM_RESOURCE_DEFINITIONS, type KubeClient, NAMESPACES } from "@resource-broker/kube";

const DEFINITION = `${reservationKind.plural}.${reservationKind.group}`;

/**
 * True when the namespace or the definition of Reservations is being deleted, or is gone: then every object goes with
 * it, and none of that is anybody's wish to release. The server marks them before it deletes what is in them, so
 * asked after an object was seen to be deleted, the answer is never too early.
 */
export async function isPlaceEnding(client: KubeClient, namespace: string): Promise<boolean> {
  const [place, definition] = await Promise.all([
    client.find(NAMESPACES, { name: namespace }),
    client.find(CUSTOM_RESOURCE_DEFINITIONS, { name: DEFINITION }),
  ]);
  const isEnding = place?.status?.phase === "Terminating";
  return (
    isEnding ||
    [place, definition].some((object) => object?.metadata.deletionTimestamp !== undefined) ||
    place === undefined ||
    definition === undefined
  );
}
