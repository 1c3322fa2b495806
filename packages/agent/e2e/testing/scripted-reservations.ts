import type { ServerResponse } from "node:http";
import { formatTime } from "@resource-broker/base";
import { CURRENT, type Received, reply, type Script, scriptedBroker } from "@resource-broker/client/testing";
import { PATH, type ReservationDTO } from "@resource-broker/contract";
import { type Credentials, until } from "@resource-broker/testkit";

/** A broker that says what a test wants it to say, over mTLS. It ends with the test. */
export interface ScriptedReservations {
  readonly url: string;
  /** How the next request for a reservation is answered; those after it are granted. */
  readonly answerNext: (script: Script) => void;
  /** The Idempotency-Keys that reservations were asked with, in order. */
  readonly keys: () => readonly (string | undefined)[];
  /** Resolves when there is somebody to tell something. */
  readonly connected: () => Promise<void>;
  /** Says this on the stream of instructions. */
  readonly send: (event: "instruction" | "reservation", reservation: ReservationDTO) => void;
  /** The reservations that were acknowledged, in order. */
  readonly acknowledged: () => readonly string[];
}

export async function standIn(credentials: Credentials): Promise<ScriptedReservations> {
  const streams = new Set<ServerResponse>();
  const granted = new Map<string, ReservationDTO>();
  /** The newest generation of each. */
  const received = new Map<string, ReservationDTO>();
  let next: Script | undefined;

  const answer = (response: ServerResponse, status: number, body: unknown): void =>
    reply(status, body)(response, NOTHING);
  const keep = (reservation: ReservationDTO): ReservationDTO => {
    granted.set(reservation.id, reservation);
    return reservation;
  };
  const grant: Script = (response, { headers }) => {
    const key = String(headers["idempotency-key"]);
    const id = `rsv-rome-${key.slice(0, 8)}`;
    answer(response, 201, granted.get(id) ?? keep(reservationOf(id, "paris", { key })));
  };
  const change =
    (to: Required<Omit<ReservationChanges, "key">>): Script =>
    (response, { url }) => {
      const now = granted.get(url.split("/")[4] ?? "");
      if (now?.key === undefined) answer(response, 404, { error: "no such reservation", code: "not-found" });
      else answer(response, 200, keep(reservationOf(now.id, now.targetClusterID, { ...to, key: now.key })));
    };
  const answers: Readonly<Record<string, Script>> = {
    "POST /api/v1/advertisements": (response, { body }) =>
      answer(response, 200, { advertisement: JSON.parse(body) as unknown }),
    "POST /api/v1/reservations": (response, received) => {
      const script = next ?? grant;
      next = undefined;
      script(response, received);
    },
    "POST /api/v1/reservations/*/activate": change({ phase: "Active", generation: 2 }),
    "DELETE /api/v1/reservations/*": change({ phase: "Released", generation: 3 }),
    "GET /api/v1/reservations": reply(200, []),
    // An agent asks for what it was told and does not find in the list.
    "GET /api/v1/reservations/*": (response, { url }) => {
      const known = received.get(url.split("/")[4] ?? "");
      if (known === undefined) answer(response, 404, { error: "no such reservation", code: "not-found" });
      else answer(response, 200, known);
    },
    "POST /api/v1/instructions/*/ack": reply(200, {}),
    "GET /api/v1/instructions": (response) => {
      response.writeHead(200, { ...CURRENT, "Content-Type": "text/event-stream" });
      response.write(": alive\n\n");
      streams.add(response);
    },
  };
  const broker = await scriptedBroker(credentials, (response, received) => {
    const [path = ""] = received.url.split("?");
    const name = path.replace(/^(\/api\/v1\/[a-z]+\/)[^/]+/, "$1*");
    const script = answers[`${received.method} ${name}`];
    if (script === undefined) answer(response, 404, { error: "no such thing", code: "not-found" });
    else script(response, received);
  });
  const calls = (path: RegExp) =>
    broker.received.filter(({ method, url }) => method === "POST" && path.test(url));
  return {
    url: broker.url,
    answerNext: (script) => {
      next = script;
    },
    keys: () =>
      calls(new RegExp(`^${PATH.reservations}$`)).map(({ headers }) =>
        headers["idempotency-key"]?.toString(),
      ),
    connected: async () => {
      await until("the agent listens", async () => streams.size > 0 || undefined);
    },
    send: (event, reservation) => {
      const before = received.get(reservation.id)?.generation ?? 0;
      if ((reservation.generation ?? 0) >= before) received.set(reservation.id, reservation);
      for (const stream of streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(reservation)}\n\n`);
    },
    acknowledged: () => calls(/\/ack$/).map(({ url }) => url.split("/")[4] ?? ""),
  };
}

const NOTHING: Received = { method: "", url: "", headers: {}, rawHeaders: [], body: "" };

interface ReservationChanges {
  readonly phase?: ReservationDTO["status"]["phase"];
  readonly generation?: number;
  readonly key?: string;
}

/** 4 CPU and 8Gi that a cluster lends to rome. */
export function reservationOf(
  id: string,
  provider: string,
  changes: ReservationChanges = {},
): ReservationDTO {
  const { phase = "Reserved", generation = 1, key } = changes;
  return {
    id,
    requesterID: "rome",
    targetClusterID: provider,
    requestedResources: { cpu: "4", memory: "8Gi" },
    status: { phase, message: `Use ${provider} for 4 CPU / 8Gi Memory`, reservedAt: formatTime(0) },
    createdAt: formatTime(0),
    generation,
    ...(phase === "Released" ? { reason: "ReleasedByRequester" as const } : {}),
    ...(key === undefined ? {} : { key }),
  };
}
