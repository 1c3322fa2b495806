import type { WatchChange } from "../api/cluster-api.ts";
import { nameOf, namespaceOf, objectAt, objectsAt, textAt } from "../core/look.ts";
import { sameJson } from "../crd/same-json.ts";
import type { JsonObject } from "../json.ts";
import { type Amounts, allocatableOf, minus, plus, requestsOf } from "./amounts.ts";
import type { NodeState } from "./placement.ts";

/** What is known of nodes and of what runs on them, kept up to date change by change. */
export interface NodeCache {
  /** True if pods may fit now that did not before. */
  readonly onNode: (change: WatchChange) => boolean;
  /** True if a node has more room than before. */
  readonly onPod: (change: WatchChange) => boolean;
  readonly nodes: () => readonly NodeState[];
  readonly node: (name: string) => JsonObject | undefined;
}

interface Placed {
  readonly nodeName: string;
  readonly requests: Amounts;
}

const NOTHING: Amounts = new Map();

export function createNodeCache(): NodeCache {
  const nodes = new Map<string, JsonObject>();
  const allocatable = new Map<string, Amounts>();
  const used = new Map<string, Amounts>();
  const placed = new Map<string, Placed>();

  const remove = (key: string): boolean => {
    const before = placed.get(key);
    if (before === undefined) return false;
    placed.delete(key);
    used.set(before.nodeName, minus(used.get(before.nodeName) ?? NOTHING, before.requests));
    return true;
  };
  const place = (key: string, pod: JsonObject): void => {
    const nodeName = textAt(pod, "spec.nodeName");
    const requests = requestsOf(pod);
    placed.set(key, { nodeName, requests });
    used.set(nodeName, plus(used.get(nodeName) ?? NOTHING, requests));
  };
  return {
    onNode: ({ type, object }) => {
      const name = nameOf(object);
      const before = nodes.get(name);
      if (type === "DELETED") {
        nodes.delete(name);
        allocatable.delete(name);
        return false;
      }
      nodes.set(name, object);
      allocatable.set(name, allocatableOf(object));
      return before === undefined || !sameJson(substance(before), substance(object));
    },
    onPod: ({ type, object }) => {
      const key = `${namespaceOf(object)}/${nameOf(object)}`;
      if (type === "DELETED" || hasEnded(object)) return remove(key);
      if (!placed.has(key) && textAt(object, "spec.nodeName") !== "") place(key, object);
      return false;
    },
    nodes: () =>
      [...nodes].map(([name, node]) => ({
        node,
        allocatable: allocatable.get(name) ?? NOTHING,
        used: used.get(name) ?? NOTHING,
      })),
    node: (name) => nodes.get(name),
  };
}

export function hasEnded(pod: JsonObject): boolean {
  const phase = textAt(pod, "status.phase");
  return phase === "Succeeded" || phase === "Failed";
}

/** What decides on pods; a heartbeat does not. */
function substance(node: JsonObject): JsonObject {
  const status = objectAt(node, "status");
  return {
    spec: node["spec"],
    labels: objectAt(node, "metadata.labels"),
    allocatable: status["allocatable"],
    conditions: objectsAt(status, "conditions").map(
      (condition) => `${textAt(condition, "type")}=${textAt(condition, "status")}`,
    ),
  };
}
