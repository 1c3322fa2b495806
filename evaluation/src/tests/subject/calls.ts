import { setTimeout as sleep } from "node:timers/promises";
import { formatTime } from "@resource-broker/base";
import { type AdvertisementDTO, PATH, type ReservationRequestDTO } from "@resource-broker/contract";
import {
  advertiseText,
  type Connection,
  deleteText,
  getText,
  type Reply,
  reserveText,
} from "../../measure/load/connection.ts";

/** What a broker answered to a request for a reservation. */
export interface Answer {
  readonly status: number;
  readonly tookMs: number;
  /** Of a grant. */
  readonly id?: string;
  readonly provider?: string;
  /** Of a refusal: each cluster that was passed over, and why. Brokers before ours say nothing of the kind. */
  readonly reasons?: readonly { readonly clusterID: string; readonly reason: string }[];
}

/** A request that nobody answered in time counts as one with this status. */
export const NO_ANSWER = 0;
const TIMEOUT_MS = 10_000;

/** An agent that is answered 500 advertises again, and some brokers answer so whenever two writes of theirs meet. */
const ADVERTISE_TRIES = 20;
const BETWEEN_TRIES_MS = 250;

export async function advertise(connection: Connection, advertisement: AdvertisementDTO): Promise<void> {
  for (let left = ADVERTISE_TRIES - 1; ; left--) {
    const { status, body } = await connection.send(advertiseText(advertisement));
    if (status === 200) return;
    if (status < 500 || left === 0)
      throw new Error(`${connection.clusterId} cannot advertise: ${status} ${body.toString("utf8")}`);
    await sleep(BETWEEN_TRIES_MS);
  }
}

export async function reserve(
  connection: Connection,
  request: ReservationRequestDTO,
  key?: string,
): Promise<Answer> {
  return answerOf(await sendTimed(connection, reserveText(request, key)));
}

/** A reply, unread, and how long it took; absent: there was none in time, or the connection broke. */
export interface Timed {
  readonly tookMs: number;
  readonly reply: Reply | undefined;
}

/** For those who ask a thousand at a time: reading one reply would make the others wait. */
export async function sendTimed(connection: Connection, text: string): Promise<Timed> {
  const beganAt = performance.now();
  const reply = await inTime(connection.send(text));
  return { tookMs: performance.now() - beganAt, reply };
}

export function answerOf({ tookMs, reply }: Timed): Answer {
  return { tookMs, ...answerFrom(reply) };
}

export async function release(connection: Connection, id: string): Promise<void> {
  const { status } = await connection.send(deleteText(PATH.reservation(id)));
  if (status !== 200) throw new Error(`${id} cannot be released: ${status}`);
}

export async function read(connection: Connection, path: string): Promise<unknown> {
  const { status, body } = await connection.send(getText(path));
  if (status !== 200) throw new Error(`GET ${path}: ${status}`);
  return JSON.parse(body.toString("utf8"));
}

/** Undefined: no answer, or the connection broke. */
async function inTime(reply: Promise<Reply>): Promise<Reply | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, TIMEOUT_MS, undefined);
  });
  try {
    return await Promise.race([reply.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

export function answerFrom(reply: Reply | undefined): Omit<Answer, "tookMs"> {
  if (reply === undefined) return { status: NO_ANSWER };
  const { status } = reply;
  const body = objectIn(reply.body.toString("utf8"));
  const { id, targetClusterID, reasons } = body;
  return {
    status,
    ...(typeof id === "string" ? { id } : {}),
    ...(typeof targetClusterID === "string" ? { provider: targetClusterID } : {}),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- brokers that send reasons send these
    ...(Array.isArray(reasons) ? { reasons: reasons as NonNullable<Answer["reasons"]> } : {}),
  };
}

/** Errors of older brokers may be plain text. */
function objectIn(
  text: string,
): Record<string, unknown> & Partial<Record<"id" | "targetClusterID" | "reasons", unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Amounts that are asked for or lent. */
export interface Amounts {
  readonly cpuMillis: number;
  readonly memoryMi: number;
}

/** What most requests ask for, and a provider that never runs out of it. */
export const SMALL: Amounts = { cpuMillis: 500, memoryMi: 256 };
export const LARGE: Amounts = { cpuMillis: 4_000_000, memoryMi: 4_000_000 };

/** Advertises an empty cluster of this size. */
export function advertiseSize(connection: Connection, size: Amounts = LARGE): Promise<void> {
  return advertise(connection, advertisementFor(connection.clusterId, size));
}

/** What the agent of an empty cluster of this size posts; only what every broker of this kind reads. */
export function advertisementFor(clusterID: string, size: Amounts): AdvertisementDTO {
  const all = quantities(size);
  const none = { cpu: "0", memory: "0" };
  return {
    clusterID,
    clusterName: "cluster-advertisement",
    resources: { capacity: all, allocatable: all, allocated: none, available: all },
    timestamp: formatTime(Math.round(performance.timeOrigin + performance.now())),
  };
}

export function requestFor(wanted: Amounts): ReservationRequestDTO {
  return { requestedResources: quantities(wanted) };
}

export function quantities({ cpuMillis, memoryMi }: Amounts): {
  readonly cpu: string;
  readonly memory: string;
} {
  return { cpu: `${cpuMillis}m`, memory: `${memoryMi}Mi` };
}
