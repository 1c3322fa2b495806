import type { ObjectMeta } from "@resource-broker/contract";
import { isClusterId, type LiqoIdentity } from "@resource-broker/domain";
import type { ConfigMap, Resource } from "@resource-broker/kube";

const APP_NAME_LABEL = "app.kubernetes.io/name";
const APP_VERSION_LABEL = "app.kubernetes.io/version";
const CLUSTER_ID_KEY = "CLUSTER_ID";
const CONTROLLER = "controller-manager";
const MAX_VERSION_LENGTH = 63;
/** The tag behind the last colon; a port of the registry has a slash behind it, and a digest an `@` before it. */
const IMAGE_TAG = /^[^@]*:([^/@:]+)$/;

export const CLUSTER_ID_SELECTOR = `${APP_NAME_LABEL}=clusterid-configmap`;
export const CONTROLLER_SELECTOR = `${APP_NAME_LABEL}=${CONTROLLER}`;

/** As much of a Deployment as tells its version. */
export interface Deployment {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly { readonly name?: string; readonly image?: string }[];
      };
    };
  };
}

export const DEPLOYMENTS: Resource<Deployment> = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  isNamespaced: true,
};

/** What lies in Liqo's namespace, under the labels that Liqo itself goes by. */
export interface LiqoTraces {
  readonly configMaps: readonly ConfigMap[];
  readonly deployments: readonly Deployment[];
}

export type IdentityReading =
  | { readonly kind: "absent" }
  | { readonly kind: "found"; readonly identity: LiqoIdentity }
  | { readonly kind: "unclear"; readonly problem: string };

/** Who this cluster is to Liqo: what its ConfigMap says, never what the broker calls it. */
export function readIdentity({ configMaps, deployments }: LiqoTraces): IdentityReading {
  const ids = new Set(configMaps.map(({ data }) => data?.[CLUSTER_ID_KEY] ?? ""));
  const [clusterId] = ids;
  if (clusterId === undefined) return { kind: "absent" };
  if (ids.size > 1) {
    return unclear(`${ids.size} ConfigMaps name different cluster IDs: leave the one that Liqo uses`);
  }
  if (isClusterId(clusterId)) {
    return { kind: "found", identity: { clusterId, version: versionOf(deployments) } };
  }
  return unclear("its ConfigMap names no cluster ID: lower-case letters, digits and dashes, at most 63");
}

/** The image's tag, as liqoctl reads it; an image named by its digest has none, and the chart's label says the same. */
function versionOf([deployment]: readonly Deployment[]): string {
  const tag = IMAGE_TAG.exec(imageOf(deployment))?.[1];
  const version = tag ?? deployment?.metadata.labels?.[APP_VERSION_LABEL] ?? "";
  return version === "" ? "unknown" : version.slice(0, MAX_VERSION_LENGTH);
}

function imageOf(deployment: Deployment | undefined): string {
  const { containers = [] } = deployment?.spec?.template?.spec ?? {};
  return containers.find(({ name }) => name === CONTROLLER)?.image ?? "";
}

/** Servers select by these themselves; what does not carry the label is not asked what it says. */
export function isLabelled({ metadata }: { readonly metadata: ObjectMeta }, selector: string): boolean {
  return `${APP_NAME_LABEL}=${metadata.labels?.[APP_NAME_LABEL] ?? ""}` === selector;
}

function unclear(problem: string): IdentityReading {
  return { kind: "unclear", problem };
}
