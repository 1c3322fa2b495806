import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Credentials } from "../certificates/test-certificates.ts";
import { freePorts } from "../process/free-ports.ts";
import { type Guardian, startGuardian } from "../process/guardian.ts";
import { type ProgramOptions, programOf } from "../process/program.ts";
import { outputOf, type RunOptions, runProgram } from "../process/run-program.ts";
import { type FaultyProxy, startFaultyProxy } from "../proxy/faulty-proxy.ts";
import { accessThrough, requestServer } from "./access.ts";
import { type ControlPlaneAssets, controlPlaneAssets } from "./assets.ts";
import {
  apiServerFlags,
  type ControlPlaneFiles,
  controllerManagerFlags,
  etcdFlags,
} from "./command-lines.ts";
import type { RealControlPlane, ServerAccess } from "./control-plane.ts";
import { writeCredentials } from "./credentials.ts";

/** What decides the order in which objects can be written. */
interface SeedObject {
  readonly kind?: unknown;
  readonly metadata?: { readonly name?: string };
  readonly status?: unknown;
}

const APPLY = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
const TIMEOUT = "--timeout=60s";

/** Applies all of them with their status: definitions and namespaces first, and what is inside once these can take it. */
async function seedObjects(kubectl: RealControlPlane["kubectl"], objects: readonly object[]): Promise<void> {
  const must = async (args: readonly string[], stdin?: string): Promise<void> => {
    outputOf(["kubectl", ...args], await kubectl(args, stdin));
  };
  const apply = async (items: readonly SeedObject[], ...flags: readonly string[]): Promise<void> => {
    if (items.length > 0) await must([...APPLY, ...flags], listOf(items));
  };
  const ofKind = (kind: string): SeedObject[] => objects.filter((object: SeedObject) => object.kind === kind);

  const definitions = ofKind("CustomResourceDefinition");
  const namespaces = ofKind("Namespace");
  const outer = [...definitions, ...namespaces];
  const inner = objects.filter((object: SeedObject) => !outer.includes(object));
  await apply(outer);
  if (definitions.length > 0) {
    const names = definitions.map(({ metadata }) => `crd/${metadata?.name}`);
    await must(["wait", "--for=condition=Established", TIMEOUT, ...names]);
  }
  for (const { metadata } of namespaces) {
    // Pods are refused until their namespace has its service account.
    await must(["wait", "--for=create", TIMEOUT, "-n", metadata?.name ?? "", "serviceaccount/default"]);
  }
  await apply(inner);
  await apply(
    inner.filter(({ status }: SeedObject) => status !== undefined),
    "--subresource=status",
  );
}

function listOf(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}

export interface ControlPlaneOptions {
  /** Names the context of its kubeconfigs. Absent: `real`. */
  readonly name?: string;
  /**
   * Where clients find its API server. Absent: 127.0.0.1. Another, which must be this machine's, makes it a control plane
   * for nodes: all controllers run, and webhooks are called at the addresses of their pods.
   */
  readonly address?: string;
}

/** Between the look for a free port and its use somebody else may take it. */
const TRIES = 3;
const PORT_IS_TAKEN = /address already in use/;

/** Starts a real control plane on free ports of the loopback. Resolves when its namespaces can take pods. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<RealControlPlane> {
  const assets = controlPlaneAssets();
  if (!assets.isThere) throw new Error(assets.why);
  for (let left = TRIES; ; left -= 1) {
    const plane = await prepare(options, assets.pathOf);
    try {
      for (const program of [plane.etcd, plane.apiServer, plane.controllerManager]) await program.restart();
      return plane;
    } catch (error) {
      await plane.dispose();
      if (left === 1 || !PORT_IS_TAKEN.test(String(error))) throw error;
    }
  }
}

/** Where kubectl and its relatives run: what they cache goes to the folder. */
export function kubectlHome(directory: string, kubeconfigFile: string): RunOptions {
  const env = { PATH: process.env["PATH"], HOME: directory, KUBECONFIG: kubeconfigFile };
  return { cwd: directory, env };
}

