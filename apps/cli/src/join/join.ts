import { formatTime } from "@resource-broker/base";
import { JOIN_SECRET } from "@resource-broker/contract";
import { NAMESPACES, SECRETS } from "@resource-broker/kube";
import { readNamedFile } from "../certs/files.ts";
import type { Host, Run, Values } from "../cli/command.ts";
import { confirm } from "../cli/confirm.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { JOIN_OPTIONS } from "../commands/join-options.ts";
import { MANAGER } from "../kubeconfig/agent-access.ts";
import { type OpenCluster, withCluster } from "../objects/open-cluster.ts";
import { properties } from "../output/print.ts";
import { chartVersion, withChart } from "./chart.ts";
import { checkHelm, helmVersion, runHelm } from "./helm.ts";
import { checkNamespace, type Invitation, readInvitation, secretValues } from "./invitation.ts";
import { installedIds, waitForAgent } from "./wait-for-agent.ts";

type Options = Values<typeof JOIN_OPTIONS>;

const RELEASE = "resource-broker-agent";
const JOINED_AT = "rear.fluidos.eu/joined-at";
const DEFAULT_TIMEOUT_MS = 300_000;

export const join: Run<typeof JOIN_OPTIONS> = async ({ options }, host) => {
  const image = imageValues(options.image);
  const given = await invitationFrom(options.file, host);
  const invitation = { ...given, namespace: options.namespace ?? given.namespace };
  let isApplied = false;
  const onApplied = (): void => {
    isApplied = true;
  };
  try {
    return await joinWith(invitation, { options, image, host, onApplied });
  } catch (error) {
    // After --replace the agent of before is evicted already: somebody has to go on.
    if (isPiped(options) && !isApplied) host.note(howToGoOn(invitation));
    throw error;
  }
};

function isPiped({ file }: Options): boolean {
  return file === undefined || file === "-";
}

function howToGoOn({ clusterId }: Invitation): string {
  return `The invitation was in the pipe only. To go on: brokerctl invite ${clusterId} | brokerctl join --context <kubectl context of ${clusterId}>\n`;
}

async function joinWith(
  invitation: Invitation,
  { options, image, host, onApplied }: Omit<Installation, "until"> & { readonly onApplied: () => void },
): Promise<undefined> {
  checkNamespace(invitation.namespace);
  const helm = await helmVersion(host.env);
  if (helm === undefined) throw noHelm(invitation, options);
  checkHelm(helm);
  return withCluster(options, host, async (cluster) => {
    await checkInstalled(invitation, cluster, options);
    host.note(summaryOf(invitation, cluster));
    await confirm(`Install the agent of ${invitation.clusterId} there?`, options.yes, host);
    const until = host.now() + (options.timeout ?? DEFAULT_TIMEOUT_MS);
    await applySecret(invitation, cluster, host);
    onApplied();
    await install(invitation, { options, image, host, until });
    host.note("Waiting until the broker has accepted its first advertisement …\n");
    const { namespace, clusterId } = invitation;
    const kubectl = kubectlFor(options);
    await waitForAgent(cluster, { release: RELEASE, namespace, clusterId, kubectl, until }, host);
    host.note(`${clusterId} has joined. An admin sees it: brokerctl get clusters ${clusterId}\n`);
    return undefined;
  });
}

async function invitationFrom(file: string | undefined, host: Host): Promise<Invitation> {
  if (file !== undefined && file !== "-") {
    return readInvitation(await readNamedFile(file, "-f names the file with the invitation"), file);
  }
  if (host.readInput === undefined) {
    throw new CommandError(
      "usage",
      "there is no invitation: brokerctl invite <cluster-id> | brokerctl join, or -f <file>",
    );
  }
  return readInvitation(await host.readInput(), "standard input");
}

/** An agent of another cluster would lose its place to this one. */
async function checkInstalled(
  { clusterId, namespace }: Invitation,
  cluster: OpenCluster,
  options: Options,
): Promise<void> {
  const ids = await installedIds(cluster, { release: RELEASE, namespace });
  const other = ids.find((id) => id !== clusterId);
  if (other === undefined) return;
  throw new CommandError(
    "usage",
    `the agent in ${cluster.config.server} is that of ${other}, and the invitation is for ${clusterId}: nothing was changed. Name another cluster with --context; or, if ${other} shall become ${clusterId}, first: ${["helm uninstall", RELEASE, "-n", namespace, ...helmFlags(options)].join(" ")}`,
  );
}

