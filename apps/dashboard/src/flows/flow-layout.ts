import type { UiFlows, UiResource } from "@resource-broker/contract/dashboard";

export interface FlowNode {
  /** Empty: all that are not shown one by one. */
  readonly id: string;
  readonly side: "provider" | "requester";
  readonly value: number;
  /** Clusters in it. */
  readonly clusters: number;
  readonly y: number;
  readonly height: number;
}

export interface FlowLink {
  /** Which colour: one for each provider, in turn. */
  readonly tone: number;
  readonly provider: string;
  readonly requester: string;
  readonly value: number;
  readonly reservations: number;
  readonly path: string;
  readonly width: number;
}

export interface FlowLayout {
  readonly providers: readonly FlowNode[];
  readonly requesters: readonly FlowNode[];
  readonly links: readonly FlowLink[];
  readonly height: number;
}

export interface FlowOptions {
  readonly resource: UiResource;
  readonly width: number;
  /** Clusters on each side that are shown one by one; the rest is one node. */
  readonly most: number;
  /** Only what touches this cluster. */
  readonly only?: string;
  /** Room for names at each side. */
  readonly margin: number;
}

/** Names stay legible: a node is never thinner than a line of text. */
const LINE = 20;
const MIN_SPACING = 6;
const LEAST_HEIGHT = 320;
/** A single pair need not fill the page. */
const TALLEST = 140;
export const NODE_WIDTH = 10;
const TONES = 5;

interface Edge {
  readonly provider: string;
  readonly requester: string;
  value: number;
  reservations: number;
}

/** Providers on the left, requesters on the right, the biggest on top; the width of a band is the reserved amount. */
export function layOutFlows(flows: UiFlows, options: FlowOptions): FlowLayout {
  const all = edgesOf(flows, options);
  const providers = ranked(all, "provider");
  const requesters = ranked(all, "requester");
  const shown = {
    provider: new Set(providers.slice(0, options.most).map(([id]) => id)),
    requester: new Set(requesters.slice(0, options.most).map(([id]) => id)),
  };
  const edges = folded(all, shown);
  const total = edges.reduce((sum, { value }) => sum + value, 0) || 1;
  const rows = Math.max(
    Math.min(providers.length, options.most + 1),
    Math.min(requesters.length, options.most + 1),
  );
  const height = Math.max(LEAST_HEIGHT, rows * (LINE + MIN_SPACING) * 2);
  const biggest = Math.max(Number.MIN_VALUE, ...[providers, requesters].map(([first]) => first?.[1] ?? 0));
  const scale = Math.min((height - rows * (LINE + MIN_SPACING)) / total, TALLEST / biggest);
  const left = column({ edges, key: "provider", side: "provider", clusters: providers, scale, height });
  // Requesters are placed beside their providers: fewer bands cross.
  const right = column({
    edges,
    key: "requester",
    side: "requester",
    clusters: requesters,
    scale,
    height,
    near: left,
  });
  return {
    providers: left,
    requesters: right,
    links: linked(edges, { left, right, scale, options }),
    height: Math.ceil(Math.max(bottomOf(left), bottomOf(right), LEAST_HEIGHT)),
  };
}

function edgesOf({ edges }: UiFlows, { resource, only }: FlowOptions): Edge[] {
  return edges
    .filter(({ provider, requester }) => only === undefined || provider === only || requester === only)
    .map(({ provider, requester, amounts, reservations }) => ({
      provider,
      requester,
      value: amounts[resource],
      reservations,
    }))
    .filter(({ value }) => value > 0);
}

type Side = "provider" | "requester";

function ranked(edges: readonly Edge[], side: Side): (readonly [id: string, value: number])[] {
  const sums = new Map<string, number>();
  for (const edge of edges) sums.set(edge[side], (sums.get(edge[side]) ?? 0) + edge.value);
  return [...sums].toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
}

/** Edges between clusters that are shown, and those of the others put together. */
function folded(edges: readonly Edge[], shown: Readonly<Record<Side, ReadonlySet<string>>>): Edge[] {
  const byEnds = new Map<string, Edge>();
  for (const edge of edges) {
    const provider = shown.provider.has(edge.provider) ? edge.provider : "";
    const requester = shown.requester.has(edge.requester) ? edge.requester : "";
    const key = `${provider} ${requester}`;
    const sum = byEnds.get(key) ?? { provider, requester, value: 0, reservations: 0 };
    sum.value += edge.value;
    sum.reservations += edge.reservations;
    byEnds.set(key, sum);
  }
  return [...byEnds.values()];
}

