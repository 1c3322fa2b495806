import { Fault, type FaultCode } from "@resource-broker/base";
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
/** Of kinds that a PUT may create, such as Lease, this comes instead of "not found", and as 500. */
const IS_GONE = /resourceVersion should not be set on objects to be created/;

/** What is known of a write that did not succeed. */
export type WriteFailureKind = "conflict" | "refused" | "unknown";

export function writeFailureKind(error: unknown): WriteFailureKind {
  if (!(error instanceof Fault)) return "unknown";
  if (OVERTAKEN.has(error.code) || IS_GONE.test(error.message)) return "conflict";
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
