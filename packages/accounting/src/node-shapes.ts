import {
  amountForm,
  combine,
  fits,
  isZero,
  NO_RESOURCES,
  perResource,
  type ResourceVector,
  SIZE_ORDER,
  SLOTS,
} from "@resource-broker/base";
import { MAX_NODE_SHAPES, type NodeShape } from "@resource-broker/domain";

/** Losing accelerators weighs more than losing the same share of CPU or memory. */
const ACCELERATOR_WEIGHT = 4;
/** Up to this many shapes are compared pairwise; above it, similar shapes are merged first. */
const COMPARED_SHAPES = 64;
const LEADING_BITS = 6;
const WEIGHT = perResource("slot", ({ form }) => (form.isCounted ? ACCELERATOR_WEIGHT : 1));

/**
 * At most `max` shapes that promise no more than the given ones: merged shapes keep the smaller amount of each
 * resource, and those are merged first whose nodes lose least. Shapes of nothing are left out.
 */
function mergeShapes(shapes: Iterable<NodeShape>, max: number): NodeShape[] {
  const merged: NodeShape[] = [];
  for (const shape of mergeNearlyAlike([...shapes]).sort(byUsefulness)) {
    merged.push(shape);
    if (merged.length > max) mergeClosest(merged);
  }
  return mergeAlike(merged, vectorKey)
    .filter((shape) => !isZero(shape.resources))
    .sort(byUsefulness);
}

/** Equal for equal vectors. */
export function vectorKey(vector: ResourceVector): string {
  const key = SLOTS.map((slot) => vector[slot]).join("/");
  const extended = Object.keys(vector.extended);
  if (extended.length === 0) return key;
  return `${key}/${extended
    .sort()
    .map((name) => `${name}=${vector.extended[name]}`)
    .join("/")}`;
}

function mergeClosest(shapes: NodeShape[]): void {
  let least = Number.POSITIVE_INFINITY;
  let pair: readonly [number, number] = [0, 1];
  shapes.forEach((a, i) => {
    for (let j = i + 1; j < shapes.length; j++) {
      const b = shapes[j];
      const loss = b === undefined ? Number.POSITIVE_INFINITY : lossOfMerging(a, b);
      if (loss < least) {
        least = loss;
        pair = [i, j];
      }
    }
  });
  const [b] = shapes.splice(pair[1], 1);
  const a = shapes[pair[0]];
  if (a !== undefined && b !== undefined) shapes[pair[0]] = mergePair(a, b);
}

/**
 * A large cluster has thousands of nodes that differ by kilobytes of memory. Comparing each with each would take
 * long; in one pass those come together whose amounts agree in their leading bits, to about three in a hundred.
 */
function mergeNearlyAlike(shapes: readonly NodeShape[]): NodeShape[] {
  if (shapes.length <= COMPARED_SHAPES) return [...shapes];
  return mergeAlike(shapes, (resources) => vectorKey(combine(resources, NO_RESOURCES, leadingBits)));
}

function mergeAlike(shapes: readonly NodeShape[], keyOf: (resources: ResourceVector) => string): NodeShape[] {
  const merged = new Map<string, NodeShape>();
  for (const shape of shapes) {
    const key = keyOf(shape.resources);
    const alike = merged.get(key);
    merged.set(key, alike === undefined ? shape : mergePair(alike, shape));
  }
  return [...merged.values()];
}

function leadingBits(amount: number): number {
  if (amount < 2 ** LEADING_BITS) return amount;
  const step = 2 ** (Math.floor(Math.log2(amount)) - LEADING_BITS + 1);
  return Math.floor(amount / step) * step;
}

function mergePair(a: NodeShape, b: NodeShape): NodeShape {
  return { count: a.count + b.count, resources: combine(a.resources, b.resources, Math.min) };
}

/** The weighted share of resources that the nodes lose when two shapes are advertised as one. */
function lossOfMerging(a: NodeShape, b: NodeShape): number {
  let loss = 0;
  for (const slot of SLOTS) {
    loss += WEIGHT[slot] * nodesLosing(a, b, excess(a.resources[slot], b.resources[slot]));
  }
  for (const name in a.resources.extended) loss += lossOfExtended(a, b, name);
  for (const name in b.resources.extended) {
    if (!(name in a.resources.extended)) loss += lossOfExtended(a, b, name);
  }
  return loss;
}

function lossOfExtended(a: NodeShape, b: NodeShape, name: string): number {
  const more = excess(a.resources.extended[name] ?? 0, b.resources.extended[name] ?? 0);
  return (amountForm(name).isCounted ? ACCELERATOR_WEIGHT : 1) * nodesLosing(a, b, more);
}

/** The share of the larger amount that the smaller one lacks: positive when the first is larger. */
function excess(x: number, y: number): number {
  return x === y ? 0 : (x - y) / Math.max(x, y);
}

function nodesLosing(a: NodeShape, b: NodeShape, more: number): number {
  return more > 0 ? more * a.count : -more * b.count;
}

/** Many nodes first, then large ones; the rest only makes the order the same every time. */
function byUsefulness(a: NodeShape, b: NodeShape): number {
  if (a.count !== b.count) return b.count - a.count;
  for (const slot of SIZE_ORDER) {
    if (a.resources[slot] !== b.resources[slot]) return b.resources[slot] - a.resources[slot];
  }
  return vectorKey(a.resources) < vectorKey(b.resources) ? -1 : 1;
}

/**
 * The distinct sizes of the counted nodes, kept up to date node by node. The advertisement states allocatable amounts, not free
 * ones: free amounts change with every pod, would be old when they are read, and a request's total is checked against what is
 * available anyway.
 */
interface CountedShapes {
  add(size: ResourceVector): void;
  remove(size: ResourceVector): void;
  /** Whether an empty node could hold the request; at most one comparison for each distinct size. */
  fitsSome(request: ResourceVector): boolean;
  advertised(): readonly NodeShape[];
}

export function countedShapes(max = MAX_NODE_SHAPES): CountedShapes {
  const shapes = new Map<string, NodeShape>();
  // Answers hold until a size appears or the last node of a size goes.
  let answers = new WeakMap<ResourceVector, boolean>();
  let advertised: readonly NodeShape[] | undefined;

  function change(size: ResourceVector, by: 1 | -1): void {
    const key = vectorKey(size);
    const before = shapes.get(key);
    const count = (before?.count ?? 0) + by;
    if (count > 0) shapes.set(key, { count, resources: size });
    else shapes.delete(key);
    if (before === undefined || count <= 0) answers = new WeakMap();
    advertised = undefined;
  }

  function search(request: ResourceVector): boolean {
    for (const shape of shapes.values()) {
      if (fits(request, shape.resources)) return true;
    }
    return false;
  }

  return {
    add: (size) => change(size, 1),
    remove: (size) => change(size, -1),
    fitsSome(request) {
      const known = answers.get(request);
      if (known !== undefined) return known;
      const answer = search(request);
      answers.set(request, answer);
      return answer;
    },
    advertised() {
      advertised ??= mergeShapes(shapes.values(), max);
      return advertised;
    },
  };
}
