import type { ResourceVector } from "@resource-broker/domain";
import { inBaseUnits, type MetricsRegistry } from "@resource-broker/runtime";

type Offered = Readonly<Record<"reserved" | "available", ResourceVector>>;

/** Reserved and available resources; nothing before the first advertisement. */
export function addResourceGauges(figures: MetricsRegistry, offered: () => Offered | undefined): void {
  const gauge = (of: keyof Offered, help: string): void =>
    figures.collector(
      { name: `agent_${of}`, help: `${help}; CPU in cores, memory and storage in bytes.`, type: "gauge" },
      () => {
        const vector = offered()?.[of];
        if (vector === undefined) return [];
        return inBaseUnits(vector).map(([resource, value]) => ({ labels: { resource }, value }));
      },
    );
  gauge("reserved", "Reserved for other clusters, as last advertised");
  gauge("available", "Available to lend, as last advertised");
}
