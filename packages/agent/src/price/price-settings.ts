import { text, type Values } from "@resource-broker/contract";
import { configMapProblem } from "../settings/forms.ts";
import { checkedText } from "../settings/setting-kinds.ts";

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
