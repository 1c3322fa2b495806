import type { JsonObject } from "../json.ts";
import { withMetadata } from "../json-access.ts";
import { selectorOf } from "../selectors/selection.ts";
import type { Change } from "../store/change.ts";
import type { Store } from "../store/store.ts";
import type { CollectionTarget, Watch, WatchChange, WatchQuery } from "./cluster-api.ts";
import type { ApiContext } from "./context.ts";
import type { ResourceDefinition } from "./definition.ts";
import { present } from "./identity.ts";
import { readVersion, spanOf } from "./list-objects.ts";
import { resourceOf } from "./registry.ts";
import { tooLargeVersion, tooOldVersion } from "./statuses.ts";

interface WatchRequest {
  readonly target: CollectionTarget;
  readonly query: WatchQuery;
  readonly each: (change: WatchChange) => void;
}

/** What has already happened is told before this returns, so that a bookmark may follow at once. */
export function watchObjects({ store }: ApiContext, { target, query, each }: WatchRequest): Watch {
  const { definition } = target;
  const { matches } = selectorOf(definition, query);
  const resource = resourceOf(definition);
  const namespace = definition.isNamespaced ? (target.namespace ?? "") : "";
  const start = startOf(store, query);
  let isStopped = false;
  const notify = (change: Change) => {
    const event = isStopped ? undefined : asSeen(definition, change, matches);
    if (event !== undefined) each(event);
  };
  if (start.wantsObjects) {
    const everything = { span: spanOf(target), at: start.version, limit: Number.POSITIVE_INFINITY, matches };
    for (const object of store.page(resource, everything).objects) {
      each({ type: "ADDED", object: present(definition, object) });
    }
  }
  const seen = catchUp(store, start.version, (change) => {
    if (isInside(change, resource, namespace)) notify(change);
  });
  const place = namespace === "" ? { resource } : { resource, namespace };
  const stop = store.watch({ ...place, after: seen, each: notify });
  return {
    stop: () => {
      isStopped = true;
      stop();
    },
  };
}

interface Start {
  readonly version: number;
  readonly wantsObjects: boolean;
}

function startOf(store: Store, { resourceVersion, sendInitialEvents }: WatchQuery): Start {
  const asked = readVersion(resourceVersion);
  const newest = store.version();
  if (asked > newest) throw tooLargeVersion(asked, newest);
  const wantsObjects = sendInitialEvents ?? asked === 0;
  if (wantsObjects || asked === 0) return { version: newest, wantsObjects };
  if (asked < store.oldest()) throw tooOldVersion(asked, store.oldest());
  return { version: asked, wantsObjects };
}

/** A callback may write: what it adds is told in the next round, never before what was already there. */
function catchUp(store: Store, after: number, each: (change: Change) => void): number {
  let seen = after;
  while (seen < store.version()) {
    const round = seen;
    seen = store.version();
    for (const change of store.since(round)) {
      if (change.version > seen) break;
      each(change);
    }
  }
  return seen;
}

function isInside({ resource, key }: Change, wanted: string, namespace: string): boolean {
  return resource === wanted && (namespace === "" || key.startsWith(`${namespace}/`));
}

/** A change as it looks through the selector: what stops matching is deleted for this watcher. */
function asSeen(
  definition: ResourceDefinition,
  change: Change,
  matches: (object: JsonObject) => boolean,
): WatchChange | undefined {
  const { before, after, last } = change;
  const was = before !== undefined && matches(before);
  if (after !== undefined && matches(after)) {
    return { type: was ? "MODIFIED" : "ADDED", object: present(definition, after) };
  }
  if (!was) return undefined;
  const object = last ?? withMetadata(before, { resourceVersion: String(change.version) });
  return { type: "DELETED", object: present(definition, object) };
}
