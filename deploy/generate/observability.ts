import type { Chart } from "./charts.ts";

type File = readonly [path: string, text: string];

const DO_NOT_EDIT = "Do not edit: run `node deploy/generate/main.ts`.";
type Names = Pick<Chart, "name" | "namespace">;

/** Prometheus' rule files as one object of its operator. */
export function ruleFiles({ name, namespace }: Names, files: readonly File[]): string {
  const head = [
    `# Generated from deploy/observability/alerts. ${DO_NOT_EDIT}`,
    "apiVersion: monitoring.coreos.com/v1",
    "kind: PrometheusRule",
    "metadata:",
    `  name: ${name}`,
    `  namespace: ${namespace}`,
    "  labels:",
    `    app.kubernetes.io/name: ${name}`,
    "spec:",
    files.length === 0 ? "  groups: []" : "  groups:",
  ];
  return `${[...head, ...files.flatMap(([file, text]) => groupsIn(file, text))].join("\n")}\n`;
}

/** What stands below `groups:`, with its comments. */
function groupsIn(name: string, text: string): string[] {
  const [before = "", groups] = text.split(/^groups:\n/m);
  if (groups === undefined || /^[^#\s-]/m.test(`${before}${groups}`)) {
    throw new Error(`deploy/observability/alerts/${name} holds something else than groups`);
  }
  const lines = groups.trimEnd().split("\n");
  const indent = lines.find((line) => /^\s*-/.test(line))?.startsWith("-") === true ? "    " : "  ";
  return lines.map((line) => (line.trim() === "" ? "" : `${indent}${line}`));
}

/** The part of a kustomization that makes ConfigMaps of Grafana's dashboards. */
export function dashboardMaps({ name, namespace }: Names, files: readonly string[]): string {
  return [
    `namespace: ${namespace}`,
    files.length === 0 ? "configMapGenerator: []" : "configMapGenerator:",
    ...files.flatMap((file) => [
      `  - name: ${name}-dashboard-${file.replace(/\.json$/, "")}`,
      `    files: [${file}]`,
    ]),
    "generatorOptions:",
    "  disableNameSuffixHash: true",
    `  labels: { app.kubernetes.io/name: ${name}, grafana_dashboard: "1" }`,
    "",
  ].join("\n");
}
