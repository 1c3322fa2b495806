import type { ClusterApi, Watch } from "../api/cluster-api.ts";
import { CONFIG_MAPS } from "../core/config-maps.ts";
import { nameOf, valueAt } from "../core/look.ts";
import { NAMESPACES } from "../core/namespaces.ts";
import { SERVICE_ACCOUNTS } from "../core/small-kinds.ts";
import type { JsonObject } from "../json.ts";
import { attempt } from "./attempt.ts";

const WRITE = { dryRun: false, fieldManager: "kube-controller-manager", fieldValidation: "Ignore" } as const;
const FIRST_NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Every namespace has a service account and the cluster's certificate, as in real clusters. */
export function populateNamespaces(api: ClusterApi, ca: string): Watch {
  for (const name of FIRST_NAMESPACES) api.create({ definition: NAMESPACES }, { metadata: { name } }, WRITE);
  return api.watch({ definition: NAMESPACES }, { resourceVersion: "", sendInitialEvents: true }, (change) => {
    if (change.type === "ADDED") populate(api, change.object, ca);
  });
}

function populate(api: ClusterApi, namespace: JsonObject, ca: string): void {
  if (valueAt(namespace, "metadata.deletionTimestamp") !== undefined) return;
  const name = nameOf(namespace);
  const account = { metadata: { name: "default" } };
  const certificate = { metadata: { name: "kube-root-ca.crt" }, data: { "ca.crt": ca } };
  attempt(undefined, () => {
    api.create({ definition: SERVICE_ACCOUNTS, namespace: name }, account, WRITE);
  });
  attempt(undefined, () => {
    api.create({ definition: CONFIG_MAPS, namespace: name }, certificate, WRITE);
  });
}
