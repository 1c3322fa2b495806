import { encodeList, type JsonObject } from "@resource-broker/kube-sim";
import { makeNode } from "../cluster/node.ts";
import { makePod } from "../cluster/pod.ts";
import { type ClusterSize, type Encoding, FIRST_VERSION } from "../messages.ts";

/** What a follower asks for at once. */
export const PAGE_SIZE = 500;

export type Kind = "Pod" | "Node";

/** All pages of a list, ready to be sent: what is measured is the client, not this. */
export function makePages(kind: Kind, size: ClusterSize, encoding: Encoding): readonly Uint8Array[] {
  const count = kind === "Pod" ? size.pods : size.nodes;
  const pages: Uint8Array[] = [];
  for (let from = 0; from < count; from += PAGE_SIZE) {
    const to = Math.min(from + PAGE_SIZE, count);
    const items = Array.from({ length: to - from }, (_, index) => makeObject(kind, from + index, size));
    const next = to < count ? { continue: String(pages.length + 1), remainingItemCount: count - to } : {};
    pages.push(encodePage(kind, items, { encoding, next }));
  }
  return pages;
}

function makeObject(kind: Kind, index: number, { nodes }: ClusterSize): JsonObject {
  const version = FIRST_VERSION + index;
  return kind === "Pod" ? makePod(index, { nodes, version }) : makeNode(index, version);
}

interface Page {
  readonly encoding: Encoding;
  readonly next: { readonly continue?: string; readonly remainingItemCount?: number };
}

function encodePage(kind: Kind, items: readonly JsonObject[], { encoding, next }: Page): Uint8Array {
  const metadata = { resourceVersion: String(2 * FIRST_VERSION), ...next };
  if (encoding === "protobuf") return Buffer.concat(encodeList(kind, items, metadata));
  return Buffer.from(JSON.stringify({ apiVersion: "v1", kind: `${kind}List`, metadata, items }));
}
