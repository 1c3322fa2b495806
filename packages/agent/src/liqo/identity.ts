import { type Clock, type Fault, type Log, type ObjectMeta, toFault } from "@resource-broker/base";
import { isClusterId } from "@resource-broker/domain";
import {
  CONFIG_MAPS,
  type ConfigMap,
  failureReporter,
  type KubeClient,
  loop,
  type Resource,
} from "@resource-broker/kube";
import type { DataPlaneIdentity, ProviderDataPlane } from "../data-plane/data-plane.ts";
import { ignoring } from "../faults.ts";

const APP_NAME_LABEL = "app.kubernetes.io/name";
const APP_VERSION_LABEL = "app.kubernetes.io/version";
const CLUSTER_ID_KEY = "CLUSTER_ID";
const CONTROLLER = "controller-manager";
const MAX_VERSION_LENGTH = 63;
/** The tag after the last colon. A registry port is followed by a slash, and a digest is preceded by `@`. */
const IMAGE_TAG = /^[^@]*:([^/@:]+)$/;

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
interface LiqoInstallation {
  readonly configMaps: readonly ConfigMap[];
  readonly deployments: readonly Deployment[];
}

type IdentityReading =
  | { readonly kind: "absent" }
  | { readonly kind: "found"; readonly identity: DataPlaneIdentity }
  | { readonly kind: "unclear"; readonly problem: string };

/** The cluster ID in Liqo's ConfigMap; the ID at the broker is another one. */
export function readIdentity({ configMaps, deployments }: LiqoInstallation): IdentityReading {
  const ids = new Set(configMaps.map(({ data }) => data?.[CLUSTER_ID_KEY] ?? ""));
  const [clusterId] = ids;
  if (clusterId === undefined) return { kind: "absent" };
  if (ids.size > 1) {
    const problem = `${ids.size} ConfigMaps name different cluster IDs: leave the one that Liqo uses`;
    return { kind: "unclear", problem };
  }
  if (isClusterId(clusterId)) {
    return { kind: "found", identity: { clusterId, version: versionOf(deployments) } };
  }
  const problem = "its ConfigMap names no cluster ID: lower-case letters, digits and dashes, at most 63";
  return { kind: "unclear", problem };
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

/** The identity of a cluster in Liqo; undefined: Liqo is not installed. */
export async function identityAt(
  client: Pick<KubeClient, "list">,
  namespace: string,
): Promise<DataPlaneIdentity | undefined> {
  const reading = readIdentity(await listInstallation(client, { namespace }));
  return reading.kind === "found" ? reading.identity : undefined;
}

/** The objects that identify Liqo. An account without access to Deployments gets no version. */
async function listInstallation(
  client: Pick<KubeClient, "list">,
  query: { readonly namespace: string; readonly signal?: AbortSignal },
): Promise<LiqoInstallation> {
  const listed = async <T extends Deployment | ConfigMap>(resource: Resource<T>, app: string) => {
    const found: T[] = [];
    await client.list(resource, { ...query, labelSelector: `${APP_NAME_LABEL}=${app}` }, (object) => {
      // Servers filter by the selector; this also covers a fake that does not.
      if (object.metadata.labels?.[APP_NAME_LABEL] === app) found.push(object);
    });
    return found;
  };
  const configMaps = await listed(CONFIG_MAPS, "clusterid-configmap");
  if (configMaps.length === 0) return { configMaps, deployments: [] };
  const deployments = await listed(DEPLOYMENTS, CONTROLLER).catch(ignoring("forbidden", "not-found"));
  return { configMaps, deployments: deployments ?? [] };
}

/** People install and upgrade Liqo: polling once a minute is enough, and cheaper than two watches. */
const POLL_MS = 60_000;
/** Missing rights are rarely granted within moments. */
const FORBIDDEN_PAUSE_MS = 10 * 60_000;
/** An API server that does not answer must not keep a cluster from being advertised. */
const START_TIMEOUT_MS = 5000;
const REMEDY = "where it is installed, apply deploy/rbac/agent-liqo.yaml";

interface IdentityDeps {
  readonly client: Pick<KubeClient, "list">;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the identity appeared, changed or disappeared. */
  readonly onChange: () => void;
}

/** Follows the identity of the Liqo that is installed in this namespace. It starts after the first read, or after a timeout. */
export function liqoIdentity(
  namespace: string,
  { client, clock, log, onChange }: IdentityDeps,
): ProviderDataPlane {
  const reporter = failureReporter({ log, clock, fields: { namespace }, what: "looking for Liqo" });
  let known: DataPlaneIdentity | undefined;
  let lastReported = "";
  let isForbidden = false;
  let onFirstRead = (): void => undefined;

  const update = (reading: IdentityReading): void => {
    const text = JSON.stringify(reading);
    if (text === lastReported) return;
    lastReported = text;
    known = reading.kind === "found" ? reading.identity : undefined;
    const what = known === undefined ? "Liqo is not installed" : "Liqo is installed";
    if (reading.kind === "unclear") log.warn({ namespace }, `Liqo is not used: ${reading.problem}`);
    else log.info({ namespace, liqo: known }, what);
    onChange();
  };
  /** The last known identity stays: a failed read says nothing about Liqo. */
  const pauseAfter = (fault: Fault): number => {
    if (fault.code !== "forbidden") {
      reporter.failed(fault);
      return POLL_MS;
    }
    if (!isForbidden) log.info({ namespace }, `Liqo is not detected: ${fault.message}; ${REMEDY}`);
    isForbidden = true;
    return FORBIDDEN_PAUSE_MS;
  };
  const readOnce = async (signal: AbortSignal): Promise<number> => {
    try {
      update(readIdentity(await listInstallation(client, { namespace, signal })));
      reporter.recovered();
      isForbidden = false;
      return POLL_MS;
    } catch (error) {
      return signal.aborted ? 0 : pauseAfter(toFault(error));
    }
  };
  const reads = loop({
    clock,
    round: async (signal) => {
      const pauseMs = await readOnce(signal);
      onFirstRead();
      return pauseMs;
    },
  });

  return {
    start: () =>
      new Promise((resolve) => {
        const cancel = clock.after(START_TIMEOUT_MS, resolve);
        onFirstRead = () => {
          cancel();
          resolve();
        };
        reads.start();
      }),
    stop: reads.stop,
    identity: () => known,
  };
}
