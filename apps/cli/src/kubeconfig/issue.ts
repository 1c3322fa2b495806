import { Fault } from "@resource-broker/base";
import { NOBODY } from "@resource-broker/contract/crd";
import { SERVICE_ACCOUNTS } from "@resource-broker/kube";
import { checkClusterId } from "../cli/cluster-id.ts";
import type { Input, Values } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";
import { withCluster } from "../objects/open-cluster.ts";
import { type Admin, serverFor } from "./admin.ts";
import { type Agent, agentOf, roleBindingOf, serviceAccountOf } from "./agent-access.ts";
import { checkPlace, kubeconfigText, writeKubeconfig } from "./kubeconfig-file.ts";
import type { ISSUE_OPTIONS } from "./options.ts";
import { checkCluster } from "./preflight.ts";
import { printIssued } from "./print-issued.ts";
import { ROLE_BINDINGS } from "./resources.ts";
import { revoke } from "./revoke.ts";
import { keepToken, requestToken, type Token } from "./token.ts";

type Options = Values<typeof ISSUE_OPTIONS>;

const MANAGER = { fieldManager: "brokerctl", force: true } as const;
const YEAR_MS = 8760 * 3_600_000;
/** Kubernetes gives no token for less. */
const LEAST_MS = 600_000;

export async function issue({ options, words }: Input<typeof ISSUE_OPTIONS>, host: Host): Promise<void> {
  const [clusterId = ""] = words;
  checkClusterId(clusterId);
  if (clusterId === NOBODY) {
    throw new CommandError("usage", `"${NOBODY}" stands for requests without a cluster: choose another ID`);
  }
  checkOptions(options);
  await withCluster(options, host, async (admin) => {
    const agent = agentOf(clusterId, admin.namespace);
    await (options.revoke
      ? revoke(admin, agent, { output: options.output, host })
      : issueAccess(admin, agent, { options, host }));
  });
}

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

async function issueAccess(admin: Admin, agent: Agent, { options, host }: IssueContext): Promise<void> {
  const { client } = admin;
  if (options.out !== undefined) await checkPlace(options.out, agent);
  const server = await serverFor(options, admin);
  const warnings = await checkCluster(client, agent);
  await makeAccount(admin, agent);
  const token = await tokenFor(admin, agent, options);
  const text = kubeconfigText(agent, server, token.text);
  if (options.out !== undefined) await writeKubeconfig(options.out, text);
  printIssued({
    agent,
    server: server.url,
    token,
    text,
    file: options.out,
    warnings: [...warnings, ...token.warnings, ...addressWarnings(server.url)],
    output: options.output,
    host,
  });
}

async function makeAccount({ client }: Admin, agent: Agent): Promise<void> {
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

function tokenFor({ client, clock }: Admin, agent: Agent, options: Options): Promise<Token> {
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
