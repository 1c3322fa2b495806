import {
  type Clock,
  Fault,
  type FaultCode,
  isRecord,
  type KubernetesObject,
  type Log,
} from "@resource-broker/base";
import {
  type Advertisement,
  advertisementKind,
  type Kind,
  type ProviderInstruction,
  providerInstructionKind,
  type Reservation,
  type ReservationInstruction,
  type ResourceRequest,
  reservationInstructionKind,
  reservationKind,
  resourceRequestKind,
} from "@resource-broker/contract/crd";
import {
  createKubeClient,
  customResource,
  type KubeClient,
  type KubeConfig,
  loadKubeConfig,
  type Resource,
} from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import type { Host } from "../cli/command.ts";
import { CommandError, didYouMean, type Exit } from "../cli/exit-code.ts";

export interface ClusterOptions {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** What the context's flag is called where `--context` names the broker. */
  readonly contextFlag?: "--context" | "--kube-context";
  readonly namespace?: string | undefined;
}

/** A cluster, reached as kubectl would reach it. */
export interface OpenCluster {
  readonly config: KubeConfig;
  readonly client: KubeClient;
  readonly clock: Clock;
  /** The one that was named, else that of the context. */
  readonly namespace: string;
  /** The flag that names another cluster. */
  readonly contextFlag: "--context" | "--kube-context";
}

const silent = (): void => undefined;

/** Whatever goes wrong comes back as a fault: there is nothing to log. */
export const NO_LOG: Log = { info: silent, warn: silent, error: silent };

const EXITS: Partial<Record<FaultCode, Exit>> = {
  forbidden: "auth",
  unauthenticated: "auth",
  conflict: "conflict",
  "already-exists": "conflict",
};

export async function openCluster(
  { kubeconfig, context, contextFlag = "--context", namespace }: ClusterOptions,
  host: Host,
): Promise<OpenCluster> {
  const { env, isInteractive = false, now } = host;
  const config = await loadKubeConfig({
    env,
    ...(kubeconfig === undefined ? {} : { files: [kubeconfig] }),
    ...(context === undefined ? {} : { context }),
  });
  const clock = systemClock(now);
  const client = createKubeClient(config, {
    clock,
    log: NO_LOG,
    env,
    isInteractive,
    userAgent: "brokerctl",
  });
  return { config, client, clock, namespace: namespace ?? config.namespace, contextFlag };
}

/** Lets the command work with a cluster, and says what went wrong in words and exit status. */
export async function withCluster<Result>(
  options: ClusterOptions,
  host: Host,
  work: (cluster: OpenCluster) => Promise<Result>,
): Promise<Result> {
  try {
    const cluster = await openCluster(options, host);
    try {
      return await work(cluster);
    } finally {
      cluster.client.close();
    }
  } catch (error) {
    throw asCommandError(error);
  }
}

function asCommandError(error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  return new CommandError(EXITS[error.code] ?? "error", error.message, { cause: error });
}

export type AnyObject = KubernetesObject<unknown, unknown>;

/** What people call a kind of object, and how the API server does. */
export interface ObjectKind<T extends AnyObject> {
  /** For sentences: "there is no request …". */
  readonly noun: string;
  readonly definition: Pick<
    Kind<unknown, unknown>,
    "group" | "version" | "singular" | "plural" | "shortNames"
  >;
  readonly resource: Resource<T>;
}

function kindOf<T extends AnyObject>(
  noun: string,
  definition: ObjectKind<T>["definition"] & Parameters<typeof customResource<T>>[0],
): ObjectKind<T> {
  return { noun, definition, resource: customResource(definition) };
}

export const REQUESTS: ObjectKind<ResourceRequest> = kindOf("request", resourceRequestKind);
export const ADVERTISEMENTS: ObjectKind<Advertisement> = kindOf("advertisement", advertisementKind);
/** Of what this cluster borrows. */
export const RESERVATION_INSTRUCTIONS: ObjectKind<ReservationInstruction> = kindOf(
  "instruction",
  reservationInstructionKind,
);
/** Of what this cluster lends. */
export const PROVIDER_INSTRUCTIONS: ObjectKind<ProviderInstruction> = kindOf(
  "instruction",
  providerInstructionKind,
);
/** In the cluster of a broker. */
export const RESERVATIONS: ObjectKind<Reservation> = kindOf("reservation", reservationKind);

/** `request/more`, `resourcerequest.rear.fluidos.eu/more` (what `-o name` prints) and `more` are the same. */
export function nameIn(word: string, kinds: readonly ObjectKind<AnyObject>[]): string {
  const slash = word.indexOf("/");
  if (slash < 0) return word;
  const prefix = word.slice(0, slash).toLowerCase();
  const isKnown = kinds.some(({ noun, definition: { singular, plural, group, shortNames } }) =>
    [
      noun,
      `${noun}s`,
      singular,
      plural,
      `${singular}.${group}`,
      `${plural}.${group}`,
      ...shortNames,
    ].includes(prefix),
  );
  return isKnown ? word.slice(slash + 1) : word;
}

