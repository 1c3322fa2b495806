import { type Clock, Fault, type FaultCode } from "@resource-broker/base";
import { CONFIG_MAPS, type ConfigMap, type KubeClient } from "@resource-broker/kube";
import { StoreFailure } from "../store.ts";

/** Remedies for error messages that do not say what to do. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/database space exceeded/, "etcd is full; compact and defragment it, or raise its quota"],
  [/request is too large/, "etcd takes smaller objects only; raise --max-request-bytes there"],
  [/being terminated/, "the namespace is being deleted; name another one, or create it again"],
  [/namespaces? "[^"]*" not found/, "create the namespace, or name another one with --http-namespace"],
  [/exceeded quota/, "a ResourceQuota of the namespace forbids it; raise count/configmaps"],
];

/** Faults that mean that nothing was written. */
const REFUSALS: ReadonlySet<FaultCode> = new Set([
  "invalid",
  "too-large",
  "forbidden",
  "unauthenticated",
  "rate-limited",
  "method-not-allowed",
  "unsupported-media",
]);
/** Answers of an API server whose etcd has refused: they come as 500 and are as certain. */
const REFUSED_BY_ETCD = /database space exceeded|request is too large/;

/** Faults that mean that another writer changed the object. */
const OVERTAKEN: ReadonlySet<FaultCode> = new Set(["conflict", "already-exists", "not-found"]);

/** What is known of a write that did not succeed. */
type WriteFailureKind = "conflict" | "refused" | "unknown";

export function writeFailureKind(error: unknown): WriteFailureKind {
  if (!(error instanceof Fault)) return "unknown";
  if (OVERTAKEN.has(error.code)) return "conflict";
  return REFUSALS.has(error.code) || REFUSED_BY_ETCD.test(error.message) ? "refused" : "unknown";
}

export function isCode(error: unknown, code: FaultCode): boolean {
  return error instanceof Fault && error.code === code;
}

/** The failure that an error means where nothing was written, or where it is not known. */
export function kubernetesFailure(
  error: unknown,
  kind: "not-committed" | "unknown" = "not-committed",
): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const advice = REMEDIES.find(([pattern]) => pattern.test(message))?.[1];
  return new StoreFailure(kind, advice === undefined ? message : `${advice} (${message})`, { cause: error });
}

/** How the objects of the ledger are reached. */
export interface LedgerAccess {
  /** Its calls have a time limit. */
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
}

/** A client whose calls end in time: a leader must know within its lease whether it can write. */
export function timedClient(client: KubeClient, clock: Clock, limitMs: number): KubeClient {
  const timed = async <T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const timeout = new AbortController();
    const message = `the API server gave no answer in ${Math.round(limitMs)} ms: is it overloaded?`;
    const cancel = clock.after(limitMs, () => timeout.abort(new Fault("unreachable", message)));
    try {
      return await call(timeout.signal);
    } finally {
      cancel();
    }
  };
  return {
    ...client,
    find: (resource, name) => timed((signal) => client.find(resource, name, { signal })),
    create: (resource, object) => timed((signal) => client.create(resource, object, { signal })),
    update: (resource, object) => timed((signal) => client.update(resource, object, { signal })),
    patch: (resource, change, options) =>
      timed((signal) => client.patch(resource, change, { ...options, signal })),
    delete: (resource, name) => timed((signal) => client.delete(resource, name, { signal })),
  };
}

/** Creates an object that has no version, and updates any other. Undefined: another writer was faster. */
export async function writeObject(client: KubeClient, object: ConfigMap): Promise<ConfigMap | undefined> {
  const isNew = object.metadata.resourceVersion === undefined;
  try {
    return await (isNew ? client.create(CONFIG_MAPS, object) : client.update(CONFIG_MAPS, object));
  } catch (error) {
    const hasNoNamespace = isNew && isCode(error, "not-found");
    if (writeFailureKind(error) !== "conflict" || hasNoNamespace) throw error;
    return undefined;
  }
}

const TRIES = 3;

/**
 * Writes an object of which `known` is the last known version; undefined if it does not exist. After a conflict, `next` is
 * called again with the current object. Returns the written object.
 */
export async function putObject(
  known: ConfigMap | undefined,
  next: (current: ConfigMap | undefined) => Promise<ConfigMap>,
  { client, namespace }: Pick<LedgerAccess, "client" | "namespace">,
): Promise<ConfigMap> {
  let current = known;
  for (let left = TRIES; ; left--) {
    const object = await next(current);
    const metadata = { ...current?.metadata, ...object.metadata };
    const written = await writeObject(client, { ...object, metadata });
    if (written !== undefined) return written;
    const { name } = metadata;
    if (left === 1) throw new Fault("conflict", `somebody keeps changing ConfigMap ${namespace}/${name}`);
    current = await client.find(CONFIG_MAPS, { name, namespace });
  }
}
