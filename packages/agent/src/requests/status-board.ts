import { Fault, type ResourceRequest, resourceRequestKind } from "@resource-broker/contract";
import { customResource, type KubeClient, type Patch } from "@resource-broker/kube";
import type { RecordEvent } from "../events/tell.ts";
import { isSameStatus } from "../forge/conditions.ts";
import { MANAGER } from "../forge/labels.ts";
import { eventFor } from "./request-events.ts";
import type { RequestStatus } from "./request-status.ts";
import { createOwnWrites } from "./written-requests.ts";

export const RESOURCE_REQUESTS = customResource(resourceRequestKind);

export interface RequestStatusWriterDeps {
  readonly client: Pick<KubeClient, "patch">;
  /** As last seen in the cluster, by `namespace/name`. */
  readonly request: (key: string) => ResourceRequest | undefined;
  readonly recordEvent: RecordEvent;
}

/** Writes the status of ResourceRequests. */
export interface RequestStatusWriter {
  /** The newest known version: as last written, until the watch shows it. */
  readonly latest: (key: string) => ResourceRequest | undefined;
  /** Writes the status unless it is unchanged or the request is gone, and records an event for a new state. */
  readonly write: (key: string, request: ResourceRequest, status: RequestStatus) => Promise<void>;
}

export function requestStatusWriter({
  client,
  request: seen,
  recordEvent,
}: RequestStatusWriterDeps): RequestStatusWriter {
  const ownWrites = createOwnWrites();
  const latest = (key: string): ResourceRequest | undefined => ownWrites.latest(key, seen(key));
  return {
    latest,
    write: async (key, request, status) => {
      const before = latest(key);
      if (before === undefined || !isSameObject(before, request)) return;
      if (isSameStatus(before.status, status)) return;
      const { name, namespace = "" } = request.metadata;
      const change = { name: { name, namespace }, patch: patchOf(request, status) };
      const options = { subresource: "status", fieldManager: MANAGER } as const;
      const after = await client.patch(RESOURCE_REQUESTS, change, options).catch(ignoreNotFound);
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

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof Fault) || error.code !== "not-found") throw error;
}
