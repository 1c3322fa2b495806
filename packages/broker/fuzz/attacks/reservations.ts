import type { SeededRandom } from "@resource-broker/testkit";
import { type Arena, JSON_HEADERS, type Reply, type Shot } from "../arena.ts";
import { quantityText } from "../corpus.ts";
import { thousandths } from "../exact-quantity.ts";
import { isAccepted, wrongReply } from "../judge.ts";
import { wrongGrant } from "../wrong-grant.ts";
import type { Attack } from "./attack.ts";

const KEYS = 100;
/** The most that the ledger counts, in thousandths: of a CPU, and of a byte. */
const MOST = { cpu: 2n ** 53n - 1n, memory: (2n ** 53n - 1n) * 1000n };

/** Requests that are right but for their amounts. */
export const quantities: Attack = {
  name: "quantities",
  weight: 20,
  run: async (arena, random) => {
    const attacker = arena.anyone(random);
    const cpu = random.chance(0.5) ? quantityText(random) : "100m";
    const memory = random.chance(0.5) ? quantityText(random) : "1Mi";
    const value = { requestedResources: { cpu, memory } };
    const shot = {
      method: "POST",
      path: "/api/v1/reservations",
      headers: { ...JSON_HEADERS, "Idempotency-Key": `quantity-${random.below(KEYS)}` },
      body: JSON.stringify(value),
    };
    const reply = await attacker.shoot(shot);
    const isRight = isAmount(cpu, MOST.cpu) && isAmount(memory, MOST.memory);
    return (
      misjudged(isRight, shot, reply) ??
      wrongReply(shot, reply) ??
      wrongGrant(arena, { attacker, value, reply })
    );
  },
};

function misjudged(isRight: boolean, { body }: Shot, reply: Reply | undefined): string | undefined {
  if (reply === undefined || reply.status === 0) return undefined;
  const isTaken = reply.status !== 400;
  return isRight === isTaken
    ? undefined
    : `amounts that are ${isRight ? "right" : "wrong"}: ${reply.status} for ${String(body)}`;
}

/** Reading and changing reservations: one's own, which may work, and others', which may not. */
export const strangers: Attack = {
  name: "calls about one's own and others' reservations",
  weight: 15,
  run: async (arena, random) => {
    const [id = "", parties = []] = random.pick([...arena.parties]) ?? [];
    if (id === "") return undefined;
    const owner = arena.clusters.find(({ name }) => name === parties[0]);
    const attacker = (random.chance(0.3) ? owner : undefined) ?? arena.anyone(random);
    const shot = shotAt(id, random);
    const reply = await attacker.shoot(shot);
    if (isAccepted(reply) && !parties.includes(attacker.name))
      return `${attacker.name} could ${shot.method} ${shot.path}, which belongs to ${parties.join(" and ")}`;
    forgetNow(arena, random);
    return wrongReply(shot, reply);
  },
};

function shotAt(id: string, random: SeededRandom): Shot {
  const path = `/api/v1/reservations/${id}`;
  const shots: readonly Shot[] = [
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
  return random.pick(shots) ?? { method: "GET", path };
}

/** Only some are kept in mind: this program's memory should not grow either. */
function forgetNow({ parties }: Arena, random: SeededRandom): void {
  const [oldest] = parties.keys();
  if (parties.size > 500 && oldest !== undefined && random.chance(0.5)) parties.delete(oldest);
}

function isAmount(text: string, most: bigint): boolean {
  const amount = thousandths(text);
  return amount !== undefined && amount > 0n && amount <= most;
}
