import type { ClusterApi } from "../api/cluster-api.ts";
import { conflict } from "../api/statuses.ts";
import { objectAt, textAt } from "../core/look.ts";
import { PODS, PODS_TO_BIND } from "../core/pods/pods.ts";
import type { JsonObject } from "../json.ts";

export interface Binding {
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string;
  readonly dryRun: boolean;
  readonly by: string;
}

/** Gives a pod its node, once. */
export function bindPod(api: ClusterApi, { namespace, name, nodeName, dryRun, by }: Binding): JsonObject {
  const pod = api.get({ definition: PODS, namespace, name });
  const taken = textAt(pod, "spec.nodeName");
  if (taken !== "") throw conflict(PODS, name, `pod ${name} is already assigned to node "${taken}"`);
  const bound = { ...pod, spec: { ...objectAt(pod, "spec"), nodeName } };
  const target = { definition: PODS_TO_BIND, namespace, name };
  return api.update(target, bound, { dryRun, fieldManager: by, fieldValidation: "Ignore" }).object;
}