function summaryOf(invitation: Invitation, { config }: OpenCluster): string {
  const { clusterId, brokerUrls, caHashes, namespace, token } = invitation;
  return properties([
    ["Kubernetes", `${config.server} (${config.origin})`],
    ["Namespace", namespace],
    ["Joins as", clusterId],
    ["Broker", brokerUrls.join(", ")],
    ["Broker's CA", caHashes.map((hash) => `sha256:${hash}`).join(", ")],
    ["Token", token.id],
  ]);
}

/** A namespace that is there stays as it is. */
async function applySecret(invitation: Invitation, { client }: OpenCluster, host: Host): Promise<void> {
  const { namespace } = invitation;
  if ((await client.find(NAMESPACES, { name: namespace })) === undefined) {
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await client.apply(
      NAMESPACES,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } },
      MANAGER,
    );
    host.note(`Made namespace ${namespace}\n`);
  }
  const encoded = Object.entries(secretValues(invitation)).map(
    ([name, value]) => [name, Buffer.from(value).toString("base64")] as const,
  );
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: JOIN_SECRET.name,
      namespace,
      labels: { "app.kubernetes.io/part-of": "resource-broker" },
    },
    type: "Opaque",
    data: Object.fromEntries(encoded),
  };
  await client.apply(SECRETS, secret, MANAGER);
  host.note(`Applied Secret ${namespace}/${JOIN_SECRET.name}\n`);
}

interface Installation {
  readonly options: Options;
  readonly image: object;
  readonly host: Host;
  readonly until: number;
}

/** The token is in the Secret only: neither in the arguments of helm nor in the values that it stores. */
async function install(
  { clusterId, brokerUrls, namespace }: Invitation,
  { options, image, host, until }: Installation,
): Promise<void> {
  const ports = brokerUrls.map((url) => Number(new URL(url).port || "443"));
  const values = {
    clusterID: clusterId,
    join: { existingSecret: JOIN_SECRET.name },
    networkPolicy: { brokerPorts: [...new Set(ports)] },
    // A new pod each time: one that was Ready before says nothing about this invitation.
    podAnnotations: { [JOINED_AT]: formatTime(host.now()) },
    ...image,
  };
  await withChart(values, async (chart, valuesFile) => {
    host.note(`Installing the agent with helm (chart ${await chartVersion(chart)}) …\n`);
    const args = [
      "upgrade",
      "--install",
      RELEASE,
      chart,
      // Values of an earlier run stay, unless they are given anew.
      "--reset-then-reuse-values",
      `--namespace=${namespace}`,
      `--values=${valuesFile}`,
      // As it was given: commas are helm's.
      ...(options.set.length === 0 ? [] : [`--set=${options.set.join(",")}`]),
      ...helmFlags(options),
    ];
    await runHelm(args, { env: host.env, timeoutMs: until - host.now() });
  });
}

const IMAGE = /^([^\s@]+?)(?::([\w][\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/u;

/** As values of the chart. */
function imageValues(text: string | undefined): object {
  if (text === undefined) return {};
  const [, repository, tag, digest] = IMAGE.exec(text) ?? [];
  if (repository === undefined || (tag === undefined && digest === undefined)) {
    throw new CommandError(
      "usage",
      `--image ${JSON.stringify(text)}: write repository:tag or repository@sha256:…, for example registry.example.org/resource-broker/agent:0.1.0`,
    );
  }
  return {
    image: { repository, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) },
  };
}

/** Name the cluster. */
function helmFlags({ context, kubeconfig }: Options): readonly string[] {
  return [
    ...(context === undefined ? [] : [`--kube-context=${context}`]),
    ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
  ];
}

function kubectlFor({ context, kubeconfig }: Options): string {
  const flags = [
    ...(kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig]),
    ...(context === undefined ? [] : ["--context", context]),
  ];
  return ["kubectl", ...flags].join(" ");
}

function noHelm({ clusterId, namespace }: Invitation, options: Options): CommandError {
  const kubectl = kubectlFor(options);
  const { file } = options;
  const apply =
    file === undefined || file === "-"
      ? `brokerctl invite ${clusterId} | ${kubectl} apply -f -`
      : `${kubectl} apply -f ${file}`;
  return new CommandError(
    "usage",
    [
      "there is no helm on PATH: nothing was changed. Install it (https://helm.sh/docs/intro/install) and repeat, or without it, in a clone of the project:",
      `${kubectl} create namespace ${namespace}`,
      apply,
      `${kubectl} apply -k deploy/kustomize/agent   # kustomization.yaml there says which lines change for an invitation`,
    ].join("\n  "),
  );
}
