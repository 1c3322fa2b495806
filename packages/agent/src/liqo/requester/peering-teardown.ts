import { type Clock, Fault } from "@resource-broker/base";
import type { KubeClient } from "@resource-broker/kube";
import { MANAGER } from "../../manifests/labels.ts";
import { IDENTITIES, RESOURCE_SLICES } from "../objects/authentication.ts";
import { FOREIGN_CLUSTERS, type ForeignCluster } from "../objects/core.ts";
import { LIQO_LABEL, RESERVATION_LABEL, tenantNamespaceOf } from "../objects/labels.ts";
import type { ClusterReads } from "./cluster-reads.ts";

/** Ends a peering in this cluster. Liqo can clean up only while the provider still accepts its identity. */
export interface PeeringTeardown {
  /** Deletes the control plane Identity of Liqo; its Secret and dependents are deleted with it. */
  readonly endIdentity: (liqoId: string) => Promise<void>;
  /** Deletes this agent's slices that were not replicated to the provider. */
  readonly endSlices: (liqoId: string) => Promise<void>;
  /** Triggers Liqo's reconcile until the condition holds; false: it did not hold in time. */
  readonly wait: (liqoId: string, until: WaitOptions) => Promise<boolean>;
}

export interface WaitOptions {
  readonly isDone: (foreignCluster: ForeignCluster | undefined) => boolean;
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

export interface PeeringTeardownDeps {
  readonly client: Pick<KubeClient, "list" | "patch" | "delete">;
  readonly reads: Pick<ClusterReads, "foreignCluster" | "slicesTo">;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
}

/** Liqo reconciles a ForeignCluster when a label changes, but does not watch what it waits for. */
const TOUCH_LABEL = "rear.fluidos.eu/look-again";
const MIN_POLL_MS = 500;
const MAX_POLL_MS = 5000;

export function peeringTeardown({ client, reads, clock }: PeeringTeardownDeps): PeeringTeardown {
  const triggerReconcile = async (name: string): Promise<void> => {
    for (const value of ["true", null]) {
      const patch = { kind: "merge", body: { metadata: { labels: { [TOUCH_LABEL]: value } } } } as const;
      await ignoreNotFound(
        client.patch(FOREIGN_CLUSTERS, { name: { name }, patch }, { fieldManager: MANAGER }),
      );
    }
  };
  const pause = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.after(ms, resolve);
      signal.addEventListener("abort", () => (cancel(), resolve()), { once: true });
    });

  return {
    endIdentity: async (liqoId) => {
      const namespace = tenantNamespaceOf(liqoId);
      const names: string[] = [];
      const labelSelector = `${LIQO_LABEL.remoteCluster}=${liqoId}`;
      await client.list(IDENTITIES, { namespace, labelSelector }, ({ metadata, spec }) => {
        if (spec.type === "ControlPlane") names.push(metadata.name);
      });
      for (const name of names) await ignoreNotFound(client.delete(IDENTITIES, { name, namespace }));
    },
    endSlices: async (liqoId) => {
      for (const { metadata, status } of await reads.slicesTo(liqoId)) {
        const isOurs = metadata.labels?.[RESERVATION_LABEL] !== undefined;
        const { name, namespace = "" } = metadata;
        const isSeen = (status?.conditions ?? []).length > 0;
        if (isOurs && !isSeen) await ignoreNotFound(client.delete(RESOURCE_SLICES, { name, namespace }));
      }
    },
    wait: async (liqoId, { isDone, withinMs, signal }) => {
      const beganAt = clock.monotonicMs();
      for (;;) {
        const seen = await reads.foreignCluster(liqoId);
        if (isDone(seen)) return true;
        const waitedMs = clock.monotonicMs() - beganAt;
        if (signal.aborted || waitedMs >= withinMs) return false;
        if (seen !== undefined) await triggerReconcile(seen.metadata.name);
        await pause(Math.min(MIN_POLL_MS + waitedMs / 4, MAX_POLL_MS), signal);
      }
    },
  };
}

export async function ignoreNotFound(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "not-found") throw error;
  }
}
