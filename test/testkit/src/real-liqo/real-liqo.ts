import { mkdirSync, mkdtempSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "@resource-broker/kube-sim";
import { LIQO, type LiqoProgram } from "../../../../tools/liqo-assets/recipe.ts";
import type { RealControlPlane } from "../control-plane/control-plane.ts";
import { kubectlHome, startControlPlane } from "../control-plane/start-control-plane.ts";
import { freePorts } from "../process/free-ports.ts";
import { type Guardian, startGuardian } from "../process/guardian.ts";
import { type Program, programOf } from "../process/program.ts";
import { outputOf, runProgram } from "../process/run-program.ts";
import type { ControlPlane, ControlPlanes } from "../world/control-planes.ts";
import { until } from "../world/until.ts";
import { type LiqoAssets, liqoAssets } from "./assets.ts";
import { kwokFlags, stagesText, withFakeNodes } from "./kwok.ts";
import { missingNetwork, networkOf } from "./network.ts";
import { type ProcessKubelet, startProcessKubelet } from "./process-kubelet.ts";

/** docs/agent.md and docs/liqo.md, step 2. */
const RIGHTS = {
  liqoctl: ["rbac/agent.yaml", "rbac/agent-liqo.yaml", "admission/agent-liqo.yaml"],
  relay: [
    "rbac/agent.yaml",
    "rbac/agent-liqo.yaml",
    "admission/agent-liqo.yaml",
    "rbac/agent-identity.yaml",
    "rbac/agent-relay.yaml",
    "admission/agent-relay.yaml",
    "admission/agent-relay-requests.yaml",
  ],
} as const;
/** What liqoctl alone needs. */
const LIQOCTL_RIGHTS = [
  ["clusterrole,clusterrolebinding", "resource-broker-agent-liqoctl"],
  ["clusterrole", "resource-broker-agent-liqo-tenant"],
  ["role,rolebinding", "resource-broker-agent-liqoctl"],
] as const;
const IDENTITY_SECRET = "resource-broker-agent-identity";
const AGENT = { namespace: "rear-agent", name: "resource-broker-agent" };
/** A guard for a machine that does much else. */
const WEBHOOK_WITHIN_MS = 300_000;
const SHOWN_LINES = 12;
const SHOWN_CHARACTERS = 300;

/** A real control plane with a scheduler, nodes that kwok plays, and the real Liqo. */
export interface RealLiqoCluster {
  readonly name: string;
  /** Its ID in Liqo, which is not the broker's. */
  readonly liqoId: string;
  /** Its API server stays at `plane.url`, however often it is killed. */
  readonly plane: RealControlPlane;
  /** The admin's. */
  readonly kubeconfigFile: string;
  readonly scheduler: Program;
  readonly kwok: Program;
  readonly kubelet: ProcessKubelet;
  /** Runs the real liqoctl here, with full rights. Returns what it wrote to stdout; rejects when it fails. */
  readonly liqoctl: (args: readonly string[]) => Promise<string>;
  /** The last lines of every program, for the message of a failure. */
  readonly lastLogLines: () => Promise<string>;
}

export interface RealLiqoControlPlanes extends ControlPlanes {
  readonly cluster: (name: string) => RealLiqoCluster;
  /** Flags with which the agent of this cluster uses Liqo: docs/liqo.md, steps 4 and 5. */
  readonly agentFlags: (name: string) => string[];
  /** Where the agent of this cluster finds the kubeconfigs of the others. */
  readonly kubeconfigs: (name: string) => string;
}

export interface RealLiqoOptions {
  /** Of all clusters that are going to be started: each makes a peering user for each other one. */
  readonly names: readonly string[];
  /** How their agents peer. With relay, no agent has a kubeconfig of another cluster. */
  readonly mode?: "liqoctl" | "relay";
  /** False: whoever installs the agents brings their rights. */
  readonly hasRights?: boolean;
}

/** Liqo's ID of a cluster. */
function liqoIdOf(name: string): string {
  return `liqo-${name}`;
}

/** Clusters with the real Liqo; each agent has the shipped rights, and no others. They need a network: `missingNetwork`. */
export function realLiqoControlPlanes({
  names,
  mode = "liqoctl",
  hasRights = true,
}: RealLiqoOptions): RealLiqoControlPlanes {
  const assets = liqoAssets(process.env, () => undefined);
  if (assets === undefined) throw new Error("there is no Liqo on this machine. Run npm run liqo:assets.");
  const directory = mkdtempSync(join(tmpdir(), "real-liqo-"));
  const guardian = startGuardian(directory);
  const clusters = new Map<string, RealLiqoCluster>();
  const endings: (() => Promise<void>)[] = [];
  const kubeconfigs = (name: string): string => join(directory, "kubeconfigs", name);
  for (const name of names) {
    mkdirSync(join(directory, name), { recursive: true });
    mkdirSync(kubeconfigs(name), { recursive: true });
  }

  const invitePeers = async ({ name, liqoctl }: RealLiqoCluster): Promise<void> => {
    for (const other of names.filter((each) => each !== name)) {
      const text = await liqoctl(["generate", "peering-user", "--consumer-cluster-id", liqoIdOf(other)]);
      await writeFile(join(kubeconfigs(other), `${name}.kubeconfig`), text, { mode: 0o600 });
    }
  };

  return {
    start: async (name, objects): Promise<ControlPlane> => {
      const index = names.indexOf(name) + 1;
      if (index === 0) throw new Error(`${name} is not among the clusters that were announced`);
      const problem = await missingNetwork();
      if (problem !== undefined) throw new Error(problem);
      const parts = { name, index, objects, assets, guardian, directory: join(directory, name), endings };
      const cluster = await startCluster(parts);
      clusters.set(name, cluster);
      try {
        await installLiqo(cluster, assets, index);
        if (mode === "liqoctl") await invitePeers(cluster);
        if (hasRights) await grantRights(cluster, mode);
      } catch (error) {
        throw new Error(`${String(error)}\n${await cluster.lastLogLines()}`, { cause: error });
      }
      const { kubeconfig, kubeconfigFor } = cluster.plane;
      return hasRights ? { kubeconfig, agentKubeconfig: await kubeconfigFor(AGENT) } : { kubeconfig };
    },
    stop: async () => {
      for (const end of endings.splice(0).reverse()) await end().catch(() => undefined);
      await guardian.finish();
    },
    cluster: (name) => {
      const found = clusters.get(name);
      if (found === undefined) throw new Error(`there is no cluster ${name} with Liqo`);
      return found;
    },
    agentFlags: (name) => [
      ...(mode === "relay"
        ? ["--liqo-mode=relay", `--identity-secret=${AGENT.namespace}/${IDENTITY_SECRET}`]
        : [`--kubeconfigs-dir=${kubeconfigs(name)}`, `--liqoctl=${assets.pathOf("liqoctl")}`]),
      "--liqo-networking=false",
    ],
    kubeconfigs,
  };
}

/** The shipped ones of this way to peer, and no others. */
async function grantRights({ plane }: RealLiqoCluster, mode: keyof typeof RIGHTS): Promise<void> {
  const run = async (...args: string[]): Promise<void> =>
    void outputOf(["kubectl", ...args], await plane.kubectl(args));
  const fileOf = (name: string): string =>
    fileURLToPath(new URL(`../../../../deploy/${name}`, import.meta.url));
  await run("apply", ...RIGHTS[mode].map((name) => `--filename=${fileOf(name)}`));
  if (mode !== "relay") return;
  for (const [kinds, name] of LIQOCTL_RIGHTS) await run("delete", kinds, name, "--namespace=liqo");
  await run("create", "secret", "generic", IDENTITY_SECRET, `--namespace=${AGENT.namespace}`);
}

interface ClusterParts {
  readonly name: string;
  readonly index: number;
  readonly objects: readonly JsonObject[];
  readonly assets: LiqoAssets;
  readonly guardian: Guardian;
  readonly directory: string;
  readonly endings: (() => Promise<void>)[];
}

async function startCluster(parts: ClusterParts): Promise<RealLiqoCluster> {
  const { name, objects, assets, guardian, directory, endings } = parts;
  const network = networkOf(parts.index);
  const plane = await startControlPlane({ name, address: network.address });
  endings.push(plane.dispose);
  // Before kwok: it gives nodes without a size one of its own.
  await plane.seed(withFakeNodes(objects));
  const kubeconfigFile = join(directory, "admin.kubeconfig");
  const stagesFile = join(directory, "stages.yaml");
  await writeFile(kubeconfigFile, plane.kubeconfig, { mode: 0o600 });
  await writeFile(stagesFile, await stagesText(assets.kwokStages));
  const [port = 0] = await freePorts(1);
  const program = (programName: LiqoProgram, flags: readonly string[], isReady: () => Promise<boolean>) => {
    const command = [assets.pathOf(programName), ...flags];
    const made = programOf({ name: programName, command, directory, guardian, isReady });
    endings.push(async () => void (await made.kill()));
    return made;
  };
  const scheduler = program("kube-scheduler", schedulerFlags(kubeconfigFile), async () => true);
  const kwok = program(
    "kwok",
    kwokFlags({ stagesFile, kubeconfigFile, port, network: network.pods }),
    async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok,
  );
  await Promise.all([scheduler.restart(), kwok.restart()]);
  const kubelet = startProcessKubelet({ plane, pathOf: assets.pathOf, directory, guardian });
  endings.push(kubelet.stop);
  const { apiServer, controllerManager } = plane;
  return {
    name,
    liqoId: liqoIdOf(name),
    plane,
    kubeconfigFile,
    scheduler,
    kwok,
    kubelet,
    liqoctl: async (args) => {
      const command = [assets.pathOf("liqoctl"), ...args];
      return outputOf(command, await runProgram(command, kubectlHome(directory, kubeconfigFile)));
    },
    lastLogLines: async () => {
      const all = [
        ...Object.entries({ apiServer, controllerManager, scheduler, kwok }),
        ...kubelet.processes().map((each) => [`${each.program} ${each.pod}`, each] as const),
      ];
      const words = all.map(async ([title, { logLines }]) => {
        const lines = await logLines().catch(() => []);
        const last = lines.slice(-SHOWN_LINES).map((line) => line.slice(0, SHOWN_CHARACTERS));
        return [`== ${name}: ${title}`, ...last];
      });
      const errors = [`== ${name}: pods`, ...kubelet.errors.slice(-SHOWN_LINES)];
      return [...(await Promise.all(words)).flat(), ...errors].join("\n");
    },
  };
}

function schedulerFlags(kubeconfigFile: string): string[] {
  return [
    `--kubeconfig=${kubeconfigFile}`,
    `--authentication-kubeconfig=${kubeconfigFile}`,
    `--authorization-kubeconfig=${kubeconfigFile}`,
    "--leader-elect=false",
    "--secure-port=0",
  ];
}

/** docs/liqo.md, step 1. */
async function installLiqo(
  { liqoctl, liqoId, plane }: RealLiqoCluster,
  { chart }: LiqoAssets,
  index: number,
): Promise<void> {
  const [webhookPort = 0] = await freePorts(1);
  await liqoctl([
    "install",
    `--cluster-id=${liqoId}`,
    `--local-chart-path=${chart}`,
    `--version=${LIQO.version}`,
    `--api-server-url=${plane.url}`,
    `--pod-cidr=${networkOf(index).pods}.0.0/16`,
    "--service-cidr=10.96.0.0/16",
    "--disable-api-server-sanity-check",
    "--disable-kernel-version-check",
    "--disable-telemetry",
    "--skip-confirm",
    "--timeout=10m",
    // Pods share one network here: no two webhooks can listen on the same port.
    `--set=webhook.port=${webhookPort}`,
    // Liqo's network needs Geneve in the kernel.
    "--set=networking.enabled=false",
    "--set=metricAgent.enabled=false",
    "--set=proxy.enabled=false",
  ]);
  // kwok calls a pod ready before its program serves.
  await until(
    "Liqo's webhook answers",
    async () => {
      const path = "/apis/authentication.liqo.io/v1beta1/namespaces/default/tenants?dryRun=All";
      const tenant = { kind: "Tenant", metadata: { name: "nobody" }, spec: { clusterID: "nobody" } };
      const { status, body } = await plane.request("POST", path, {
        apiVersion: "authentication.liqo.io/v1beta1",
        ...tenant,
      });
      if (status !== 500) return status;
      throw new Error(JSON.stringify(body));
    },
    WEBHOOK_WITHIN_MS,
  );
}
