import { readFile } from "node:fs/promises";
import { Fault, yamlText } from "@resource-broker/base";
import { NOBODY } from "@resource-broker/contract/crd";
import {
  CONFIG_MAPS,
  type KubeClient,
  type ObjectName,
  type Resource,
  SECRETS,
  SERVICE_ACCOUNTS,
} from "@resource-broker/kube";
import { checkClusterId } from "../cli/cluster-id.ts";
import type { Host, Run, Values, View } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { type OpenCluster, withCluster } from "../objects/open-cluster.ts";
import { properties } from "../output/print.ts";
import { when } from "../output/text.ts";
import {
  type Agent,
  agentOf,
  checkCluster,
  keepToken,
  MANAGER,
  requestToken,
  ROLE_BINDINGS,
  roleBindingOf,
  serviceAccountOf,
  type Token,
  tokenSecretName,
} from "./agent-access.ts";
import type { KUBECONFIG_ISSUE_OPTIONS } from "../commands/cluster-options.ts";
import { dirname, resolve } from "node:path";
import { isDirectory, PRIVATE, readText, writeFiles } from "../certs/files.ts";

type Options = Values<typeof KUBECONFIG_ISSUE_OPTIONS>;

const YEAR_MS = 8760 * 3_600_000;
/** Kubernetes gives no token for less. */
const LEAST_MS = 600_000;

export const issue: Run<typeof KUBECONFIG_ISSUE_OPTIONS> = async (
  { options, words: [clusterId = ""] },
  host,
) => {
  checkClusterId(clusterId);
  if (clusterId === NOBODY) {
    throw new CommandError("usage", `"${NOBODY}" stands for requests without a cluster: choose another ID`);
  }
  checkOptions(options);
  return withCluster(options, host, async (cluster) => {
    const agent = agentOf(clusterId, cluster.namespace);
    return options.revoke ? revoke(cluster, agent, host) : issueAccess(cluster, agent, { options, host });
  });
};

function checkOptions(options: Options): void {
  const { revoke: isRevoked, out, duration, "long-lived": isLongLived, output } = options;
  const isTimed = duration !== undefined;
  const contradictions: readonly (readonly [boolean, string])[] = [
    [isTimed && isLongLived, "--duration and --long-lived exclude each other"],
    [isTimed && duration < LEAST_MS, "--duration: Kubernetes gives tokens for at least 10m"],
    [
      isRevoked && (out !== undefined || isTimed || isLongLived),
      "--revoke removes access: do not combine it with --out, --duration or --long-lived",
    ],
    [
      !isRevoked && out === undefined && output === "name",
      "-o name prints where the kubeconfig is: say where with --out <file>",
    ],
  ];
  const found = contradictions.find(([isThere]) => isThere);
  if (found !== undefined) throw new CommandError("usage", found[1]);
}

interface IssueContext {
  readonly options: Options;
  readonly host: Host;
}

async function issueAccess(
  cluster: OpenCluster,
  agent: Agent,
  { options, host }: IssueContext,
): Promise<View> {
  const { out: file } = options;
  if (file !== undefined) await checkPlace(file, agent);
  const server = await serverFor(options, cluster);
  const found = await checkCluster(cluster.client, agent);
  await makeAccount(cluster, agent);
  const token = await tokenFor(cluster, agent, options);
  const text = kubeconfigText(agent, server, token.text);
  if (file !== undefined) await writeFiles([{ path: resolve(file), text, mode: PRIVATE }]);
  const warnings = [...found, ...token.warnings, ...addressWarnings(server.url)];
  const { clusterId, namespace, user } = agent;
  const { expiresAt } = token;
  const path = file ?? "<file>";
  for (const warning of warnings) host.note(`Warning: ${warning}\n`);
  host.note(`${clusterId} may talk to the broker in namespace ${namespace} as ${user}\n`);
  host.note(`Its agent: --broker-kubeconfig=${path} --broker-namespace=${namespace}\n`);
  const summary = (): string =>
    properties([
      ["Cluster", clusterId],
      ["Namespace", namespace],
      ["User", user],
      ["Server", server.url],
      ["Expires", expiresAt === undefined ? "never" : when(Date.parse(expiresAt), host.now())],
      ["File", path],
    ]);
  const result = file === undefined ? { kubeconfig: text } : { file };
  return {
    data: {
      clusterID: clusterId,
      namespace,
      user,
      server: server.url,
      expiresAt: expiresAt ?? null,
      ...result,
      warnings,
    },
    table: () => (file === undefined ? text : summary()),
    names: [path],
  };
}

async function makeAccount({ client }: OpenCluster, agent: Agent): Promise<void> {
  try {
    await client.apply(SERVICE_ACCOUNTS, serviceAccountOf(agent), MANAGER);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "not-found") throw error;
    throw new CommandError("error", `there is no namespace ${agent.namespace} in ${client.server}`, {
      cause: error,
    });
  }
  await client.apply(ROLE_BINDINGS, roleBindingOf(agent), MANAGER);
}

