/** A metric as a scrape shows it. */
export interface ScrapedMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** In the order in which they are written; without the `le` of a histogram's buckets. */
  readonly labels: readonly string[];
}

/** Every metric of a page in the text format of Prometheus. */
export function metricsIn(scrape: string): readonly ScrapedMetric[] {
  return scrape.split(/\n(?=# HELP )/).map((block) => {
    const [, name = "", help = ""] = /^# HELP (\S+) (.*)$/m.exec(block) ?? [];
    const [, type = ""] = /^# TYPE \S+ (\S+)$/m.exec(block) ?? [];
    const labels = [...block.matchAll(/[{,](\w+)="/g)].map(([, label = ""]) => label);
    return { name, type, help, labels: [...new Set(labels)].filter((label) => label !== "le") };
  });
}

/** The samples of one metric: its labels as they are written, and its value. */
export function samplesOf(scrape: string, name: string): Record<string, number> {
  const lines = scrape
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return Object.fromEntries(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(name.length, space), Number(line.slice(space + 1))];
    }),
  );
}

/** A page of the reference that says of every metric in a scrape what it is. */
export function metricsPage(scrape: string, introduction: readonly string[]): string {
  const rows = metricsIn(scrape).map(({ name, type, labels, help }) => {
    const shown = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  return [
    ...introduction,
    "",
    "| Name | Type | Labels | Meaning |",
    "|---|---|---|---|",
    ...rows.sort(),
    "",
  ].join("\n");
}
