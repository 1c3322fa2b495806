import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { json as readJson } from "node:stream/consumers";
import { TLSSocket } from "node:tls";
import type { Clock } from "@resource-broker/base";
import type { ReservationDTO } from "@resource-broker/contract";
import type { Credentials } from "../certificates/test-certificates.ts";
import { createGoLedger, type GoLedger, type GoReply, json } from "./go-ledger.ts";

const HOST = "127.0.0.1";

export interface GoBrokerOptions {
  readonly credentials: Pick<Credentials, "cert" | "key" | "ca">;
  readonly clock: Pick<Clock, "wallMs">;
  /** True: as its first releases, which cannot be asked about one reservation by its name. */
  readonly isFirstRelease?: boolean;
}

/** What a client sent; `call` is method and address: `POST /api/v1/reservations`. */
export interface ReceivedCall {
  readonly clusterId: string;
  readonly call: string;
  readonly body: unknown;
}

/**
 * Behaves towards agents as the Go broker did: fewer calls, an empty list as null, errors without codes or as plain
 * text, no look at keys or at anything but cpu, memory and duration, none of the newer headers. A cluster lends only
 * seconds after its first advertisement, a reservation is locked twice and becomes Released after its time.
 */
export interface GoBroker {
  readonly port: number;
  readonly url: string;
  /** Everything that was asked, in order. */
  readonly received: readonly ReceivedCall[];
  readonly reservations: () => readonly ReservationDTO[];
  readonly close: () => Promise<void>;
}

export async function startGoBroker(options: GoBrokerOptions): Promise<GoBroker> {
  const { credentials, clock, isFirstRelease = false } = options;
  const ledger = createGoLedger(clock.wallMs);
  const routes = isFirstRelease ? ROUTES.filter(({ reply }) => reply !== readReservation) : ROUTES;
  const received: ReceivedCall[] = [];
  const { cert, key, ca } = credentials;
  // As Go's RequireAndVerifyClientCert: without a right certificate there is no HTTP at all.
  const server = createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: true });
  // Go's server closes no connection for being idle.
  server.keepAliveTimeout = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body: unknown = await readJson(request).catch(() => null);
    const call = { clusterId: commonName(request), call: `${request.method} ${request.url}`, body };
    received.push(call);
    const { status, type, content } = answer(call, routes, ledger);
    response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(content) });
    response.end(content);
  };
  server.on("request", (request, response) => void serve(request, response));
  server.listen(0, HOST);
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    port,
    url: `https://${HOST}:${port}`,
    received,
    reservations: ledger.reservations,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function commonName({ socket }: IncomingMessage): string {
  const name: unknown = socket instanceof TLSSocket ? socket.getPeerCertificate().subject.CN : undefined;
  return typeof name === "string" ? name : "";
}

interface GoCall extends ReceivedCall {
  /** The last part of the address, where it names something. */
  readonly name: string;
}

interface GoRoute {
  readonly method: string;
  readonly path: RegExp;
  readonly reply: (ledger: GoLedger, call: GoCall) => GoReply;
}

const ROUTES: readonly GoRoute[] = [
  { method: "GET", path: /^\/healthz$/, reply: () => text(200, "ok") },
  { method: "POST", path: /^\/api\/v1\/advertisements$/, reply: advertise },
  { method: "GET", path: /^\/api\/v1\/advertisements\/([^/]+)$/, reply: readAdvertisement },
  {
    method: "POST",
    path: /^\/api\/v1\/reservations$/,
    reply: (ledger, { clusterId, body }) => ledger.reserve(clusterId, body),
  },
  { method: "GET", path: /^\/api\/v1\/reservations\/([^/]+)$/, reply: readReservation },
  {
    method: "GET",
    path: /^\/api\/v1\/instructions$/,
    reply: (ledger, { clusterId }) => json(200, instructionsFor(ledger, clusterId)),
  },
];

function answer(received: ReceivedCall, routes: readonly GoRoute[], ledger: GoLedger): GoReply {
  const [method = "", url = ""] = received.call.split(" ");
  const [path = ""] = url.split("?");
  const known = routes.filter((route) => route.path.test(path));
  const isList = method === "GET" && path === "/api/v1/reservations";
  if (known.length === 0 || isList) return text(404, "404 page not found\n");
  const route = known.find((each) => each.method === method);
  if (route === undefined) return text(405, "Method Not Allowed\n");
  return route.reply(ledger, { ...received, name: route.path.exec(path)?.[1] ?? "" });
}

function advertise(ledger: GoLedger, { clusterId, body }: GoCall): GoReply {
  if ((body as { clusterID?: unknown } | null)?.clusterID !== clusterId) {
    return text(403, "Cluster ID does not match certificate\n");
  }
  const advertisement = ledger.advertise(body);
  if (advertisement === undefined) return text(500, "Failed to process advertisement\n");
  return json(200, { advertisement, providerInstructions: instructionsFor(ledger, clusterId) });
}

function readAdvertisement(ledger: GoLedger, { name }: GoCall): GoReply {
  const advertisement = ledger.advertisement(name);
  return advertisement === undefined ? text(404, "Advertisement not found\n") : json(200, advertisement);
}

function readReservation(ledger: GoLedger, { name }: GoCall): GoReply {
  const found = ledger.reservations().find(({ id }) => id === name);
  return found === undefined ? json(404, { error: "Reservation not found" }) : json(200, found);
}

/** Only what is Reserved. Go writes a list without elements as null. */
function instructionsFor(ledger: GoLedger, clusterId: string): readonly ReservationDTO[] | null {
  const mine = ledger
    .reservations()
    .filter(({ targetClusterID, status }) => targetClusterID === clusterId && status.phase === "Reserved");
  return mine.length === 0 ? null : mine;
}

function text(status: number, content: string): GoReply {
  return { status, type: "text/plain; charset=utf-8", content };
}
