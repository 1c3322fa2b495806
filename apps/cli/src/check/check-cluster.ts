import { Fault, parseTime } from "@resource-broker/base";
import { customResourceDefinition, type Kind, KINDS } from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import type { Host, Values } from "../cli/command.ts";
import {
  ADVERTISEMENTS,
  fieldOf,
  listObjects,
  type OpenCluster,
  openCluster,
  servedPlurals,
} from "../objects/open-cluster.ts";
import { age } from "../output/text.ts";
import type { CHECK_OPTIONS } from "../commands/broker-options.ts";
import { checked, failed, type Finding, type Found, ok, skipped } from "./finding.ts";
import { checkRights } from "./rights.ts";

type Options = Values<typeof CHECK_OPTIONS>;

/** Agents publish every 30 s by default; two missed advertisements are a problem. */
const FRESH_MS = 120_000;

/** Everything in the cluster that the kubeconfig leads to. */
export async function checkCluster(options: Options, host: Host): Promise<readonly Finding[]> {
  const opened = await openOrFinding(options, host);
  if ("finding" in opened) return [opened.finding];
  try {
    return await checkOpened(opened, options, host);
  } finally {
    opened.client.close();
  }
}

async function checkOpened(cluster: OpenCluster, options: Options, host: Host): Promise<readonly Finding[]> {
  const server = await checked("API server", () => checkServer(cluster));
  if (server.status === "failed") return [server];
  const served = await servedKinds(cluster).catch(() => undefined);
  const definitions = await checked("CRDs", () => checkDefinitions(cluster));
  if (served !== undefined && isBrokersOnly(served)) {
    const none = skipped("this cluster hosts a broker and no agent; to let it join: brokerctl invite");
    return [server, definitions, { name: "agent", ...none }];
  }
  return [
    server,
    definitions,
    await checked("rights", () => checkRights(cluster, options.agent)),
    await checked("agent", () => checkAgent(cluster, host.now())),
  ];
}

/** A missing kubeconfig is not an error, because many users of a broker have no cluster. A kubeconfig named by a flag must be valid. */
async function openOrFinding(
  options: Options,
  host: Host,
): Promise<OpenCluster | { readonly finding: Finding }> {
  const { kubeconfig, "kube-context": context, namespace } = options;
  try {
    return await openCluster({ kubeconfig, context, contextFlag: "--kube-context", namespace }, host);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const isWanted = kubeconfig !== undefined || context !== undefined || options.only === "cluster";
    const found = isWanted ? failed(error.message) : skipped(error.message);
    return { finding: { name: "API server", ...found } };
  }
}

async function checkServer({ client }: OpenCluster): Promise<Found> {
  const version = fieldOf(await client.read("/version"), "gitVersion");
  return ok(`${client.server}: Kubernetes ${typeof version === "string" ? version : "of unknown version"}`);
}

/** The agent writes a copy of each advertisement beside it: its age shows whether the agent runs. */
async function checkAgent(cluster: OpenCluster, now: number): Promise<Found> {
  const advertisements = await listObjects(cluster, ADVERTISEMENTS, { namespace: undefined });
  const [newest] = advertisements.toSorted((a, b) => b.spec.timestamp.localeCompare(a.spec.timestamp));
  if (newest === undefined)
    return failed(
      "no agent has advertised this cluster yet",
      "Let it join: brokerctl invite <cluster-id> | brokerctl join (docs/install.md). A cluster that only hosts a broker needs none",
    );
  const { spec, status } = newest;
  const ageMs = now - (parseTime(spec.timestamp) ?? now);
  if (ageMs > FRESH_MS)
    return failed(
      `the agent of ${spec.clusterID} was last seen ${age(ageMs)} ago`,
      "Check that the agent runs, and read its log",
    );
  if (status?.published !== true) {
    return failed(
      `the agent of ${spec.clusterID} runs, but the broker did not accept its advertisement: ${status?.message ?? "no reason given"}`,
      "docs/agent.md lists what can be wrong",
    );
  }
  return ok(`${spec.clusterID} advertised ${age(ageMs)} ago, and the broker accepted it`);
}

