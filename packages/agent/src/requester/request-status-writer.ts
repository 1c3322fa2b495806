import type { ResourceRequest } from "@resource-broker/contract/crd";
import type { Informer, KubeClient, Patch } from "@resource-broker/kube";
import type { EventReason, ObjectEvent, RecordEvent } from "../events/record-event.ts";
import { ignoring } from "../faults.ts";
import { isSameStatus } from "../manifests/conditions.ts";
import { MANAGER, RESOURCE_REQUESTS } from "../manifests/labels.ts";
import { QUEUE_FULL, WRONG_ANSWER } from "./plan-answer.ts";
import type { RequestStatus } from "./request-status.ts";

const BY_CONDITION: Readonly<Record<string, EventReason>> = {
  Queued: "Queued",
  ProviderRefused: "ProviderRefused",
  Preempted: "Preempted",
  BrokerUnreachable: "BrokerUnavailable",
  BrokerUnavailable: "BrokerUnavailable",
  BrokerBusy: "BrokerUnavailable",
  BrokerRefusesAgent: "BrokerUnavailable",
  [QUEUE_FULL]: "QueueFull",
  UnknownToBroker: "UnknownToBroker",
  [WRONG_ANSWER]: "WrongAnswer",
};

interface RequestStatusWriterDeps {
  readonly client: Pick<KubeClient, "patch">;
  /** As last seen in the cluster, by `namespace/name`. */
  readonly requests: Pick<Informer<ResourceRequest>, "get">;
  readonly recordEvent: RecordEvent;
}

export function requestStatusWriter({ client, requests, recordEvent }: RequestStatusWriterDeps) {
  const ownWrites = createOwnWrites();
  /** The newest known version: as last written, until the watch shows it. */
  const latest = (key: string): ResourceRequest | undefined => ownWrites.latest(key, requests.get(key));
  return {
    latest,
    /** Writes the status unless it is unchanged or the request is gone, and records an event for a new state. */
    write: async (key: string, request: ResourceRequest, status: RequestStatus): Promise<void> => {
      const before = latest(key);
      if (before === undefined || !isSameObject(before, request)) return;
      if (isSameStatus(before.status, status)) return;
      const { name, namespace = "" } = request.metadata;
      const change = { name: { name, namespace }, patch: patchOf(request, status) };
      const options = { subresource: "status", fieldManager: MANAGER } as const;
      const after = await client.patch(RESOURCE_REQUESTS, change, options).catch(ignoring("not-found"));
      if (after === undefined) return;
      ownWrites.record(key, before, after);
      const event = eventFor(before, status);
      if (event !== undefined) recordEvent(event);
    },
  };
}

/** True while the request exists, is the same object, and is not being deleted. */
export function isSameObject(now: ResourceRequest, before: ResourceRequest): boolean {
  return now.metadata.uid === before.metadata.uid && now.metadata.deletionTimestamp === undefined;
}

/** Another object may have the same name now: it must not get this status. */
function patchOf({ metadata }: ResourceRequest, status: RequestStatus): Patch {
  return {
    kind: "json",
    body: [
      { op: "test", path: "/metadata/uid", value: metadata.uid },
      { op: "add", path: "/status", value: status },
    ],
  };
}

/** A watch lags behind writes: until it catches up, the written object counts. */
export function createOwnWrites() {
  const entries = new Map<string, { readonly object: ResourceRequest; readonly older: Set<string> }>();
  return {
    /** The newest version of an object that was last seen like this. */
    latest: (key: string, seen: ResourceRequest | undefined): ResourceRequest | undefined => {
      const entry = entries.get(key);
      if (entry === undefined) return seen;
      if (seen !== undefined && entry.older.has(versionOf(seen))) return entry.object;
      entries.delete(key);
      return seen;
    },
    record: (key: string, before: ResourceRequest, after: ResourceRequest): void => {
      const older = entries.get(key)?.older ?? new Set<string>();
      entries.set(key, { object: after, older: older.add(versionOf(before)) });
    },
  };
}

/** Versions are compared for equality only, as Kubernetes requires; a new object of the same name has another UID. */
function versionOf({ metadata }: ResourceRequest): string {
  return `${metadata.uid} ${metadata.resourceVersion}`;
}

/** The event for a change of a request's status; undefined when nothing changed. */
function eventFor(request: ResourceRequest, now: RequestStatus): ObjectEvent | undefined {
  const before = request.status;
  const reason = reasonOf(now);
  if (reason === undefined || reason === (before && reasonOf(before))) return undefined;
  const isGood = reason === "Reserved" || now.phase === "Released";
  const message = [now.message, now.explanation].filter((part) => part !== undefined).join("\n");
  return { regarding: request, type: isGood ? "Normal" : "Warning", reason, message };
}

function reasonOf({ phase, reservationName, conditions = [] }: RequestStatus): EventReason | undefined {
  const condition = conditions.find(({ type }) => type === "Reserved")?.reason ?? "";
  if (phase === "Failed" || phase === "Released") return reservationName === undefined ? "Refused" : "Ended";
  return BY_CONDITION[condition] ?? (phase === "Pending" ? undefined : "Reserved");
}
