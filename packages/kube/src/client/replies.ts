import { Fault, isRecord } from "@resource-broker/base";
import type { HttpReply, StreamReply, WholeReply } from "../http/http-client.ts";
import type { ListPage } from "../protobuf/list-page.ts";
import type { Resource } from "../resource/resource.ts";
import { statusFault, statusOf, type Target } from "../status/status-fault.ts";

export const JSON_TYPE = "application/json";
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";

/** Milliseconds: how long a call, and a page of a list, may take. */
export const CALL_TIMEOUT_MS = 30_000;
export const PAGE_TIMEOUT_MS = 60_000;

export function isProtobuf({ type }: HttpReply): boolean {
  return type.startsWith(PROTOBUF_TYPE);
}

export function isWhole(reply: WholeReply | StreamReply): reply is WholeReply {
  return "body" in reply;
}

export function isSuccess({ status }: HttpReply): boolean {
  return status >= 200 && status < 300;
}

export function refusalOf(reply: WholeReply, target: Target): Fault {
  const { status: httpStatus, retryAfterMs } = reply;
  return statusFault(
    { httpStatus, status: statusOf(reply), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    target,
  );
}

/** Chooses the encoding per resource; remembers resources that the server does not serve as protobuf. */
export interface Formats {
  /** Requests protobuf where possible, and JSON when the server refuses it. */
  readonly negotiate: <R extends WholeReply | StreamReply>(
    resource: Resource<unknown>,
    ask: (accept: string) => Promise<R>,
  ) => Promise<R>;
}

export function formats(): Formats {
  const jsonOnly = new Set<string>();
  return {
    negotiate: async (resource, ask) => {
      const key = `${resource.group}/${resource.plural}`;
      if (resource.protobuf === undefined || jsonOnly.has(key)) return ask(JSON_TYPE);
      const reply = await ask(`${PROTOBUF_TYPE},${JSON_TYPE}`);
      if (reply.status !== 406 && reply.status !== 415) return reply;
      jsonOnly.add(key);
      return ask(JSON_TYPE);
    },
  };
}

/** `?a=1&b=2`, or nothing; what is undefined is left out. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const stated = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  if (stated.length === 0) return "";
  return `?${stated.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&")}`;
}

/** Reads one page of a list in JSON and hands over its items. */
export function readJsonPage<T>(body: Buffer, each: (item: T) => void): ListPage {
  const page = parseJsonBody(body);
  const items = isRecord(page) ? (page["items"] ?? []) : undefined;
  if (!isRecord(page) || !Array.isArray(items)) {
    throw new Fault("malformed", "the API server sent something that is not a list");
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the resource says what its server sends
  for (const item of items) each(item as T);
  const metadata = isRecord(page["metadata"]) ? page["metadata"] : {};
  return {
    resourceVersion: textOf(metadata["resourceVersion"]),
    continue: textOf(metadata["continue"]),
    count: items.length,
  };
}

export function parseJsonBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (error) {
    throw new Fault("malformed", "the API server sent something that is not JSON: is there a proxy?", {
      cause: error,
    });
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
