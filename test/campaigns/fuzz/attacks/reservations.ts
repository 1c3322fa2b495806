import type { SeededRandom } from "@resource-broker/testkit";
import { isAccepted, wrongGrant, wrongReply } from "../check-reply.ts";
import { quantityText } from "../corpus.ts";
import {
  type Attack,
  type FuzzEnvironment,
  JSON_HEADERS,
  type RawRequest,
  type Reply,
} from "../environment.ts";
import { thousandths } from "../exact-quantity.ts";

const KEYS = 100;
/** The most that the ledger counts, in thousandths: of a CPU, and of a byte. */
const MOST = { cpu: 2n ** 53n - 1n, memory: (2n ** 53n - 1n) * 1000n };

/** Requests that are right but for their amounts. */
export const quantities: Attack = {
  name: "quantities",
  weight: 20,
  run: async (env, random) => {
    const attacker = env.anyone(random);
    const cpu = random.chance(0.5) ? quantityText(random) : "100m";
    const memory = random.chance(0.5) ? quantityText(random) : "1Mi";
    const value = { requestedResources: { cpu, memory } };
    const rawRequest = {
      method: "POST",
      path: "/api/v1/reservations",
      headers: { ...JSON_HEADERS, "Idempotency-Key": `quantity-${random.below(KEYS)}` },
      body: JSON.stringify(value),
    };
    const reply = await attacker.send(rawRequest);
    const isRight = isAmount(cpu, MOST.cpu) && isAmount(memory, MOST.memory);
    return (
      misjudged(isRight, rawRequest, reply) ??
      wrongReply(rawRequest, reply) ??
      wrongGrant(env, { attacker, value, reply })
    );
  },
};

function misjudged(isRight: boolean, { body }: RawRequest, reply: Reply | undefined): string | undefined {
  if (reply === undefined || reply.status === 0) return undefined;
  const isTaken = reply.status !== 400;
  return isRight === isTaken
    ? undefined
    : `amounts that are ${isRight ? "right" : "wrong"}: ${reply.status} for ${String(body)}`;
}

/** Reading and changing reservations: one's own, which may work, and others', which may not. */
export const foreignReservations: Attack = {
  name: "calls about one's own and others' reservations",
  weight: 15,
  run: async (env, random) => {
    const [id = "", parties = []] = random.pick([...env.parties]) ?? [];
    if (id === "") return undefined;
    const owner = env.clusters.find(({ name }) => name === parties[0]);
    const attacker = (random.chance(0.3) ? owner : undefined) ?? env.anyone(random);
    const rawRequest = requestAbout(id, random);
    const reply = await attacker.send(rawRequest);
    if (isAccepted(reply) && !parties.includes(attacker.name))
      return `${attacker.name} could ${rawRequest.method} ${rawRequest.path}, which belongs to ${parties.join(" and ")}`;
    forgetNow(env, random);
    return wrongReply(rawRequest, reply);
  },
};

function requestAbout(id: string, random: SeededRandom): RawRequest {
  const path = `/api/v1/reservations/${id}`;
  const rawRequests: readonly RawRequest[] = [
    { method: "GET", path },
    { method: "DELETE", path },
    { method: "POST", path: `${path}/activate`, headers: JSON_HEADERS },
    { method: "POST", path: `${path}/renew`, headers: JSON_HEADERS, body: '{"duration":"1h"}' },
    {
      method: "POST",
      path: `/api/v1/instructions/${id}/ack`,
      headers: JSON_HEADERS,
      body: '{"state":"held"}',
    },
  ];
  return random.pick(rawRequests) ?? { method: "GET", path };
}

/** Only some are kept in mind: this program's memory should not grow either. */
function forgetNow({ parties }: FuzzEnvironment, random: SeededRandom): void {
  const [oldest] = parties.keys();
  if (parties.size > 500 && oldest !== undefined && random.chance(0.5)) parties.delete(oldest);
}

function isAmount(text: string, most: bigint): boolean {
  const amount = thousandths(text);
  return amount !== undefined && amount > 0n && amount <= most;
}
