import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LiqoProgram } from "../../../../tools/liqo-assets/recipe.ts";
import type { RealControlPlane } from "../control-plane/control-plane.ts";
import { type Child, childOf } from "../process/child.ts";
import { freePorts } from "../process/free-ports.ts";
import type { Guardian } from "../process/guardian.ts";
import type { LiqoAssets } from "./assets.ts";
import { podCommand, portsFor, programOf, type RunnablePod } from "./pod-command.ts";

const POLL_MS = 300;
const END_WITHIN_MS = 10_000;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 15_000;
/** One that ran for so long is started again at once. */
const STEADY_AFTER_MS = 60_000;
/** Where Liqo's webhook keeps its certificate: it cannot be told another place. */
const WEBHOOK_FOLDER = "/tmp/k8s-webhook-server";

/** A program of Liqo that stands for a pod. */
export interface PodProcess {
  /** `<namespace>/<name>`. */
  readonly pod: string;
  readonly program: string;
  /** Undefined while it is down. */
  readonly pid: number | undefined;
  readonly logLines: () => Promise<string[]>;
}

export interface ProcessKubelet {
  readonly processes: () => readonly PodProcess[];
  /** What went wrong in looking for pods and starting them, newest last. */
  readonly errors: readonly string[];
  readonly stop: () => Promise<void>;
}

export interface ProcessKubeletOptions {
  readonly plane: RealControlPlane;
  readonly pathOf: LiqoAssets["pathOf"];
  /** For logs and kubeconfigs. */
  readonly directory: string;
  readonly guardian: Guardian;
}

interface Running extends PodProcess {
  readonly child: Child;
  readonly restart: () => Promise<void>;
}

/**
 * A kubelet for Liqo's own programs alone: kwok says that a pod runs, and this runs its program as a process with the
 * token of the pod's ServiceAccount. An API server that is away changes nothing of what runs.
 */
export function startProcessKubelet(options: ProcessKubeletOptions): ProcessKubelet {
  const { plane } = options;
  const running = new Map<string, Running>();
  const ended: PodProcess[] = [];
  const endings = new Set<Promise<void>>();
  const errors: string[] = [];
  const stopping = new AbortController();

  const end = (each: Running): void => {
    ended.push(each);
    const ending = endOf(each.child).finally(() => endings.delete(ending));
    endings.add(ending);
  };

  const poll = async (): Promise<void> => {
    const { status, body } = await plane.request("GET", "/api/v1/pods?resourceVersion=0");
    if (status !== 200) throw new Error(`the pods cannot be listed: ${JSON.stringify(body)}`);
    const { items } = body as { items: RunnablePod[] };
    const pods = items.flatMap((pod) => {
      const program = programOf(pod);
      return program === undefined ? [] : [{ pod, program }];
    });
    const wanted = new Set(pods.map(({ pod }) => pod.metadata.uid));
    for (const [uid, each] of running) {
      if (wanted.has(uid)) continue;
      running.delete(uid);
      end(each);
    }
    for (const { pod, program } of pods) {
      const { uid } = pod.metadata;
      if (!running.has(uid)) running.set(uid, await prepared(pod, program, options));
      await running.get(uid)?.restart();
    }
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await poll().catch((error: unknown) => void errors.push(String(error)));
      await sleep(POLL_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    for (const each of running.values()) end(each);
    await Promise.all(endings);
  };
  const over = loop();

  return {
    processes: () => [...ended, ...running.values()],
    errors,
    stop: async () => {
      stopping.abort();
      await over;
    },
  };
}

async function prepared(
  pod: RunnablePod,
  program: LiqoProgram,
  options: ProcessKubeletOptions,
): Promise<Running> {
  const { plane, pathOf, directory, guardian } = options;
  const { name, namespace } = pod.metadata;
  const folder = join(directory, "pods", name);
  await mkdir(folder, { recursive: true });
  const kubeconfigFile = join(folder, "kubeconfig");
  const account = { namespace, name: pod.spec.serviceAccountName ?? "default" };
  await writeFile(kubeconfigFile, await plane.kubeconfigFor(account), { mode: 0o600 });
  const values = await configMapValues(pod, plane);
  const { args, env } = podCommand(pod, {
    kubeconfigFile,
    ports: await freePorts(portsFor(program)),
    configMapValue: (configMap, key) => values.get(`${configMap}/${key}`),
  });
  const settings = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  // A container has its own /tmp, whatever is set here: the webhook looks there for what it wrote to WEBHOOK_FOLDER.
  const own = ["env", ...settings, "TMPDIR=/tmp", pathOf(program), ...args];
  if (program === "webhook") await mkdir(WEBHOOK_FOLDER, { recursive: true });
  const command = program === "webhook" ? withPrivate(WEBHOOK_FOLDER, own) : own;
  const child = childOf({ command, cwd: folder, logFile: join(folder, "log"), guardian });
  return {
    pod: `${namespace}/${name}`,
    program,
    get pid() {
      return child.pid();
    },
    logLines: child.logLines,
    child,
    restart: restarter(child),
  };
}

/** Webhooks of two clusters must not find each other's certificate. */
function withPrivate(folder: string, command: readonly string[]): string[] {
  const script = `mount -t tmpfs tmpfs ${folder} && exec "$@"`;
  return ["unshare", "--mount", "sh", "-c", script, "sh", ...command];
}

async function configMapValues(
  pod: RunnablePod,
  plane: RealControlPlane,
): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  for (const { valueFrom } of pod.spec.containers[0]?.env ?? []) {
    const { name } = valueFrom?.configMapKeyRef ?? {};
    if (name === undefined) continue;
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/configmaps/${name}`;
    const { body } = await plane.request("GET", path);
    const { data = {} } = body as { readonly data?: Readonly<Record<string, string>> };
    for (const [key, value] of Object.entries(data)) values.set(`${name}/${key}`, value);
  }
  return values;
}

/** Starts it whenever it is down, each time later than the last. */
function restarter(child: Child): () => Promise<void> {
  let startedAt = Number.NEGATIVE_INFINITY;
  let backoffMs = 0;
  return async () => {
    const now = performance.now();
    if (child.pid() !== undefined || now < startedAt + backoffMs) return;
    const isSteady = now > startedAt + STEADY_AFTER_MS;
    backoffMs = isSteady ? FIRST_BACKOFF_MS : Math.min(2 * backoffMs, LONGEST_BACKOFF_MS);
    startedAt = now;
    await child.launch();
  };
}

async function endOf(child: Child): Promise<void> {
  const asked = child.kill("SIGTERM");
  await Promise.race([asked, sleep(END_WITHIN_MS, undefined, { ref: false })]);
  await child.kill("SIGKILL");
}