type AnyKind = Kind<unknown, unknown>;

const APPLY = "kubectl apply --server-side -f deploy/crds";
const SHOWN = 3;

const [AGENTS, BROKERS] = ["rear.fluidos.eu", "broker.fluidos.eu"] as const;

async function servedKinds({ client }: OpenCluster): Promise<ReadonlySet<unknown>> {
  const plurals = [AGENTS, BROKERS].map((group) => servedPlurals(client, { group, version: "v1alpha1" }));
  const all = await Promise.all(plurals);
  return new Set(all.flat());
}

function hasKindsOf(wanted: string, served: ReadonlySet<unknown>): boolean {
  return KINDS.some(({ group, plural }) => group === wanted && served.has(plural));
}

/** As the broker's chart leaves it. */
function isBrokersOnly(served: ReadonlySet<unknown>): boolean {
  return hasKindsOf(BROKERS, served) && !hasKindsOf(AGENTS, served);
}

/** The kinds of agents are needed where one is or shall be, those of the broker in its own cluster; of each all or none. */
async function checkDefinitions(cluster: OpenCluster): Promise<Found> {
  const { client } = cluster;
  const served = await servedKinds(cluster);
  const isBrokers = hasKindsOf(BROKERS, served);
  const isOnly = isBrokersOnly(served);
  const needed = KINDS.filter(({ group }) => (group === AGENTS ? !isOnly : isBrokers));
  const missing = needed.filter(({ plural }) => !served.has(plural));
  if (missing.length > 0)
    return failed(
      `${missing.map(({ kind }) => kind).join(", ")} not installed`,
      `The charts install them with broker and agent (brokerctl join); without Helm: ${APPLY}`,
    );
  const states = await Promise.all(needed.map((kind) => missingFields(client, kind)));
  const old = states.filter((fields) => fields !== undefined).flat();
  if (old.length > 0) return failed(`older than this brokerctl: ${few(old)} not known there`, APPLY);
  const both = isBrokers ? "the agent's and the broker's" : "the agent's";
  const whose = isOnly ? "the broker's" : both;
  const isSeen = states.every((fields) => fields !== undefined);
  return ok(
    `${needed.length} kinds installed (${whose})${isSeen ? "" : "; you may not see of which release"}`,
  );
}

/** `Kind.spec.field` for each of ours that the server's schema lacks; undefined when one may not look. */
async function missingFields(client: KubeClient, kind: AnyKind): Promise<readonly string[] | undefined> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${kind.plural}.${kind.group}`;
  const theirs = await client.read(path).catch((error: unknown) => {
    if (error instanceof Fault && error.code === "forbidden") return undefined;
    throw error;
  });
  if (theirs === undefined) return undefined;
  const known = new Set(fieldsOf(schemaIn(theirs, kind.version), kind.kind));
  return fieldsOf(schemaIn(customResourceDefinition(kind), kind.version), kind.kind).filter(
    (field) => !known.has(field),
  );
}

function schemaIn(definition: unknown, version: string): unknown {
  const versions = fieldOf(definition, "spec", "versions");
  const all: readonly unknown[] = Array.isArray(versions) ? versions : [];
  const found = all.find((each) => fieldOf(each, "name") === version);
  return fieldOf(found, "schema", "openAPIV3Schema");
}

function fieldsOf(schema: unknown, path: string): string[] {
  const properties = fieldOf(schema, "properties");
  const below =
    typeof properties === "object" && properties !== null
      ? Object.entries(properties).flatMap(([name, inner]) => [
          `${path}.${name}`,
          ...fieldsOf(inner, `${path}.${name}`),
        ])
      : [];
  const items = fieldOf(schema, "items");
  return items === undefined ? below : [...below, ...fieldsOf(items, `${path}[]`)];
}

function few(fields: readonly string[]): string {
  const more = fields.length - SHOWN;
  return `${fields.slice(0, SHOWN).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
