export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export type Labels = Readonly<Record<string, string>>;

export type MetricType = "counter" | "gauge" | "histogram";

/** One value of a metric. */
export interface Sample {
  /** What follows the metric's name: `_sum`, or nothing. */
  readonly suffix: string;
  readonly labels: Labels;
  readonly value: number;
}

/** A metric as Prometheus reads it. */
export function metricText(
  { name, help, type }: { readonly name: string; readonly help: string; readonly type: MetricType },
  samples: Iterable<Sample>,
): string {
  const lines = [`# HELP ${name} ${help.replace(/[\\\n]/g, escaped)}`, `# TYPE ${name} ${type}`];
  for (const { suffix, labels, value } of samples)
    lines.push(`${name}${suffix}${labelText(labels)} ${numberText(value)}`);
  return `${lines.join("\n")}\n`;
}

export function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\\n"]/g, escaped)}"`,
  );
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

export function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "+Inf" : "-Inf";
}

function escaped(character: string): string {
  return character === "\n" ? "\\n" : `\\${character}`;
}
