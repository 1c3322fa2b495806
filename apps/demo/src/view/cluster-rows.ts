import { describeAmount } from "@resource-broker/base";
import type { ClusterState, ResourceShare } from "../updates/update.ts";
import { cell, type Line, line, span } from "./line.ts";

const BAR_CHARACTERS = { inUse: "█", lent: "▓", free: "░" };

const NAME_WIDTH = 10;
const REGION_WIDTH = 14;
const AMOUNT_WIDTH = 9;
const GPU_WIDTH = 7;
const PRICE_WIDTH = 9;
/** From here on there is room for the region as well. */
const WIDE = 110;
const NARROWEST_BAR = 5;
const WIDEST_BAR = 30;

interface Widths {
  readonly region: number;
  readonly bar: number;
}

/** What stands above the clusters; the price is that of one CPU for one hour. */
export function clusterHeader(width: number): Line {
  const { region, bar } = widthsFor(width);
  const amount = (name: string): string => cell(`${name} free`, bar + AMOUNT_WIDTH + 3);
  return line(
    span(
      `${cell("CLUSTER", NAME_WIDTH)}${cell(region > 0 ? "REGION" : "", region)}${amount("CPU")}${amount("MEMORY")}${cell("GPU", GPU_WIDTH)}${cell("CPU/h", PRICE_WIDTH)}`,
      "quiet",
    ),
  );
}

export function clusterRow(cluster: ClusterState, width: number): Line {
  const { region, bar } = widthsFor(width);
  const name = cell(cluster.name, NAME_WIDTH - 1);
  if (cluster.state === "starting") return line(`${name} `, span("its agent starts", "quiet"));
  if (cluster.state === "down") return line(`${name} `, span("its agent has ended: see its log", "bad"));
  const { cpuMillis, memoryBytes, gpus, cpuPrice, currency } = cluster;
  const amount = (resource: "cpu" | "memory", share: ResourceShare): Line =>
    line(...barOf(share, bar), ` ${cell(freeOf(resource, share), AMOUNT_WIDTH)}  `);
  const price = cpuPrice === undefined ? "-" : `${cpuPrice} ${currency ?? ""}`;
  const isCordoned = cluster.state === "cordoned";
  return line(
    `${name} ${cell(cluster.region ?? "", region)}`,
    ...amount("cpu", cpuMillis),
    ...amount("memory", memoryBytes),
    cell(gpus.all === 0 ? "-" : `${gpus.free}/${gpus.all}`, GPU_WIDTH),
    isCordoned ? span(cell("cordoned", PRICE_WIDTH), "careful") : cell(price, PRICE_WIDTH),
  );
}

/** What the marks mean. */
export function legend(): Line {
  return line(
    span(`${BAR_CHARACTERS.inUse} in use`, "quiet"),
    "  ",
    span(`${BAR_CHARACTERS.lent} lent`, "careful"),
    "  ",
    span(`${BAR_CHARACTERS.free} free`, "good"),
  );
}

/** Whatever is lent shows, however little it is. */
function barOf({ all, inUse, lent }: ResourceShare, width: number): Line {
  const part = (amount: number): number => (all === 0 ? 0 : Math.round((amount / all) * width));
  const used = Math.min(width, part(inUse));
  const atLeast = lent > 0 ? 1 : 0;
  const held = Math.min(Math.max(atLeast, part(inUse + lent) - used), width);
  const shownUsed = Math.min(used, width - held);
  return line(
    span(BAR_CHARACTERS.inUse.repeat(shownUsed), "quiet"),
    span(BAR_CHARACTERS.lent.repeat(held), "careful"),
    span(BAR_CHARACTERS.free.repeat(width - shownUsed - held), "good"),
  );
}

/** `24/32`, `96/128Gi`, `0.9/1.9Ti`: both in the unit of the whole; the bar shows the rest. */
function freeOf(resource: "cpu" | "memory", { free, all }: ResourceShare): string {
  if (resource === "cpu") return `${short(free / 1000)}/${short(all / 1000)}`;
  const [text = ""] = describeAmount("memory", all).split(" ");
  const [, number = "", unit = ""] = /^([0-9.]+)([A-Za-z]+)$/.exec(text) ?? [];
  return `${short(all === 0 ? 0 : (free / all) * Number(number))}/${short(Number(number))}${unit}`;
}

function short(amount: number): string {
  return String(amount < 10 ? Number(amount.toFixed(1)) : Math.round(amount));
}

function widthsFor(width: number): Widths {
  const region = width >= WIDE ? REGION_WIDTH : 0;
  const rest = width - NAME_WIDTH - region - GPU_WIDTH - PRICE_WIDTH - 2 * (AMOUNT_WIDTH + 3);
  return { region, bar: Math.min(WIDEST_BAR, Math.max(NARROWEST_BAR, Math.floor(rest / 2))) };
}