interface ColumnInput {
  readonly edges: readonly Edge[];
  readonly key: Side;
  readonly side: FlowNode["side"];
  readonly clusters: readonly (readonly [id: string, value: number])[];
  readonly scale: number;
  readonly height: number;
  readonly near?: readonly FlowNode[];
}

function column({ edges, key, side, clusters, scale, height, near }: ColumnInput): FlowNode[] {
  const shownCount = new Set(edges.map((edge) => edge[key])).size;
  const sums = ranked(edges, key);
  const order = near === undefined ? sums : besides(sums, { edges, key, near });
  // The entry that combines many clusters is the last.
  const sorted = order.toSorted(([a], [b]) => Number(a === "") - Number(b === ""));
  const heights = sorted.map(([, value]) => Math.max(LINE, value * scale));
  const free = height - heights.reduce((sum, each) => sum + each, 0);
  const spacing = Math.max(MIN_SPACING, Math.min(40, free / Math.max(1, sorted.length - 1)));
  let y = 0;
  return sorted.map(([id, value], index) => {
    const node: FlowNode = {
      id,
      side,
      value,
      clusters: id === "" ? clusters.length - (shownCount - 1) : 1,
      y,
      height: heights[index] ?? LINE,
    };
    y += node.height + spacing;
    return node;
  });
}

function besides(
  sums: readonly (readonly [id: string, value: number])[],
  {
    edges,
    key,
    near,
  }: { readonly edges: readonly Edge[]; readonly key: Side; readonly near: readonly FlowNode[] },
): (readonly [id: string, value: number])[] {
  const other: Side = key === "provider" ? "requester" : "provider";
  const centre = new Map(near.map(({ id, y, height }) => [id, y + height / 2]));
  const place = (id: string): number => {
    const mine = edges.filter((edge) => edge[key] === id);
    const weight = mine.reduce((sum, { value }) => sum + value, 0) || 1;
    return mine.reduce((sum, edge) => sum + (centre.get(edge[other]) ?? 0) * edge.value, 0) / weight;
  };
  const places = new Map(sums.map(([id]) => [id, place(id)]));
  return sums.toSorted(([a], [b]) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
}

function bottomOf(nodes: readonly FlowNode[]): number {
  return nodes.reduce((bottom, { y, height }) => Math.max(bottom, y + height), 0);
}

interface LinkInput {
  readonly left: readonly FlowNode[];
  readonly right: readonly FlowNode[];
  readonly scale: number;
  readonly options: FlowOptions;
}

function linked(edges: readonly Edge[], { left, right, scale, options }: LinkInput): FlowLink[] {
  const leftAt = new Map(left.map((node) => [node.id, startOf(node, scale)]));
  const rightAt = new Map(right.map((node) => [node.id, startOf(node, scale)]));
  const rightY = new Map(right.map(({ id, y }) => [id, y]));
  const tones = new Map(left.map(({ id }, index) => [id, index % TONES]));
  const leftY = new Map(left.map(({ id, y }) => [id, y]));
  const [from, to] = [options.margin + NODE_WIDTH, options.width - options.margin - NODE_WIDTH];
  const bend = (to - from) / 2;
  const inOrder = edges.toSorted(
    (one, other) =>
      (leftY.get(one.provider) ?? 0) - (leftY.get(other.provider) ?? 0) ||
      (rightY.get(one.requester) ?? 0) - (rightY.get(other.requester) ?? 0),
  );
  return inOrder.map(({ provider, requester, value, reservations }) => {
    const width = Math.max(1, value * scale);
    const y1 = (leftAt.get(provider) ?? 0) + width / 2;
    const y2 = (rightAt.get(requester) ?? 0) + width / 2;
    leftAt.set(provider, y1 + width / 2);
    rightAt.set(requester, y2 + width / 2);
    const path = `M${from} ${fixed(y1)}C${fixed(from + bend)} ${fixed(y1)} ${fixed(to - bend)} ${fixed(y2)} ${to} ${fixed(y2)}`;
    return { tone: tones.get(provider) ?? 0, provider, requester, value, reservations, path, width };
  });
}

/** A node may be taller than its bands: they leave from its middle. */
function startOf({ y, height, value }: FlowNode, scale: number): number {
  return y + (height - value * scale) / 2;
}

function fixed(value: number): string {
  return value.toFixed(1);
}
