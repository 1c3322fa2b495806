import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@resource-broker/runtime";
import {
  kubeClientFor,
  type PeerCertificates,
  type RealControlPlane,
  startBroker,
  startControlPlane,
  type TransportUnderTest,
} from "@resource-broker/testkit";
import { parseAllDocuments } from "yaml";
import { kubernetesTransport } from "../../../src/transport/kubernetes/kubernetes-transport.ts";

const DEPLOY = join(import.meta.dirname, "../../../../../deploy");
const RBAC = "rbac.authorization.k8s.io";
const SYSTEM = "resource-broker-system";
const CLUSTERS = ["rome", "paris", "berlin", "tokyo", "oslo"];
const silent = (): void => undefined;
const QUIET = { info: silent, warn: silent, error: silent };

/** A real cluster with what is shipped; each transport is a namespace of it with a broker and agents of its own. */
export interface ShippedHub {
  readonly plane: RealControlPlane;
  /** The broker's --store; absent: a database of its own. */
  readonly makeTransport: (store?: string) => Promise<TransportUnderTest & Restartable>;
  readonly dispose: () => Promise<void>;
}

export interface Restartable {
  /** The broker dies at once, and comes back. */
  readonly restart: () => Promise<void>;
}

export async function shippedHub(certificates: PeerCertificates): Promise<ShippedHub> {
  const folder = await mkdtemp(join(tmpdir(), "shipped-"));
  const plane = await startControlPlane({ name: "hub" });
  const done = async (args: readonly string[]): Promise<void> => {
    const { exitCode, stderr } = await plane.kubectl(args);
    if (exitCode !== 0 || stderr !== "") throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  };
  await done(["apply", "--server-side", "-f", join(DEPLOY, "crds")]);
  await done(["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"]);
  await done(["apply", "-f", join(DEPLOY, "admission/agent-writes.yaml")]);
  const roles = await shippedRoles();
  let transports = 0;

  const makeTransport: ShippedHub["makeTransport"] = async (store) => {
    const namespace = `broker-${(transports += 1)}`;
    await plane.seed([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
    await plane.seed([...roles(namespace), ...accountsIn(namespace)]);
    const { proxy, kubeconfigFor } = await plane.proxied();
    const file = join(folder, `${namespace}.kubeconfig`);
    await writeFile(file, await plane.kubeconfigFor({ namespace: SYSTEM, name: "resource-broker" }));
    const flags = [
      "--broker-interface=http,kubernetes",
      `--kubeconfig=${file}`,
      `--http-namespace=${namespace}`,
    ];
    const broker = await startBroker({ certificates, flags, ...(store === undefined ? {} : { store }) });
    return {
      connect: async (clusterId) =>
        kubernetesTransport(
          { namespace, clusterId: "" },
          {
            client: kubeClientFor(await kubeconfigFor({ namespace, name: `agent-${clusterId}` })),
            clock: systemClock(() => Math.round(performance.timeOrigin + performance.now())),
            random: () => 0.5,
            randomBytes,
            log: QUIET,
          },
        ),
      cut: proxy.cut,
      restart: async () => {
        await broker.kill("SIGKILL");
        await broker.restart();
      },
      loseLedger: async () => {
        await broker.kill("SIGKILL");
        await rm(broker.storeDirectory, { recursive: true });
        await broker.restart();
      },
      admin: broker.api,
      remove: async () => {
        const lines = await broker.logLines();
        await broker.dispose();
        const missed = lines.filter((line) => / may not |forbidden/.test(line));
        if (missed.length > 0) throw new Error(`the broker's rights are not enough: ${missed.join("\n")}`);
      },
    };
  };

  return {
    plane,
    makeTransport,
    dispose: async () => {
      await plane.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface RbacObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** The shipped rights of broker and agents, for another namespace than the one that the files name. */
async function shippedRoles(): Promise<(namespace: string) => object[]> {
  const texts = await Promise.all(
    ["broker.yaml", "broker-store.yaml", "broker-agents.yaml"].map((file) =>
      readFile(join(DEPLOY, "rbac", file), "utf8"),
    ),
  );
  return (namespace) =>
    texts
      .map((text) => text.replaceAll("[default]", `[${namespace}]`))
      .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as RbacObject))
      .map((object) => (object.metadata.namespace === SYSTEM ? object : moved(object, namespace)));
}

function moved(object: RbacObject, namespace: string): RbacObject {
  const isNamespaced = object.kind === "Role" || object.kind === "RoleBinding";
  return isNamespaced ? { ...object, metadata: { ...object.metadata, namespace } } : object;
}

/** As `brokerctl kubeconfig issue` makes them. */
function accountsIn(namespace: string): object[] {
  const accounts = CLUSTERS.map((id) => ({ namespace, name: `agent-${id}` }));
  return [
    ...accounts.map((metadata) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata })),
    {
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      metadata: { name: "agents", namespace },
      roleRef: { apiGroup: RBAC, kind: "Role", name: "resource-broker-agents" },
      subjects: accounts.map((account) => ({ kind: "ServiceAccount", ...account })),
    },
  ];
}
