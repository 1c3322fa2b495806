type Side = "provider" | "requester";

/** What one cluster lends to another. */
export interface Flow extends Readonly<Record<Side, string>> {
  readonly value: number;
  readonly reservations: number;
}

export interface FlowNode {
  /** Empty: all that are not shown one by one. */
  readonly id: string;
  readonly side: Side;
  readonly value: number;
  /** Clusters in it. */
  readonly clusters: number;
  readonly y: number;
  readonly height: number;
}

export interface FlowLink extends Flow {
  /** Which colour: one for each provider, in turn. */
  readonly tone: number;
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
  readonly width: number;
  /** Clusters on each side that are shown one by one; the rest is one node. */
  readonly most: number;
  /** Room for names at each side. */
  readonly margin: number;
}

/** Names stay legible: a node is never thinner than a line of text. */
const LINE = 20;
const MIN_SPACING = 6;
const MAX_SPACING = 40;
const LEAST_HEIGHT = 320;
/** A single pair need not fill the page. */
const TALLEST = 140;
export const NODE_WIDTH = 10;
const TONES = 5;

/** Providers on the left, requesters on the right, the biggest on top; the width of a band is the reserved amount. */
export function layOutFlows(all: readonly Flow[], options: FlowOptions): FlowLayout {
  const { most } = options;
  const ranks = { provider: ranked(all, "provider"), requester: ranked(all, "requester") };
  const shown = (side: Side): ReadonlySet<string> => new Set(ranks[side].slice(0, most).map(({ id }) => id));
  const flows = folded(all, { provider: shown("provider"), requester: shown("requester") });
  const total = flows.reduce((sum, { value }) => sum + value, 0) || 1;
  const rows = Math.min(Math.max(ranks.provider.length, ranks.requester.length), most + 1);
  const height = Math.max(LEAST_HEIGHT, rows * (LINE + MIN_SPACING) * 2);
  const biggest = Math.max(Number.MIN_VALUE, ranks.provider[0]?.value ?? 0, ranks.requester[0]?.value ?? 0);
  const scale = Math.min((height - rows * (LINE + MIN_SPACING)) / total, TALLEST / biggest);
  const place = (side: Side, order: readonly Rank[]): FlowNode[] =>
    column(order, { side, clusters: ranks[side].length, scale, height });
  const providers = place("provider", ranked(flows, "provider"));
  const requesters = place("requester", besides(ranked(flows, "requester"), flows, providers));
  const bottoms = [...providers, ...requesters].map((node) => node.y + node.height);
  return {
    providers,
    requesters,
    links: linked(flows, { providers, requesters, scale, options }),
    height: Math.ceil(Math.max(LEAST_HEIGHT, ...bottoms)),
  };
}

interface Rank {
  readonly id: string;
  readonly value: number;
}

function ranked(flows: readonly Flow[], side: Side): Rank[] {
  const sums = new Map<string, number>();
  for (const flow of flows) sums.set(flow[side], (sums.get(flow[side]) ?? 0) + flow.value);
  return [...sums]
    .map(([id, value]) => ({ id, value }))
    .toSorted((a, b) => b.value - a.value || (a.id < b.id ? -1 : 1));
}

/** Flows between clusters that are shown, and those of the others put together. */
function folded(flows: readonly Flow[], shown: Readonly<Record<Side, ReadonlySet<string>>>): Flow[] {
  const byEnds = new Map<string, Flow>();
  for (const flow of flows) {
    const provider = shown.provider.has(flow.provider) ? flow.provider : "";
    const requester = shown.requester.has(flow.requester) ? flow.requester : "";
    const key = `${provider} ${requester}`;
    const before = byEnds.get(key) ?? { value: 0, reservations: 0 };
    byEnds.set(key, {
      provider,
      requester,
      value: before.value + flow.value,
      reservations: before.reservations + flow.reservations,
    });
  }
  return [...byEnds.values()];
}

/** Requesters are placed beside their providers: fewer bands cross. */
function besides(ranks: readonly Rank[], flows: readonly Flow[], near: readonly FlowNode[]): Rank[] {
  const centre = new Map(near.map(({ id, y, height }) => [id, y + height / 2]));
  const placed = ranks.map((rank) => {
    const mine = flows.filter(({ requester }) => requester === rank.id);
    const sum = mine.reduce((all, { provider, value }) => all + (centre.get(provider) ?? 0) * value, 0);
    return { rank, place: sum / (rank.value || 1) };
  });
  return placed.toSorted((a, b) => a.place - b.place).map(({ rank }) => rank);
}

interface ColumnInput {
  readonly side: Side;
  /** How many there are, shown or not. */
  readonly clusters: number;
  readonly scale: number;
  readonly height: number;
}

function column(order: readonly Rank[], { side, clusters, scale, height }: ColumnInput): FlowNode[] {
  // The entry that combines many clusters is the last.
  const sorted = order.toSorted((a, b) => Number(a.id === "") - Number(b.id === ""));
  const heightOf = ({ value }: Rank): number => Math.max(LINE, value * scale);
  const free = height - sorted.reduce((sum, rank) => sum + heightOf(rank), 0);
  const spacing = Math.max(MIN_SPACING, Math.min(MAX_SPACING, free / Math.max(1, sorted.length - 1)));
  let y = 0;
  return sorted.map((rank) => {
    const others = clusters - (sorted.length - 1);
    const node = { ...rank, side, clusters: rank.id === "" ? others : 1, y, height: heightOf(rank) };
    y += node.height + spacing;
    return node;
  });
}

interface LinkInput extends Pick<FlowLayout, "providers" | "requesters"> {
  readonly scale: number;
  readonly options: FlowOptions;
}

function linked(flows: readonly Flow[], { providers, requesters, scale, options }: LinkInput): FlowLink[] {
  const places = {
    provider: new Map(providers.map((node, index) => [node.id, startOf(node, index, scale)])),
    requester: new Map(requesters.map((node, index) => [node.id, startOf(node, index, scale)])),
  };
  const indexOf = (side: Side, flow: Flow): number => places[side].get(flow[side])?.index ?? 0;
  const [from, to] = [options.margin + NODE_WIDTH, options.width - options.margin - NODE_WIDTH];
  const bend = (to - from) / 2;
  /** The middle of the next band at this node. */
  const next = (side: Side, flow: Flow, width: number): string => {
    const place = places[side].get(flow[side]);
    if (place === undefined) return "0";
    place.y += width;
    return (place.y - width / 2).toFixed(1);
  };
  return flows
    .toSorted(
      (one, other) =>
        indexOf("provider", one) - indexOf("provider", other) ||
        indexOf("requester", one) - indexOf("requester", other),
    )
    .map((flow) => {
      const width = Math.max(1, flow.value * scale);
      const [y1, y2] = [next("provider", flow, width), next("requester", flow, width)];
      const path = `M${from} ${y1}C${(from + bend).toFixed(1)} ${y1} ${(to - bend).toFixed(1)} ${y2} ${to} ${y2}`;
      return { ...flow, tone: indexOf("provider", flow) % TONES, path, width };
    });
}

/** A node may be taller than its bands: they leave from its middle. */
function startOf({ y, height, value }: FlowNode, index: number, scale: number) {
  return { index, y: y + (height - value * scale) / 2 };
}
