import type { ReflectorDeps } from "@resource-broker/kube";
import type { Reloads } from "@resource-broker/runtime";
import { configMapPrices } from "./config-map-prices.ts";
import { type PriceSettings, priceChoice } from "./price-settings.ts";
import { fixedPrices, type PriceSource } from "./price-source.ts";
import { sheetPrices } from "./sheet-prices.ts";

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
      return configMapPrices(
        { configMap: { namespace: origin.namespace, name: origin.name }, currency },
        deps,
      );
    case "sheet":
      return sheetPrices({ path: origin.path, currency }, deps);
  }
}
