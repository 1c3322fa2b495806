import { Fault, type ObjectMeta } from "@resource-broker/base";
import { isClusterId } from "@resource-broker/domain";
import { CONFIG_MAPS, type ConfigMap, type KubeClient, type Resource } from "@resource-broker/kube";
import type { DataPlaneIdentity } from "../../data-plane/data-plane.ts";

const APP_NAME_LABEL = "app.kubernetes.io/name";
const APP_VERSION_LABEL = "app.kubernetes.io/version";
const CLUSTER_ID_KEY = "CLUSTER_ID";
const CONTROLLER = "controller-manager";
const MAX_VERSION_LENGTH = 63;
/** The tag after the last colon. A registry port is followed by a slash, and a digest is preceded by `@`. */
const IMAGE_TAG = /^[^@]*:([^/@:]+)$/;

const CLUSTER_ID_SELECTOR = `${APP_NAME_LABEL}=clusterid-configmap`;
const CONTROLLER_SELECTOR = `${APP_NAME_LABEL}=${CONTROLLER}`;

/** The fields of a Deployment that hold its version. */
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

/** Objects in Liqo's namespace, found by Liqo's own labels. */
export interface LiqoInstallation {
  readonly configMaps: readonly ConfigMap[];
  readonly deployments: readonly Deployment[];
}

export type IdentityReading =
  | { readonly kind: "absent" }
  | { readonly kind: "found"; readonly identity: DataPlaneIdentity }
  | { readonly kind: "unclear"; readonly problem: string };

/** The cluster ID in Liqo's ConfigMap; the ID at the broker is another one. */
export function readIdentity({ configMaps, deployments }: LiqoInstallation): IdentityReading {
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

/** The image tag, as liqoctl reads it. An image with a digest has none; then the chart's label is used. */
function versionOf([deployment]: readonly Deployment[]): string {
  const tag = IMAGE_TAG.exec(imageOf(deployment))?.[1];
  const version = tag ?? deployment?.metadata.labels?.[APP_VERSION_LABEL] ?? "";
  return version === "" ? "unknown" : version.slice(0, MAX_VERSION_LENGTH);
}

function imageOf(deployment: Deployment | undefined): string {
  const { containers = [] } = deployment?.spec?.template?.spec ?? {};
  return containers.find(({ name }) => name === CONTROLLER)?.image ?? "";
}

/** Servers filter by this selector; the check also covers a fake that does not. */
function isLabelled({ metadata }: { readonly metadata: ObjectMeta }, selector: string): boolean {
  return `${APP_NAME_LABEL}=${metadata.labels?.[APP_NAME_LABEL] ?? ""}` === selector;
}

function unclear(problem: string): IdentityReading {
  return { kind: "unclear", problem };
}

/** The identity of a cluster in Liqo; undefined: Liqo is not installed. */
export async function identityAt(
  client: Pick<KubeClient, "list">,
  namespace: string,
): Promise<DataPlaneIdentity | undefined> {
  const reading = readIdentity(await listInstallation(client, { namespace }));
  return reading.kind === "found" ? reading.identity : undefined;
}

interface InstallationQuery {
  /** Where Liqo is installed. */
  readonly namespace: string;
  readonly signal?: AbortSignal;
}

/** The objects that identify Liqo. An account without access to Deployments gets no version. */
export async function listInstallation(
  client: Pick<KubeClient, "list">,
  query: InstallationQuery,
): Promise<LiqoInstallation> {
  const listed = async <T extends Deployment | ConfigMap>(
    resource: Resource<T>,
    labelSelector: string,
  ): Promise<T[]> => {
    const found: T[] = [];
    await client.list(resource, { ...query, labelSelector }, (object) => {
      if (isLabelled(object, labelSelector)) found.push(object);
    });
    return found;
  };
  const configMaps = await listed(CONFIG_MAPS, CLUSTER_ID_SELECTOR);
  if (configMaps.length === 0) return { configMaps, deployments: [] };
  const deployments = await listed(DEPLOYMENTS, CONTROLLER_SELECTOR).catch(emptyIfForbidden);
  return { configMaps, deployments };
}

function emptyIfForbidden(error: unknown): [] {
  if (error instanceof Fault && (error.code === "forbidden" || error.code === "not-found")) return [];
  throw error;
}
