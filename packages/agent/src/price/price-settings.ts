import { type KnownResource, RESOURCES, type Values } from "@resource-broker/base";
import type { CostDTO } from "@resource-broker/contract";
import type { ObjectName, ReflectorDeps } from "@resource-broker/kube";
import type { Reloads } from "@resource-broker/runtime";
import { configMapProblem, word } from "../settings/forms.ts";
import { configMapPrices } from "./config-map-prices.ts";
import { fixedPrices, type PriceSource, readCost } from "./price-source.ts";
import { sheetPrices } from "./sheet-prices.ts";

type PriceFlag = (typeof RESOURCES)[number]["priceFlag"];

const price = ({ pricedUnit }: KnownResource) => word("DECIMAL", `Price of ${pricedUnit} for one hour.`);

const priceFlags = Object.fromEntries(RESOURCES.map((resource) => [resource.priceFlag, price(resource)]));

/** The flags that say where prices come from. At most one source may be named; none: the cluster is not priced. */
export const PRICE_SETTINGS = {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is one flag for each resource
  ...(priceFlags as Record<PriceFlag, ReturnType<typeof price>>),
  "price-currency": word("EUR", "Currency of the prices; one that a ConfigMap or sheet names itself wins."),
  "price-configmap": word(
    "NAMESPACE/NAME",
    "ConfigMap with the prices, followed while the agent runs: keys cpuCost, memoryCost, gpuCost, storageCost and currency, or one key cost.yaml or cost.json.",
    { check: configMapProblem },
  ),
  "price-sheet": word(
    "FILE",
    "File with the prices as OpenCost keeps them (JSON), read again when it changes.",
  ),
};

export type PriceSettings = Values<typeof PRICE_SETTINGS>;

/** Where prices come from. */
export type PriceOrigin =
  | { readonly kind: "none" }
  | { readonly kind: "flags"; readonly cost: CostDTO }
  | { readonly kind: "configmap"; readonly configMap: Required<ObjectName> }
  | { readonly kind: "sheet"; readonly path: string };

export interface PriceChoice {
  readonly origin: PriceOrigin;
  /** Problems of the flags in combination. */
  readonly problems: readonly string[];
}

const NONE: PriceOrigin = { kind: "none" };

/** The fields of a CostDTO and the flags that give them. */
const FLAG_NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(RESOURCES.map((resource) => [costPath(resource), `--${resource.priceFlag}`])),
  currency: "--price-currency",
};

/** Where a CostDTO has the price, as problems name it. */
function costPath({ name, costField }: KnownResource): string {
  return costField ?? `extendedCost["${name}"]`;
}

/** At most one source may be given. */
export function priceChoice(settings: PriceSettings): PriceChoice {
  const given = RESOURCES.map(({ priceFlag }) => priceFlag).filter((flag) => settings[flag] !== "");
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
  const given = RESOURCES.filter(({ priceFlag }) => settings[priceFlag] !== "");
  const fields = given.filter((resource) => "costField" in resource);
  const others = given.filter((resource) => !("costField" in resource));
  const extendedCost = others.map(({ name, priceFlag }) => [name, settings[priceFlag]] as const);
  const reading = readCost(
    {
      ...Object.fromEntries(fields.map(({ costField, priceFlag }) => [costField, settings[priceFlag]])),
      ...(others.length === 0 ? {} : { extendedCost: Object.fromEntries(extendedCost) }),
      currency: settings["price-currency"],
    },
    FLAG_NAMES,
  );
  if (!reading.ok) return { origin: NONE, problems: [reading.problem] };
  return { origin: reading.cost === undefined ? NONE : { kind: "flags", cost: reading.cost }, problems: [] };
}

function fromConfigMap(settings: PriceSettings): PriceChoice {
  const [namespace = "", name = ""] = settings["price-configmap"].split("/");
  return {
    origin: { kind: "configmap", configMap: { namespace, name } },
    problems: currencyProblems(settings),
  };
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

/** The source that the flags name. They were checked when they were read. */
export function createPriceSource(
  settings: PriceSettings,
  deps: ReflectorDeps & { readonly reloads?: Pick<Reloads, "source"> },
): PriceSource {
  const { origin } = priceChoice(settings);
  const currency = settings["price-currency"];
  switch (origin.kind) {
    case "none":
      return fixedPrices(undefined);
    case "flags":
      return fixedPrices(origin.cost);
    case "configmap":
      return configMapPrices({ configMap: origin.configMap, currency }, deps);
    case "sheet":
      return sheetPrices({ path: origin.path, currency }, deps);
  }
}
