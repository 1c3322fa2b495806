import { text, type Values } from "@resource-broker/base";
import type { CostDTO } from "@resource-broker/contract";
import { checkedText, configMapProblem } from "../settings/forms.ts";
import { readCost } from "./price-source.ts";

const price = (what: string) =>
  text({ description: `Price of ${what} for one hour.`, defaultValue: "", placeholder: "DECIMAL" });

/** The flags that say where prices come from. At most one source may be named; none: the cluster is not priced. */
export const PRICE_SETTINGS = {
  "price-cpu": price("one CPU"),
  "price-memory": price("one GB (1,000,000,000 bytes) of memory"),
  "price-gpu": price("one GPU"),
  "price-storage": price("one GB of ephemeral storage"),
  "price-currency": text({
    description: "Currency of the prices; one that a ConfigMap or sheet names itself wins.",
    defaultValue: "",
    placeholder: "EUR",
  }),
  "price-configmap": checkedText(
    {
      description:
        "ConfigMap with the prices, followed while the agent runs: keys cpuCost, memoryCost, gpuCost, storageCost and currency, or one key cost.yaml or cost.json.",
      placeholder: "NAMESPACE/NAME",
    },
    configMapProblem,
  ),
  "price-sheet": text({
    description: "File with the prices as OpenCost keeps them (JSON), read again when it changes.",
    defaultValue: "",
    placeholder: "FILE",
  }),
};

export type PriceSettings = Values<typeof PRICE_SETTINGS>;

/** Where prices come from. */
export type PriceOrigin =
  | { readonly kind: "none" }
  | { readonly kind: "flags"; readonly cost: CostDTO }
  | { readonly kind: "configmap"; readonly namespace: string; readonly name: string }
  | { readonly kind: "sheet"; readonly path: string };

export interface PriceChoice {
  readonly origin: PriceOrigin;
  /** Problems of the flags in combination. */
  readonly problems: readonly string[];
}

const NONE: PriceOrigin = { kind: "none" };

/** The fields of a CostDTO and the flags that give them. */
const FLAGS = {
  cpuCost: "price-cpu",
  memoryCost: "price-memory",
  gpuCost: "price-gpu",
  storageCost: "price-storage",
} as const satisfies Readonly<Record<string, keyof PriceSettings>>;

const FLAG_NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(FLAGS).map(([field, flag]) => [field, `--${flag}`])),
  currency: "--price-currency",
};

/** At most one source may be given. */
export function priceChoice(settings: PriceSettings): PriceChoice {
  const given = Object.values(FLAGS).filter((flag) => settings[flag] !== "");
  const sources = [
    ...given.slice(0, 1),
    ...(["price-configmap", "price-sheet"] as const).filter((flag) => settings[flag] !== ""),
  ].map((flag) => `--${flag}`);
  if (sources.length > 1) {
    return {
      origin: NONE,
      problems: [`${sources.join(" and ")} exclude each other: give prices in one place`],
    };
  }
  if (given.length > 0) return fromFlags(settings);
  if (settings["price-configmap"] !== "") return fromConfigMap(settings);
  const path = settings["price-sheet"];
  return path === ""
    ? { origin: NONE, problems: unusedCurrency(settings) }
    : { origin: { kind: "sheet", path }, problems: currencyProblems(settings) };
}

function fromFlags(settings: PriceSettings): PriceChoice {
  const needed = (["price-cpu", "price-memory", "price-currency"] as const).filter(
    (flag) => settings[flag] === "",
  );
  if (needed.length > 0) {
    const names = needed.map((flag) => `--${flag}`).join(" and ");
    return { origin: NONE, problems: [`prices by flag also need ${names}`] };
  }
  const amounts = Object.entries(FLAGS).filter(([, flag]) => settings[flag] !== "");
  const reading = readCost(
    {
      ...Object.fromEntries(amounts.map(([field, flag]) => [field, settings[flag]])),
      currency: settings["price-currency"],
    },
    FLAG_NAMES,
  );
  if (!reading.ok) return { origin: NONE, problems: [reading.problem] };
  return { origin: reading.cost === undefined ? NONE : { kind: "flags", cost: reading.cost }, problems: [] };
}

function fromConfigMap(settings: PriceSettings): PriceChoice {
  const [namespace = "", name = ""] = settings["price-configmap"].split("/");
  return { origin: { kind: "configmap", namespace, name }, problems: currencyProblems(settings) };
}

function currencyProblems(settings: PriceSettings): string[] {
  const currency = settings["price-currency"];
  if (currency === "") return [];
  const reading = readCost({ cpuCost: "0", memoryCost: "0", currency }, FLAG_NAMES);
  return reading.ok ? [] : [reading.problem];
}

function unusedCurrency(settings: PriceSettings): string[] {
  if (settings["price-currency"] === "") return [];
  return [
    "--price-currency has no effect without prices: add --price-cpu and --price-memory, --price-configmap or --price-sheet",
  ];
}
