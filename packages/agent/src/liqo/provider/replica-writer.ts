import { Fault } from "@resource-broker/base";
import type { KubeClient, ObjectName } from "@resource-broker/kube";
import type { RecordEvent } from "../../events/record-event.ts";
import { MANAGER } from "../../manifests/labels.ts";
import { RESOURCE_SLICES, type ResourceSlice } from "../objects/authentication.ts";
import { LIQO_ANNOTATION } from "../objects/labels.ts";
import { QUOTAS } from "../objects/offloading.ts";
import { creatorUserOf } from "./liqo-informers.ts";
import type { ReplicaAction } from "./plan-replica.ts";
import { CORDONED_ANNOTATION } from "./replica-status.ts";

export interface ReplicaWriterDeps {
  readonly client: Pick<KubeClient, "update" | "patch" | "delete">;
  readonly recordEvent: RecordEvent;
}

type SliceEvent = "SliceGranted" | "SliceRefused" | "SliceCordoned" | "SliceFlagged" | "GuestsRemoved";

/** Executes the planned action and records an event. */
export interface ReplicaWriter {
  /** Returns the written replica; `conflict` when the version has changed. */
  readonly perform: (
    action: Exclude<ReplicaAction, { kind: "evict" }>,
    slice: ResourceSlice,
  ) => Promise<ResourceSlice>;
  readonly recordEvent: (slice: ResourceSlice, event: SliceEvent, message: string) => void;
}

export function replicaWriter({ client, recordEvent: tell }: ReplicaWriterDeps): ReplicaWriter {
  const recordEvent = ({ metadata }: ResourceSlice, reason: SliceEvent, message: string): void => {
    const { group, version, kind } = RESOURCE_SLICES;
    const regarding = { apiVersion: `${group}/${version}`, kind, metadata };
    tell({ regarding, type: reason === "SliceGranted" ? "Normal" : "Warning", reason, message });
  };

  const annotate = (
    { metadata }: ResourceSlice,
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<ResourceSlice> => {
    const { name, namespace = "", resourceVersion } = metadata;
    const body = { metadata: { annotations, ...(resourceVersion === undefined ? {} : { resourceVersion }) } };
    return client.patch(
      RESOURCE_SLICES,
      { name: { name, namespace }, patch: { kind: "merge", body } },
      { fieldManager: MANAGER },
    );
  };

  const perform: ReplicaWriter["perform"] = async (action, slice) => {
    switch (action.kind) {
      case "write-status": {
        const written = await client.update(
          RESOURCE_SLICES,
          { ...slice, status: action.status },
          { subresource: "status", fieldManager: MANAGER },
        );
        recordEvent(slice, action.event, action.message);
        return written;
      }
      case "cordon": {
        const annotations = { [LIQO_ANNOTATION.cordon]: "true", [CORDONED_ANNOTATION]: action.why };
        const written = await annotate(slice, annotations);
        recordEvent(slice, action.event, action.message);
        return written;
      }
      case "uncordon":
        return annotate(slice, { [LIQO_ANNOTATION.cordon]: null, [CORDONED_ANNOTATION]: null });
      case "drop-quota":
        await client.delete(QUOTAS, quotaName(slice)).catch(ignoreNotFound);
        return slice;
    }
  };

  return { perform, recordEvent };
}

/** The Quota's name: the user of the consumer that the replica claims. */
export function quotaName({ metadata, spec }: ResourceSlice): ObjectName {
  const { name, namespace = "" } = metadata;
  return { name: creatorUserOf(name, spec.consumerClusterID ?? ""), namespace };
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof Fault) || error.code !== "not-found") throw error;
}
