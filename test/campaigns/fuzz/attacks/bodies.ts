import { isRecord } from "@resource-broker/base";
import type { SeededRandom } from "@resource-broker/testkit";
import { isAccepted, wrongGrant, wrongReply } from "../check-reply.ts";
import type { Operation } from "../contract.ts";
import { hostileText } from "../corpus.ts";
import { type Attack, type Attacker, type FuzzEnvironment, JSON_HEADERS } from "../environment.ts";
import { draw } from "../schema-values.ts";

const KEYS = 20;

/** Calls of the published document with bodies that fit it, nearly fit it, or do not fit it at all. */
export const bodies: Attack = {
  name: "bodies and calls from openapi.json",
  weight: 60,
  run: async (env, random) => {
    const operation = random.pick(env.contract.operations);
    if (operation === undefined) return undefined;
    const attacker = random.chance(0.1) ? env.admin : env.anyone(random);
    const value = bodyFor(env, random, { operation, attacker });
    const rawRequest = {
      method: operation.method,
      path: pathOf(operation.path, env, random),
      headers: { ...JSON_HEADERS, ...keyFor(operation, random) },
      ...(value === undefined ? {} : { body: JSON.stringify(value) }),
    };
    const reply = await attacker.send(rawRequest);
    if (isAccepted(reply) && value !== undefined && operation.isSurelyWrong(judged(value)))
      return `a wrong body was accepted: ${rawRequest.method} ${rawRequest.path} ${JSON.stringify(value)}`;
    return wrongReply(rawRequest, reply) ?? wrongGrant(env, { attacker, value, reply });
  },
};

interface Call {
  readonly operation: Operation;
  readonly attacker: Attacker;
}

function bodyFor(
  { contract }: FuzzEnvironment,
  random: SeededRandom,
  { operation, attacker }: Call,
): unknown {
  const mutationRate = random.pick([0, 0.02, 0.1, 0.4]) ?? 0;
  if (operation.body === undefined) return undefined;
  const value = draw(operation.body, { random, schemas: contract.schemas, mutationRate });
  return fitted(value, attacker, operation);
}

/** The cluster's own name where it must be: else nothing but that would ever be refused. */
function fitted(value: unknown, { name }: Attacker, { path }: Operation): unknown {
  return isRecord(value) && path.endsWith("/advertisements") && "clusterID" in value
    ? { ...value, clusterID: name }
    : value;
}

/** An incomplete price is not refused but ignored, with whatever else is wrong in it. */
function judged(value: unknown): unknown {
  if (!isRecord(value) || !isRecord(value["cost"])) return value;
  const { cost, ...rest } = value;
  const isComplete = ["cpuCost", "memoryCost", "currency"].every((name) => (cost[name] ?? "") !== "");
  return isComplete ? value : rest;
}

function keyFor({ path, method }: Operation, random: SeededRandom): Record<string, string> {
  if (method !== "POST" || !path.endsWith("/reservations") || random.chance(0.02)) return {};
  return { "Idempotency-Key": random.chance(0.9) ? `key-${random.below(KEYS)}` : headerText(random) };
}

function headerText(random: SeededRandom): string {
  return hostileText(random).replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/g, "?");
}

function pathOf(template: string, env: FuzzEnvironment, random: SeededRandom): string {
  const name = nameIn(template, env, random);
  const part = random.chance(0.7) ? name : hostileText(random);
  const path = template.replace(/\{\w+\}/, () =>
    random.chance(0.9) ? encodeURIComponent(wellFormed(part)) : rawPart(part),
  );
  if (random.chance(0.8)) return path;
  const parameter = random.pick(["limit", "after", "role", "key", "watch", "x"]) ?? "";
  const value = parameter === "watch" ? "false" : encodeURIComponent(wellFormed(hostileText(random)));
  return `${path}?${parameter}=${parameter === "key" ? `key-${random.below(KEYS)}` : value}`;
}

function nameIn(template: string, { parties, clusters }: FuzzEnvironment, random: SeededRandom): string {
  if (!template.includes("clusterID"))
    return random.pick([...parties.keys()]) ?? "rsv-fuzz-0-aaaaaaaaaaaaaaaa";
  // Not an attacker: whoever is evicted is refused whatever it sends.
  if (template.includes("/members/")) return `fuzz-guest-${random.below(KEYS)}`;
  return random.pick(clusters)?.name ?? "";
}

function rawPart(text: string): string {
  return text.replaceAll(/[^\u0021-\u007e]/g, "x");
}

/** A lone surrogate cannot be encoded. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, "?");
}
