import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Guardian,
  nodeObject,
  type RealControlPlane,
  startControlPlane,
  startGuardian,
  type TestCertificates,
  testCertificates,
} from "@resource-broker/testkit";
import { buildImages, type Images } from "./images.ts";
import type { KubeObject, PodSpec, Service } from "./manifest-types.ts";
import type { Manifests } from "./manifests.ts";
import { type Pod, type PodOptions, type Reachable, startPod } from "./pod.ts";

/** For the chart of the broker: what kustomize installs has a namespace of its own. */
export const HELM_NAMESPACE = "market";
export const AGENT_NAMESPACE = "rear-agent";
/** As the install guide has them made. */
const NAMESPACES = [HELM_NAMESPACE, AGENT_NAMESPACE].map((name) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
}));

/** Two clusters with nothing in them but nodes: rome, which has the broker as well and is short, and paris. */
export interface Site {
  readonly rome: RealControlPlane;
  readonly paris: RealControlPlane;
  readonly authority: TestCertificates;
  readonly images: Images;
  readonly directory: string;
  readonly guardian: Guardian;
  readonly dispose: () => Promise<void>;
}

export async function startSite(): Promise<Site> {
  const directory = await mkdtemp(join(tmpdir(), "installed-"));
  const guardian = startGuardian(directory);
  const planes = await Promise.allSettled([
    startControlPlane({ name: "rome" }),
    startControlPlane({ name: "paris" }),
  ]);
  const started = planes.flatMap((plane) => (plane.status === "fulfilled" ? [plane.value] : []));
  const dispose = async (): Promise<void> => {
    await Promise.all(started.map((plane) => plane.dispose()));
    await guardian.finish();
  };
  try {
    const [rome, paris] = [await settled(planes[0]), await settled(planes[1])];
    const [images, authority] = await Promise.all([
      buildImages(join(directory, "out")),
      testCertificates(),
      rome.seed([...NAMESPACES, nodeObject("rome-1", { cpu: "4", memory: "16Gi" })]),
      paris.seed([...NAMESPACES, nodeObject("paris-1", { cpu: "16", memory: "64Gi" })]),
    ]);
    return { rome, paris, authority, images, directory, guardian, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

export interface PodParts extends Pick<PodOptions, "name" | "plane" | "manifests" | "secrets" | "reach"> {
  readonly program: "broker" | "agent";
}

/** Writes the manifests into a cluster, and starts the pod that they describe. */
export async function install(site: Site, { program, ...parts }: PodParts): Promise<Pod> {
  const { authority, guardian, images } = site;
  await parts.plane.seed(parts.manifests.objects);
  return startPod({
    ...parts,
    image: await images.image(program),
    built: images.built,
    authority,
    directory: join(site.directory, "pods"),
    guardian,
  });
}

/** The pod's object, as the StatefulSet's controller would make it: nobody runs that here. */
export function podObject({ workload }: Manifests, name: string): KubeObject & { readonly spec: PodSpec } {
  const { metadata, spec } = workload.spec.template;
  const { namespace = "default" } = workload.metadata;
  return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name, namespace }, spec };
}

/** How other pods find this one: by the names of the Services that select it. */
export function servedBy({ plan, address }: Pod, { services }: Manifests): Reachable[] {
  const own = services.filter(({ spec }) =>
    Object.entries(spec.selector).every(([name, value]) => plan.labels[name] === value),
  );
  return own.flatMap((service) =>
    service.spec.ports.map(({ port, targetPort = port }) => {
      const target = typeof targetPort === "number" ? targetPort : plan.ports.get(targetPort);
      if (target === undefined) throw new Error(`${service.metadata.name}: no port is called ${targetPort}`);
      return { names: namesOf(service), port, to: { host: address, port: target } };
    }),
  );
}

function namesOf({ metadata }: Service): string[] {
  const short = `${metadata.name}.${metadata.namespace}`;
  return [short, `${short}.svc`, `${short}.svc.cluster.local`];
}

async function settled<T>(result: PromiseSettledResult<T>): Promise<T> {
  if (result.status === "fulfilled") return result.value;
  throw result.reason;
}
