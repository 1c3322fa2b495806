import { amountOf, type ResourceVector, resourceNames } from "@resource-broker/domain";
import { Gauge, type Registry } from "prom-client";

type Figures = Readonly<Record<"reserved" | "available", ResourceVector>>;

/** What the cluster lends and could lend; nothing before the first advertisement. */
export function registerResourceGauges(registry: Registry, figures: () => Figures | undefined): void {
  const gauge = (of: keyof Figures, help: string): void => {
    new Gauge({
      name: `agent_${of}`,
      help: `${help}; CPU in cores, memory and storage in bytes.`,
      labelNames: ["resource"],
      registers: [registry],
      collect() {
        this.reset();
        const vector = figures()?.[of];
        if (vector === undefined) return;
        for (const [resource, amount] of inBaseUnits(vector)) this.set({ resource }, amount);
      },
    });
  };
  gauge("reserved", "Held for other clusters, as last advertised");
  gauge("available", "Left to lend, as last advertised");
}

/** Cpu and memory always, the others where there are any. Prometheus wants cores, not thousandths of them. */
function inBaseUnits(vector: ResourceVector): [string, number][] {
  const others = resourceNames(vector).filter((name) => name !== "cpu" && name !== "memory");
  return [
    ["cpu", vector.cpuMillis / 1000],
    ["memory", vector.memoryBytes],
    ...others.map((name): [string, number] => [name, amountOf(vector, name)]),
  ];
}
