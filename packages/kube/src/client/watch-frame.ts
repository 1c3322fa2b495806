import { Fault } from "@resource-broker/contract";
import { isRecord } from "../config/entry.ts";
import type { WatchFrame } from "../protobuf/watch-frames.ts";
import { toStatus } from "../status/status.ts";

/** One line of a watch in JSON. */
export function toWatchFrame<T>(value: unknown): WatchFrame<T> {
  const [type, object] = isRecord(value) ? [value["type"], value["object"]] : [];
  if (type === "ERROR") return { type, status: toStatus(object) ?? { message: "the watch failed" } };
  const resourceVersion = versionOf(object);
  if (type === "BOOKMARK") return { type, resourceVersion };
  if ((type === "ADDED" || type === "MODIFIED" || type === "DELETED") && isRecord(object)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the resource says what its server sends
    return { type, object: object as T, resourceVersion };
  }
  throw new Fault("malformed", `the API server sent an unknown watch event: ${String(type)}`);
}

function versionOf(object: unknown): string {
  const metadata = isRecord(object) ? object["metadata"] : undefined;
  const version = isRecord(metadata) ? metadata["resourceVersion"] : undefined;
  return typeof version === "string" ? version : "";
}
