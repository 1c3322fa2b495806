import { badRequest } from "./statuses.ts";

/** Where a paged list goes on. */
export interface ContinueToken {
  /** -1: at whatever version is newest, because the first page's is forgotten. */
  readonly version: number;
  readonly lastKey: string;
}

const FORMAT = "meta.k8s.io/v1";
export const NEWEST = -1;

export function writeToken({ version, lastKey }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: FORMAT, rv: version, start: lastKey })).toString("base64url");
}

export function readToken(text: string): ContinueToken {
  const token = parsed(text);
  if (token === undefined) throw badRequest("continue key is not valid: it was not made by this server");
  const { v: format, rv: version, start: lastKey } = token;
  if (format !== FORMAT) {
    throw badRequest("continue key is not valid: server does not recognize this encoded version");
  }
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < NEWEST || version === 0) {
    throw badRequest(
      "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    );
  }
  if (typeof lastKey !== "string" || lastKey === "") {
    throw badRequest("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  }
  return { version, lastKey };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
