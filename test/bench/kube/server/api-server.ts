/** A process that serves the imagined cluster's nodes and pods, as lists and watches and in one encoding. */
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import { encodeWatchFrame, type JsonObject } from "@resource-broker/kube-sim";
import { makePod } from "../cluster/pod.ts";
import {
  type ClusterSize,
  type Command,
  type Encoding,
  FIRST_VERSION,
  onCommand,
  sendReply,
} from "../messages.ts";
import { type Kind, makePages, PAGE_SIZE } from "./pages.ts";

const CHANGES_PER_DEPARTURE = 10;

/** The changes of a busy cluster: most pods only report, now and then one goes and another comes. */
function changeMaker(size: ClusterSize, encoding: Encoding): () => Uint8Array {
  let count = 0;
  return () => {
    count += 1;
    const step = count % CHANGES_PER_DEPARTURE;
    const departures = Math.floor(count / CHANGES_PER_DEPARTURE);
    const version = 2 * FIRST_VERSION + count;
    const pod = (index: number): JsonObject => makePod(index, { nodes: size.nodes, version });
    if (step === 0) return encode("DELETED", pod(departures % size.pods), encoding);
    if (step === 1) return encode("ADDED", pod(size.pods + departures), encoding);
    return encode("MODIFIED", pod((count * 7919) % size.pods), encoding);
  };
}

function encode(type: "ADDED" | "MODIFIED" | "DELETED", object: JsonObject, encoding: Encoding): Uint8Array {
  if (encoding === "protobuf") return encodeWatchFrame(type, object);
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const MEDIA_TYPES = {
  protobuf: { list: PROTOBUF, watch: `${PROTOBUF};stream=watch` },
  json: { list: "application/json", watch: "application/json" },
};
const KINDS = new Map<string, Kind>([
  ["/api/v1/pods", "Pod"],
  ["/api/v1/nodes", "Node"],
]);
const TICK_MS = 5;

const podWatches = new Set<ServerResponse>();
let nextChange: () => Uint8Array;
let sent = 0;
let ticking: NodeJS.Timeout | undefined;

onCommand((command) => {
  if (command.kind === "serve") serve(command);
  else if (command.kind === "change") beginChanges(command.perSecond);
  else if (command.kind === "rest") {
    clearInterval(ticking);
    sendReply("resting", { sent });
  }
});

function serve({ size, encoding, tls }: Extract<Command, { kind: "serve" }>): void {
  nextChange = changeMaker(size, encoding);
  const pages = pagesOf(size, encoding);
  const types = MEDIA_TYPES[encoding];
  const server = createServer({ ...tls, requestCert: true }, (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "https://localhost");
    const kind = KINDS.get(pathname);
    if (kind === undefined) response.writeHead(404).end();
    else if (query.get("watch") === "true") beginWatch(kind, response.setHeader("content-type", types.watch));
    else sendPage(pages[kind], query, response.setHeader("content-type", types.list));
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    sendReply("listening", { port, podBytes: pages.Pod.reduce((sum, page) => sum + page.length, 0) });
  });
}

type Pages = readonly Uint8Array[];

function pagesOf(size: ClusterSize, encoding: Encoding): Readonly<Record<Kind, Pages>> {
  return { Pod: makePages("Pod", size, encoding), Node: makePages("Node", size, encoding) };
}

function sendPage(pages: Pages, query: URLSearchParams, response: ServerResponse): void {
  const page = pages[Number(query.get("continue") ?? 0)];
  // The pages are ready made, so nothing but their size can be served.
  if (page === undefined || query.get("limit") !== String(PAGE_SIZE)) response.writeHead(400).end();
  else response.writeHead(200, { "content-length": page.length }).end(page);
}

function beginWatch(kind: Kind, response: ServerResponse): void {
  response.writeHead(200).flushHeaders();
  if (kind === "Pod") podWatches.add(response);
}

/** One by one, evenly: a client that is woken for each change has the most work with it. */
function beginChanges(perSecond: number): void {
  const beganAt = performance.now();
  const before = sent;
  ticking = setInterval(() => {
    const due = before + ((performance.now() - beganAt) * perSecond) / 1000;
    while (sent < due) sendChange();
  }, TICK_MS);
}

function sendChange(): void {
  sent += 1;
  const frame = nextChange();
  for (const watch of podWatches) watch.write(frame);
}