type PathOf = Extract<ControlPlaneAssets, { isThere: true }>["pathOf"];

async function prepare(
  { name = "real", address = "127.0.0.1" }: ControlPlaneOptions,
  pathOf: PathOf,
): Promise<RealControlPlane> {
  const directory = await mkdtemp(join(tmpdir(), `control-plane-${name}-`));
  const guardian = startGuardian(directory);
  const { files, admin } = await writeCredentials(directory, address);
  const [api = 0, etcd = 0, etcdPeer = 0] = await freePorts(3);
  const access = accessThrough({ name, admin, address, port: api, serverPort: api });
  const kubeconfigFile = join(directory, "admin.kubeconfig");
  await writeFile(kubeconfigFile, access.kubeconfig, { mode: 0o600 });
  const places = { directory, address, ports: { api, etcd, etcdPeer }, files, kubeconfigFile };
  const programs = programsOf({ places, admin, pathOf, guardian });
  const proxies: FaultyProxy[] = [];

  const proxied = async (): Promise<ServerAccess & { readonly proxy: FaultyProxy }> => {
    const proxy = await startFaultyProxy({ port: api });
    proxies.push(proxy);
    return {
      ...accessThrough({ name, admin, address: "127.0.0.1", port: proxy.port, serverPort: api }),
      proxy,
    };
  };

  const kubectl: RealControlPlane["kubectl"] = (args, stdin = "") =>
    runProgram([pathOf("kubectl"), ...args], { stdin, ...kubectlHome(directory, kubeconfigFile) });

  return {
    ...access,
    ...programs,
    proxied,
    kubectl,
    seed: (objects) => seedObjects(kubectl, objects),
    compact: async () => {
      await compactEtcd(etcd);
      await programs.apiServer.restart();
    },
    request: (method, path, body) => requestServer({ port: api, credentials: admin, method, path, body }),
    dispose: async () => {
      await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
      await Promise.all(Object.values(programs).map((program) => program.kill()));
      await guardian.finish();
    },
  };
}

interface Plan {
  readonly places: ControlPlaneFiles;
  readonly admin: Credentials;
  readonly pathOf: PathOf;
  readonly guardian: Guardian;
}

function programsOf({ places, admin, pathOf, guardian }: Plan) {
  const { directory, ports } = places;
  const program = (name: Parameters<PathOf>[0], flags: string[], isReady: ProgramOptions["isReady"]) =>
    programOf({ name, command: [pathOf(name), ...flags], directory, guardian, isReady });
  const isFound = async (path: string): Promise<boolean> => {
    const reply = await requestServer({ port: ports.api, credentials: admin, method: "GET", path });
    return reply.status === 200;
  };
  return {
    etcd: program("etcd", etcdFlags(places), async () => {
      const reply = await fetch(`http://127.0.0.1:${ports.etcd}/health`);
      return reply.ok;
    }),
    apiServer: program("kube-apiserver", apiServerFlags(places), () => isFound("/readyz")),
    // Without its namespace's service account no pod is accepted; making it is the first thing controllers do.
    controllerManager: program("kube-controller-manager", controllerManagerFlags(places), () =>
      isFound("/api/v1/namespaces/default/serviceaccounts/default"),
    ),
  };
}

interface EtcdHeader {
  readonly header?: { readonly revision?: string };
}

/** Makes an etcd forget every version but the newest, as the API server does every five minutes. */
async function compactEtcd(port: number): Promise<void> {
  const ask = async (path: string, body: object): Promise<EtcdHeader> => {
    const reply = await fetch(`http://127.0.0.1:${port}/v3/kv/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`etcd refuses ${path}: ${await reply.text()}`);
    return (await reply.json()) as EtcdHeader;
  };
  // Any key will do: each answer says what the newest version is.
  const { header } = await ask("range", { key: Buffer.from("/").toString("base64") });
  await ask("compaction", { revision: header?.revision, physical: true });
}