function tokenFor({ client, clock }: OpenCluster, agent: Agent, options: Options): Promise<Token> {
  if (options["long-lived"]) return keepToken(client, agent, clock);
  return requestToken(client, agent, Math.floor((options.duration ?? YEAR_MS) / 1000));
}

function addressWarnings(url: string): string[] {
  const { hostname } = new URL(url);
  const isLoopback = hostname === "localhost" || hostname.startsWith("127.") || hostname === "[::1]";
  return isLoopback
    ? [`${url} cannot be reached from another machine: set --server to the address that the agent uses`]
    : [];
}

async function serverFor(options: Options, cluster: OpenCluster): Promise<Server> {
  const { server } = options;
  const { config } = cluster;
  return {
    url: server === undefined ? config.server : checkedUrl(server),
    ca: await authorityFor(options, cluster),
    serverName: server === undefined ? config.trust.serverName : undefined,
  };
}

async function authorityFor(options: Options, { client, config, namespace }: OpenCluster) {
  const { "certificate-authority": file } = options;
  if (file !== undefined) return readPem(file);
  const { ca, insecureSkipVerify } = config.trust;
  if (ca !== undefined) return ca.kind === "text" ? ca.text : readPem(ca.path);
  if (!insecureSkipVerify) return undefined;
  // A kubeconfig that does not verify the server must not be used to issue tokens. Kubernetes keeps the authority in this ConfigMap.
  const found = await client.find(CONFIG_MAPS, { name: "kube-root-ca.crt", namespace });
  const text = found?.data?.["ca.crt"];
  if (text !== undefined) return text;
  throw new CommandError(
    "error",
    `${config.origin} does not check who answers, and the cluster does not say who signed its certificate: name the file with --certificate-authority`,
  );
}

async function readPem(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new CommandError("error", `cannot read ${path}: ${String(cause)}`, { cause });
  });
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new CommandError("error", `${path} holds no certificate in PEM`);
}

function checkedUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === "https:") return text.replace(/\/+$/u, "");
  throw new CommandError(
    "usage",
    `--server ${JSON.stringify(text)}: write it like https://broker.example.org:6443`,
  );
}

/** How the agent reaches the API server and knows it. */
interface Server {
  readonly url: string;
  /** PEM. Undefined: an authority that every system trusts. */
  readonly ca: string | undefined;
  readonly serverName: string | undefined;
}

function kubeconfigText(agent: Agent, { url, ca, serverName }: Server, token: string): string {
  const { name, namespace } = agent;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "broker",
        cluster: {
          server: url,
          "certificate-authority-data":
            ca === undefined ? undefined : Buffer.from(ca, "utf8").toString("base64"),
          "tls-server-name": serverName,
        },
      },
    ],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: "broker", user: name, namespace } }],
    "current-context": name,
  };
  return `${firstLine(agent)}\n${yamlText(config)}`;
}

/** Before anything is made: a file that is something else is never overwritten, and least of all ~/.kube/config. */
async function checkPlace(file: string, agent: Agent): Promise<void> {
  const folder = dirname(resolve(file));
  if (!(await isDirectory(folder))) {
    throw new CommandError("error", `--out ${file}: there is no folder ${folder}; nothing was changed`);
  }
  const found = await readText(resolve(file));
  if (found === undefined || found.startsWith(`${firstLine(agent)}\n`)) return;
  throw new CommandError(
    "conflict",
    `${file} is there already and is no kubeconfig that brokerctl made for ${agent.clusterId}; nothing was changed. Name another file with --out`,
  );
}

/** The first line of every kubeconfig that was made here for the agent of this cluster. */
function firstLine({ clusterId }: Agent): string {
  return `# Made by brokerctl: the way of cluster ${clusterId} to its broker.`;
}

/** Deleting the account invalidates its tokens. The binding is deleted first, so that the rights end even earlier. */
async function revoke({ client }: OpenCluster, agent: Agent, host: Host): Promise<View> {
  const { clusterId, name, namespace } = agent;
  const targets: readonly (readonly [Resource<unknown>, string])[] = [
    [ROLE_BINDINGS, name],
    [SECRETS, tokenSecretName(agent)],
    [SERVICE_ACCOUNTS, name],
  ];
  const removed: string[] = [];
  for (const [resource, target] of targets) {
    const isRemoved = await remove(client, resource, { name: target, namespace });
    if (isRemoved) removed.push(`${resource.kind}/${target}`);
  }
  host.note(
    removed.length === 0
      ? `${clusterId} had no access in namespace ${namespace}\n`
      : `${clusterId} has no access in namespace ${namespace} any more; its reservations and its advertisement stay\n`,
  );
  return {
    data: { clusterID: clusterId, namespace, removed },
    table: () =>
      properties([
        ["Cluster", clusterId],
        ["Namespace", namespace],
        ["Removed", removed.join(", ") || "nothing"],
      ]),
    names: removed,
  };
}

async function remove(client: KubeClient, resource: Resource<unknown>, name: ObjectName): Promise<boolean> {
  try {
    await client.delete(resource, name);
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code === "not-found") return false;
    throw error;
  }
}
