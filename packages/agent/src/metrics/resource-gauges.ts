import type { ResourceVector } from "@resource-broker/domain";
import { inBaseUnits, type MetricsRegistry } from "@resource-broker/runtime";

type AdvertisedResources = Readonly<Record<"reserved" | "available", ResourceVector>>;

/** Reserved and available resources; nothing before the first advertisement. */
export function addResourceGauges(
  registry: MetricsRegistry,
  advertised: () => AdvertisedResources | undefined,
): void {
  const gauge = (of: keyof AdvertisedResources, help: string): void =>
    registry.collector(
      { name: `agent_${of}`, help: `${help}; CPU in cores, memory and storage in bytes.`, type: "gauge" },
      () => {
        const vector = advertised()?.[of];
        if (vector === undefined) return [];
        return inBaseUnits(vector).map(([resource, value]) => ({ labels: { resource }, value }));
      },
    );
  gauge("reserved", "Reserved for other clusters, as last advertised");
  gauge("available", "Available to lend, as last advertised");
}