/** The plurals that the server has in a group. Asked of its own list of kinds, which everybody may read. */
export async function servedPlurals(
  client: KubeClient,
  { group, version }: Pick<Kind<unknown, unknown>, "group" | "version">,
): Promise<readonly unknown[]> {
  const list = await client.read(`/apis/${group}/${version}`).catch((error: unknown) => {
    if (isMissing(error)) return {};
    throw error;
  });
  const resources = fieldOf(list, "resources");
  return (Array.isArray(resources) ? resources : []).map((each: unknown) => fieldOf(each, "name"));
}

/** A field of what a server answered, whatever that is. */
export function fieldOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce(
    (found, name) => (isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined),
    value,
  );
}

/** As kubectl writes it: one can be handed to the other. */
export function fullName({ kind, apiVersion, metadata }: AnyObject): string {
  return `${kind.toLowerCase()}.${apiVersion.split("/")[0]}/${metadata.name}`;
}

export interface Wanted {
  /** Undefined: every namespace. */
  readonly namespace: string | undefined;
  /** One object; undefined: all of them. */
  readonly name?: string | undefined;
  readonly selector?: string | undefined;
}

interface WantedInput {
  readonly options: { readonly "all-namespaces": boolean; readonly selector: string | undefined };
  readonly words: readonly string[];
}

/** What the flags and the word after the command ask for. */
export function wantedIn(
  { namespace }: OpenCluster,
  { options, words: [word] }: WantedInput,
  kinds: readonly ObjectKind<AnyObject>[],
): Wanted {
  return {
    namespace: options["all-namespaces"] ? undefined : namespace,
    selector: options.selector,
    name: word === undefined ? undefined : nameIn(word, kinds),
  };
}

/** What is wanted of all these kinds; a name that nothing has is an error. */
export async function readWanted<T extends AnyObject>(
  cluster: OpenCluster,
  kinds: readonly ObjectKind<T>[],
  wanted: Wanted,
): Promise<readonly T[]> {
  const lists = await Promise.all(kinds.map((kind) => listObjects(cluster, kind, wanted)));
  const { name, namespace } = wanted;
  if (name === undefined) return lists.flat();
  const found = lists.flat().filter(({ metadata }) => metadata.name === name);
  if (found.length === 0) throw await unknownObject(cluster, kinds, { name, namespace });
  return found;
}

/** Sorted by namespace and name. */
export async function listObjects<T extends AnyObject>(
  cluster: OpenCluster,
  kind: ObjectKind<T>,
  { namespace, selector }: Wanted,
): Promise<readonly T[]> {
  const found: T[] = [];
  const query = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(selector === undefined ? {} : { labelSelector: selector }),
  };
  try {
    await cluster.client.list(kind.resource, query, (object) => void found.push(object));
  } catch (error) {
    throw isMissing(error) ? unknownKind(cluster, kind, error) : error;
  }
  return found.toSorted(byName);
}

export async function readObject<T extends AnyObject>(
  cluster: OpenCluster,
  kind: ObjectKind<T>,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Promise<T> {
  const found = await cluster.client.find(kind.resource, { name, namespace });
  if (found !== undefined) return found;
  throw await unknownObject(cluster, [kind], { name, namespace });
}

/** Says what there is instead, and in which namespace it was looked for: mostly it is in another one. */
async function unknownObject(
  cluster: OpenCluster,
  kinds: readonly ObjectKind<AnyObject>[],
  { name, namespace }: { readonly name: string; readonly namespace: string | undefined },
): Promise<CommandError> {
  const [kind] = kinds;
  const lists = await Promise.all(kinds.map((each) => listObjects(cluster, each, { namespace })));
  const names = lists.flat().map(({ metadata }) => metadata.name);
  const hint = didYouMean(name, names);
  const place = namespace === undefined ? "in any namespace" : `in namespace ${namespace}`;
  const remedy = hint === "" && namespace !== undefined ? "; -n names another" : hint;
  return new CommandError("error", `there is no ${kind?.noun} ${JSON.stringify(name)} ${place}${remedy}`);
}

function byName({ metadata: a }: AnyObject, { metadata: b }: AnyObject): number {
  const [one, other] = [`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`];
  return one < other ? -1 : Number(one > other);
}

function isMissing(error: unknown): boolean {
  return error instanceof Fault && error.code === "not-found";
}

function unknownKind(
  { client, contextFlag }: OpenCluster,
  { resource }: ObjectKind<AnyObject>,
  cause: unknown,
): CommandError {
  return new CommandError(
    "error",
    `${client.server} knows no ${resource.kind}: is it the cluster you mean (${contextFlag})? Then first: kubectl apply --server-side -f deploy/crds`,
    { cause },
  );
}
