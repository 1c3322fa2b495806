import type { SeededRandom } from "@resource-broker/testkit";
import { isAccepted, wrongReply } from "../check-reply.ts";
import { hostileText, hostileValue } from "../corpus.ts";
import { type Attack, JSON_HEADERS } from "../environment.ts";

const GOOD = '{"requestedResources":{"cpu":"1","memory":"1Gi"}}';
const DEEP = 200_000;
const WIDE = 60_000;

type Maker = (random: SeededRandom) => string | Buffer;

/** Bodies that are not what they seem, and that no right request is like. */
const MALFORMED: readonly Maker[] = [
  () => "[".repeat(DEEP),
  () => `${"[".repeat(DEEP)}${"]".repeat(DEEP)}`,
  () => '{"a":'.repeat(DEEP / 4),
  () => `{"requestedResources":${"[".repeat(1000)}${"]".repeat(1000)}}`,
  () => `{${'"a":1,'.repeat(WIDE)}"b":1}`,
  () => `[${"0,".repeat(WIDE)}0]`,
  () => `"${"\\u0000".repeat(30_000)}"`,
  () => `{"requestedResources":{"cpu":${"9".repeat(100_000)},"memory":"1Gi"}}`,
  () => `{"requestedResources":{"cpu":1e${"9".repeat(1000)},"memory":"1Gi"}}`,
  () => '{"__proto__":{"requestedResources":{"cpu":"1","memory":"1Gi"}}}',
  () => '{"constructor":{"prototype":{"requestedResources":{"cpu":"1","memory":"1Gi"}}}}',
  () => '{"requestedResources":{"__proto__":{"cpu":"1","memory":"1Gi"}}}',
  () => '{"requestedResources":{"cpu":"1","memory":"1Gi"},"requestedResources":{}}',
  () => '{"requestedResources":{"cpu":"1","memory":"1Gi","cpu":"-1"}}',
  () => Buffer.from(GOOD, "utf16le"),
  () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(GOOD)]),
  () => Buffer.from([0x7b, 0x22, 0xc0, 0x80, 0x22, 0x7d]),
  () => Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0]),
  (random) => GOOD.slice(0, random.between(1, GOOD.length - 1)),
  (random) => `${GOOD}${random.pick([",", "}", "{", "]", "\0", "x", GOOD])}`,
  (random) => Buffer.from(Array.from({ length: random.between(1, 400) }, () => random.below(256))),
  (random) => JSON.stringify([hostileValue(random)]),
  (random) => JSON.stringify(hostileText(random)),
];

/** One byte of a right body is changed: it may be right or wrong then, but never break anything. */
function flipped(random: SeededRandom): Buffer {
  const bytes = Buffer.from(GOOD);
  bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

const PATHS = [
  "/api/v1/reservations",
  "/api/v1/quotes",
  "/api/v1/advertisements",
  "/api/v1/adoptions",
] as const;

export const json: Attack = {
  name: "JSON bombs, doubles, prototypes, broken bytes",
  weight: 20,
  run: async (env, random) => {
    const isFlipped = random.chance(0.4);
    const body = isFlipped ? flipped(random) : (random.pick(MALFORMED)?.(random) ?? "");
    const key = { "Idempotency-Key": `flipped-${random.below(50)}` };
    const rawRequest = {
      method: "POST",
      path: random.pick(PATHS) ?? "",
      headers: { ...JSON_HEADERS, ...key },
      body,
    };
    const reply = await env.anyone(random).send(rawRequest);
    if (!isFlipped && isAccepted(reply))
      return `a malformed body was accepted: ${rawRequest.path} ${body.toString().slice(0, 200)}`;
    return wrongReply(rawRequest, reply);
  },
};
