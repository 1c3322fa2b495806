import type { Instruction } from "../../../../images/read-dockerfile.ts";
import type { Container, EnvEntry, PodSpec, Probe, Workload } from "./manifest-types.ts";
import { configMapData, type Mount, mountsOf, type VolumeSources } from "./pod-volumes.ts";

/** One container of one pod, as a kubelet would start it. */
export interface PodPlan {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
  /** What runs, from its first word. */
  readonly command: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: number;
  readonly group: number;
  /** Owns what is mounted. */
  readonly fsGroup: number | undefined;
  readonly isRootReadOnly: boolean;
  readonly mounts: readonly Mount[];
  readonly ports: ReadonlyMap<string, number>;
  readonly readiness: ProbePlan;
  readonly liveness: ProbePlan;
  readonly memoryLimit: string | undefined;
  readonly hasToken: boolean;
}

export interface ProbePlan {
  readonly path: string;
  readonly port: number;
}

export interface PodSources extends VolumeSources {
  readonly workload: Workload;
  /** The last stage of the image's Dockerfile. */
  readonly image: readonly Instruction[];
  readonly podName: string;
  readonly podIp: string;
}

/** Kubernetes replaces it by the variable of that name. */
const REFERENCE = /\$\((\w+)\)/g;

export function podPlan(sources: PodSources): PodPlan {
  const { workload, image, podName } = sources;
  const { metadata, spec: pod } = workload.spec.template;
  const container = onlyContainer(pod);
  const { ports: named = [], command = entryOf(image), args = [] } = container;
  const env = environmentOf(container, sources);
  const ports = new Map(named.map(({ name, containerPort }) => [name, containerPort]));
  return {
    name: podName,
    namespace: workload.metadata.namespace ?? "default",
    labels: metadata.labels ?? {},
    serviceAccount: pod.serviceAccountName,
    command: [...command, ...args].map((word) =>
      word.replaceAll(REFERENCE, (reference, name: string) => env[name] ?? reference),
    ),
    folder: lastValue(image, "WORKDIR"),
    env,
    ...identity(pod, container),
    isRootReadOnly: container.securityContext?.readOnlyRootFilesystem === true,
    mounts: mountsOf(container, sources),
    ports,
    readiness: probePlan(container.readinessProbe, ports),
    liveness: probePlan(container.livenessProbe, ports),
    memoryLimit: container.resources.limits?.["memory"],
    hasToken: pod.automountServiceAccountToken !== false,
  };
}

function onlyContainer({ containers }: PodSpec): Container {
  const [container, ...others] = containers;
  if (container === undefined || others.length > 0) throw new Error("the pod has not one container");
  return container;
}

function identity(pod: PodSpec, container: Container): Pick<PodPlan, "user" | "group" | "fsGroup"> {
  const user = container.securityContext?.runAsUser ?? pod.securityContext?.runAsUser;
  const group = container.securityContext?.runAsGroup ?? pod.securityContext?.runAsGroup;
  if (user === undefined || group === undefined)
    throw new Error(`${container.name} does not say as whom it runs (runAsUser, runAsGroup)`);
  return { user, group, fsGroup: pod.securityContext?.fsGroup };
}

function entryOf(image: readonly Instruction[]): string[] {
  return JSON.parse(lastValue(image, "ENTRYPOINT")) as string[];
}

function lastValue(image: readonly Instruction[], keyword: string): string {
  const found = image.findLast((each) => each.keyword === keyword);
  if (found === undefined) throw new Error(`the image has no ${keyword}`);
  return found.value;
}

/** What is listed by name wins over what a ConfigMap brings. */
function environmentOf({ env = [], envFrom = [] }: Container, sources: PodSources): Record<string, string> {
  const brought = envFrom.map(({ configMapRef }) => configMapData(configMapRef?.name, sources.configMaps));
  const listed = env.map((entry) => [entry.name, valueOf(entry, sources)] as const);
  return Object.assign({}, ...brought, Object.fromEntries(listed)) as Record<string, string>;
}

function valueOf({ name, value, valueFrom }: EnvEntry, sources: PodSources): string {
  if (value !== undefined) return value;
  const fields: Readonly<Record<string, string | undefined>> = {
    "metadata.name": sources.podName,
    "metadata.namespace": sources.workload.metadata.namespace,
    "status.podIP": sources.podIp,
  };
  const found = fields[valueFrom?.fieldRef?.fieldPath ?? ""];
  if (found === undefined) throw new Error(`${name} comes from where this test does not look`);
  return found;
}

function probePlan({ httpGet }: Probe, ports: ReadonlyMap<string, number>): ProbePlan {
  const port = typeof httpGet.port === "number" ? httpGet.port : ports.get(httpGet.port);
  if (port === undefined) throw new Error(`no port is called ${httpGet.port}`);
  return { path: httpGet.path, port };
}
