import { Fault } from "@resource-broker/contract";
import { isRecord } from "../config/entry.ts";
import type { ListPage } from "../protobuf/list-page.ts";

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
