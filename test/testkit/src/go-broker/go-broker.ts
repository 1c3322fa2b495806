import { type Clock, parseJson } from "@resource-broker/base";
import type { ReservationDTO } from "@resource-broker/contract";
import {
  type FakeBroker,
  type FakeBrokerOptions,
  type ReceivedCall,
  startFakeBroker,
} from "../broker/fake-broker.ts";
import { createGoLedger, type GoLedger, type GoReply, json } from "./go-ledger.ts";

export interface GoBrokerOptions extends Pick<FakeBrokerOptions, "credentials" | "whenDone"> {
  readonly clock: Pick<Clock, "wallMs">;
  /** True: as its first releases, which cannot be asked about one reservation by its name. */
  readonly isFirstRelease?: boolean;
}

/**
 * Behaves towards agents as the Go broker did: fewer calls, an empty list as null, errors without codes or as plain
 * text, no look at keys or at anything but cpu, memory and duration, none of the newer headers. A cluster lends only
 * seconds after its first advertisement, a reservation is locked twice and becomes Released after its time.
 */
export interface GoBroker extends Omit<FakeBroker, "script"> {
  readonly reservations: () => readonly ReservationDTO[];
}

export async function startGoBroker(options: GoBrokerOptions): Promise<GoBroker> {
  const { credentials, whenDone, clock, isFirstRelease = false } = options;
  const ledger = createGoLedger(clock.wallMs);
  const routes = isFirstRelease ? ROUTES.filter(({ reply }) => reply !== readReservation) : ROUTES;
  const script: FakeBrokerOptions["script"] = (response, received) => {
    const { status, type, content } = answer(received, routes, ledger);
    response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(content) });
    response.end(content);
  };
  const broker = await startFakeBroker({ credentials, whenDone, script, health: script });
  return { ...broker, reservations: ledger.reservations };
}

interface GoCall {
  readonly clusterId: string;
  /** Undefined: it is no JSON. */
  readonly body: unknown;
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
  const { clusterId, method } = received;
  const [path = ""] = received.url.split("?");
  const known = routes.filter((route) => route.path.test(path));
  const isList = method === "GET" && path === "/api/v1/reservations";
  if (known.length === 0 || isList) return text(404, "404 page not found\n");
  const route = known.find((each) => each.method === method);
  if (route === undefined) return text(405, "Method Not Allowed\n");
  const name = route.path.exec(path)?.[1] ?? "";
  return route.reply(ledger, { clusterId, body: parseJson(received.body), name });
}

function advertise(ledger: GoLedger, { clusterId, body }: GoCall): GoReply {
  if ((body as { clusterID?: unknown } | undefined)?.clusterID !== clusterId) {
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
