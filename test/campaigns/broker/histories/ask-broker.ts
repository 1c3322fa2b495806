import { setTimeout as sleep } from "node:timers/promises";
import { parseAmount } from "@resource-broker/base";
import { isReserved, queuePages } from "@resource-broker/client";
import { advertisementSchema, errorSchema, PATH, queuePageSchema, validate } from "@resource-broker/contract";
import { isFinal, isLive } from "@resource-broker/domain";
import type {
  BrokerClient,
  BrokerReply,
  HistoryAnswer,
  HistoryCall,
  SeededRandom,
} from "@resource-broker/testkit";
import { reservationOrWaitingIn } from "../read-reply.ts";

const LONGEST_REST_MS = 1200;
/** Shorter than a broker needs to come back: some calls are never answered. */
const TIMEOUT_MS = 1500;
/** Longer than any history: nobody times out. */
const WAIT = { for: "1h" };

export interface AskBrokerDeps {
  readonly client: BrokerClient;
  /** May read what is free at the provider. */
  readonly admin: BrokerClient;
  readonly random: SeededRandom;
  readonly problems: string[];
}

/** Makes a call of a history over the API, and reads what was told. */
export async function askBroker(deps: AskBrokerDeps, call: HistoryCall): Promise<HistoryAnswer | undefined> {
  let reply: BrokerReply;
  try {
    reply = await send(deps, call);
  } catch {
    // Too many calls that nobody answered explain anything.
    await sleep(deps.random.below(LONGEST_REST_MS));
    return undefined;
  }
  // Too busy, too often, or not leading: said so, and nothing happened.
  if (reply.status === 429 || reply.status === 503) return { result: "nothing happened" };
  const { kind } = call.operation;
  const answer = READ[kind](reply);
  if (answer === undefined) deps.problems.push(`${kind}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return answer;
}

function send(
  { client, admin }: AskBrokerDeps,
  { provider, operation, id }: HistoryCall,
): Promise<BrokerReply> {
  const timeoutMs = TIMEOUT_MS;
  switch (operation.kind) {
    case "reserve": {
      const requestedResources = { cpu: String(operation.cpu), memory: "1" };
      const body = {
        requestedResources,
        targetClusterID: provider,
        ...(operation.wait === true ? { wait: WAIT } : {}),
      };
      return client.request("POST", PATH.reservations, { key: operation.key, body, timeoutMs });
    }
    case "release":
      return client.request("DELETE", PATH.reservation(id), { timeoutMs });
    case "read":
      return client.request("GET", PATH.reservation(id), { timeoutMs });
    case "read-free":
      return admin.request("GET", PATH.advertisement(provider), { timeoutMs });
    case "read-queue":
      return client.request("GET", queuePages().path, { timeoutMs });
  }
}

function freeIn({ body }: BrokerReply): HistoryAnswer | undefined {
  const read = validate(advertisementSchema, body);
  if (!read.ok) return undefined;
  const free = parseAmount(read.value.resources.available.cpu, { unit: "milli", rounding: "down" });
  return free.ok ? { result: { kind: "free", cpu: free.amount / 1000 } } : undefined;
}

function queueIn({ body }: BrokerReply): HistoryAnswer | undefined {
  const read = validate(queuePageSchema, body);
  if (!read.ok) return undefined;
  return { result: { kind: "queue", keys: read.value.items.map(({ key = "" }) => key) } };
}

function stateIn({ body }: BrokerReply): HistoryAnswer | undefined {
  const error = validate(errorSchema, body);
  if (error.ok) return ERRORS[error.value.code ?? "internal"];
  const found = reservationOrWaitingIn(body);
  if (found === undefined) return undefined;
  const { id, status } = found;
  if (isReserved(found)) return { id, result: { kind: isLive(status.phase) ? "live" : "ended" } };
  return { id, result: { kind: isFinal(status.phase) ? "left" : "waiting" } };
}

const ERRORS: Partial<Record<string, HistoryAnswer>> = {
  "no-capacity": { result: { kind: "refused" } },
  "not-found": { result: { kind: "absent" } },
  "key-released": { result: { kind: "closed" } },
};

const READ: Readonly<
  Record<HistoryCall["operation"]["kind"], (reply: BrokerReply) => HistoryAnswer | undefined>
> = {
  reserve: stateIn,
  release: stateIn,
  read: stateIn,
  "read-free": freeIn,
  "read-queue": queueIn,
};
