import { setTimeout as sleep } from "node:timers/promises";
import { parseAmount } from "@resource-broker/base";
import { advertisementSchema, PATH, reservationSchema, validate } from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import type {
  BrokerClient,
  BrokerReply,
  HistoryAnswer,
  HistoryCall,
  SeededRandom,
} from "@resource-broker/testkit";

const LONGEST_REST_MS = 1200;
/** Shorter than a broker needs to come back: some calls are never answered. */
const TIMEOUT_MS = 1500;

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
  const answer = kind === "read-free" ? freeIn(reply) : stateIn(reply);
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
      const body = { requestedResources, targetClusterID: provider };
      return client.request("POST", PATH.reservations, { key: operation.key, body, timeoutMs });
    }
    case "release":
      return client.request("DELETE", PATH.reservation(id), { timeoutMs });
    case "read":
      return client.request("GET", PATH.reservation(id), { timeoutMs });
    case "read-free":
      return admin.request("GET", PATH.advertisement(provider), { timeoutMs });
  }
}

function freeIn({ body }: BrokerReply): HistoryAnswer | undefined {
  const read = validate(advertisementSchema, body);
  if (!read.ok) return undefined;
  const free = parseAmount(read.value.resources.available.cpu, { unit: "milli", rounding: "down" });
  return free.ok ? { result: { kind: "free", cpu: free.amount / 1000 } } : undefined;
}

function stateIn({ status, body }: BrokerReply): HistoryAnswer | undefined {
  if (status === 409) return { result: { kind: "refused" } };
  if (status === 404) return { result: { kind: "absent" } };
  const read = validate(reservationSchema, body);
  if (!read.ok) return undefined;
  return { id: read.value.id, result: { kind: isLive(read.value.status.phase) ? "live" : "ended" } };
}
