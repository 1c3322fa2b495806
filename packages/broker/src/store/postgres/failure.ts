import { type FailureKind, StoreFailure } from "../store.ts";

/** What a person can do about a code of PostgreSQL (five characters) or of the system. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "nobody listens there; start the database, or correct host and port"],
  ["ENOENT", "there is no such socket or file; correct host, or the paths of the certificates"],
  ["ENOTFOUND", "there is no host of that name; correct it"],
  ["EAI_AGAIN", "the name of the host cannot be looked up right now; check DNS"],
  ["EHOSTUNREACH", "the host cannot be reached; check the network"],
  ["ENETUNREACH", "the host cannot be reached; check the network"],
  ["ETIMEDOUT", "the host does not answer; check the network"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "its certificate is not trusted; name its authority with sslrootcert"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate is not trusted; name its authority with sslrootcert"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "its certificate is not trusted; name its authority with sslrootcert"],
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "its certificate is for another host; correct host, or use sslmode=verify-ca",
  ],
  ["28P01", "the password is wrong; set PGPASSWORD or the passfile"],
  ["28000", "this user may not connect like this; see the server's pg_hba.conf"],
  ["3D000", "there is no such database; create it: createdb"],
  ["42501", "the user may not do this; make it the owner of the database, or GRANT CREATE ON DATABASE to it"],
  ["25006", "it cannot be written; connect to the primary, not to a standby"],
  ["53100", "the disk of the database is full; free some space there"],
  ["53200", "the database is out of memory; give it more"],
  ["53300", "the database has too many connections; raise max_connections"],
  ["57014", "it took too long and was given up; the database is overloaded or locked"],
  ["57P01", "the database is being shut down"],
  ["57P02", "the database has crashed and recovers"],
  ["57P03", "the database is starting"],
  ["42P01", "a table of the ledger is gone; restore a backup"],
  ["42703", "a column of the ledger is gone; restore a backup"],
  ["XX001", "it is damaged; restore a backup"],
  ["XX002", "an index is damaged; run REINDEX, or restore a backup"],
]);

const CORRUPT = new Set(["42P01", "42703", "XX001", "XX002"]);
/** Messages of the client that come without a code. */
const MESSAGE_REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/client password must be a string/, "the server asks for a password; set PGPASSWORD or the passfile"],
  [
    /does not support SSL/,
    "the server has no TLS; turn it on there, or say sslmode=disable on a safe network",
  ],
];

/** The failure that an error means, with what a person can do about it. */
export function postgresFailure(error: unknown, displayName: string): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const message = messageOf(error);
  const code = codeOf(error);
  const kind: FailureKind = code !== undefined && CORRUPT.has(code) ? "corrupt" : "not-committed";
  const advice =
    (code && REMEDIES.get(code)) ?? MESSAGE_REMEDIES.find(([pattern]) => pattern.test(message))?.[1];
  const text = advice === undefined ? message : `${advice} (${message})`;
  return new StoreFailure(kind, `${displayName}: ${text}`, { cause: error });
}

/** True if the error is a reply of the database, so the statement has certainly failed. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && "severity" in error && codeOf(error) !== undefined;
}

/** Two transactions got in each other's way, and this one was undone: trying again is all it takes. */
export function isConflict(error: unknown): boolean {
  const code = isAnswer(error) ? codeOf(error) : undefined;
  return code !== undefined && code.startsWith("40") && code !== OUTCOME_UNKNOWN;
}

const OUTCOME_UNKNOWN = "40003";

export function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return error.errors.map(codeOf).find((code) => code !== undefined);
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** A host with several addresses fails with one error for each, and an empty message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
