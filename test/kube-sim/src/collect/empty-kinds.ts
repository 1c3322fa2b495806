import type { Clock } from "@resource-broker/base";
import type { ApiContext } from "../api/context.ts";
import { CLEANUP_FINALIZER, CUSTOM_RESOURCES } from "../api/create-object.ts";
import { deleteCollection } from "../api/delete-collection.ts";
import { resourceOf } from "../api/registry.ts";
import type { JsonObject } from "../json.ts";
import { finalizersOf, isTerminating, withFinalizers } from "../json-access.ts";
import type { Change } from "../store/change.ts";
import { tickQueue } from "./tick.ts";

const DEFINITIONS = resourceOf(CUSTOM_RESOURCES);

/** Takes away the objects of a kind whose CustomResourceDefinition was deleted, then lets go of that. */
export function emptyKinds(context: ApiContext, clock: Clock): () => void {
  const { store } = context;
  const going = new Set<string>();
  // A CustomResourceDefinition has the name under which its objects lie in the store: `<plural>.<group>`.
  const queue = tickQueue<string>(clock, (resource) => {
    const crd = store.get(DEFINITIONS, resource);
    if (crd !== undefined && isHeld(crd)) empty(context, resource, crd);
  });
  const stop = store.watch({
    after: 0,
    each: (change) => {
      if (change.resource === DEFINITIONS) noteKind(change, going);
      const resource = kindIn(change);
      if (going.has(resource)) queue.add(resource);
    },
  });
  return () => {
    stop();
    queue.stop();
  };
}

function noteKind({ key, after }: Change, going: Set<string>): void {
  if (after !== undefined && isHeld(after)) going.add(key);
  else going.delete(key);
}

function kindIn({ resource, key, after }: Change): string {
  if (resource === DEFINITIONS) return key;
  return after === undefined ? resource : "";
}

function isHeld(crd: JsonObject): boolean {
  return isTerminating(crd) && finalizersOf(crd).includes(CLEANUP_FINALIZER);
}

function empty(context: ApiContext, resource: string, crd: JsonObject): void {
  const { store, registry } = context;
  const definition = registry.byResource(resource);
  if (definition !== undefined) {
    const options = { dryRun: false, propagation: "Background" } as const;
    deleteCollection(context, { definition }, { query: {}, options });
  }
  if (store.count(resource, { from: "" }) > 0) return;
  const finalizers = finalizersOf(crd).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
  if (finalizers.length === 0) store.delete(DEFINITIONS, resource);
  else store.put(DEFINITIONS, resource, withFinalizers(crd, finalizers));
}
