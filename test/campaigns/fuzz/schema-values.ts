import type { SeededRandom } from "@resource-broker/testkit";
import { hostileName, hostileText, hostileValue, quantityText, record } from "./corpus.ts";

/** JSON Schema, as far as openapi.json uses it. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export type Schemas = Readonly<Record<string, SchemaNode>>;

export interface DrawOptions {
  readonly random: SeededRandom;
  readonly schemas: Schemas;
  /** How often a part is replaced by something it should not be. 0: everything fits. */
  readonly mutationRate: number;
}

const MOST_ITEMS = 4;

/** A value that fits the schema, but for what wildness made of it. */
export function draw(node: SchemaNode, options: DrawOptions): unknown {
  const { random, schemas, mutationRate } = options;
  if (random.chance(mutationRate)) return mutatedValue(node, random);
  const target =
    node.$ref === undefined ? undefined : schemas[node.$ref.slice(node.$ref.lastIndexOf("/") + 1)];
  if (target !== undefined) return draw(target, options);
  if (node.enum !== undefined) return random.pick(node.enum);
  const types = typeof node.type === "string" ? [node.type] : (node.type ?? []);
  switch (random.pick(types)) {
    case "object":
      return drawObject(node, options);
    case "array":
      return drawList(node, options);
    case "integer":
    case "number":
      return drawNumber(node, random);
    case "boolean":
      return random.chance(0.5);
    default:
      return drawText(node, random);
  }
}

function drawObject(node: SchemaNode, options: DrawOptions): unknown {
  const { random, mutationRate } = options;
  const { properties = {}, required = [], additionalProperties } = node;
  const entries: [string, unknown][] = [];
  for (const [name, child] of Object.entries(properties)) {
    const isLeftOut = random.chance(mutationRate) || (!required.includes(name) && random.chance(0.6));
    if (!isLeftOut) entries.push([name, draw(child, options)]);
  }
  if (typeof additionalProperties === "object" && entries.length === 0)
    entries.push([nameLike(node, options), draw(additionalProperties, options)]);
  if (random.chance(mutationRate)) entries.push([hostileName(random), hostileValue(random)]);
  return record(entries);
}

/** Names follow patterns that only examples show. */
function nameLike({ examples }: SchemaNode, { random, mutationRate }: DrawOptions): string {
  const [example] = examples ?? [];
  const names = typeof example === "object" && example !== null ? Object.keys(example) : [];
  return random.chance(mutationRate) ? hostileName(random) : (random.pick(names) ?? "example.org/thing");
}

function drawList(
  { items = {}, minItems = 0, maxItems = MOST_ITEMS }: SchemaNode,
  options: DrawOptions,
): unknown {
  const { random, mutationRate } = options;
  const length = random.chance(mutationRate)
    ? maxItems + 1
    : random.between(minItems, Math.min(maxItems, MOST_ITEMS));
  return Array.from({ length: Math.min(length, 2000) }, () => draw(items, options));
}

function drawNumber({ minimum = 0, maximum = 1e6 }: SchemaNode, random: SeededRandom): number {
  const near = random.below(5);
  if (near === 0) return minimum;
  return near === 1 ? maximum : minimum + random.below(Math.min(maximum - minimum, 1000) + 1);
}

function drawText({ examples = [], format }: SchemaNode, random: SeededRandom): unknown {
  if (format === "quantity" && random.chance(0.3))
    return random.pick(["1", "500m", "1Gi", "2.5", "1e2", "0"]);
  return random.pick(examples) ?? "text";
}

function mutatedValue({ format }: SchemaNode, random: SeededRandom): unknown {
  if (format === "quantity" && random.chance(0.7)) return quantityText(random);
  return random.chance(0.3) ? hostileText(random) : hostileValue(random);
}
