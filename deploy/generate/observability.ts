import type { Chart } from "./charts.ts";

type File = readonly [path: string, text: string];

const DO_NOT_EDIT = "Do not edit: run `node deploy/generate/main.ts`.";
const NAMESPACES: Readonly<Record<Chart["folder"], string>> = {
  broker: "resource-broker-system",
  agent: "rear-agent",
};
const NAMES: Readonly<Record<Chart["folder"], string>> = {
  broker: "resource-broker",
  agent: "resource-broker-agent",
};

/** Prometheus' rule files as one object of its operator. */
export function ruleFiles({ folder }: Pick<Chart, "folder">, files: readonly File[]): string {
  const head = [
    `# Generated from deploy/observability/alerts. ${DO_NOT_EDIT}`,
    "apiVersion: monitoring.coreos.com/v1",
    "kind: PrometheusRule",
    "metadata:",
    `  name: ${NAMES[folder]}`,
    `  namespace: ${NAMESPACES[folder]}`,
    "  labels:",
    `    app.kubernetes.io/name: ${NAMES[folder]}`,
    "spec:",
    files.length === 0 ? "  groups: []" : "  groups:",
  ];
  return `${[...head, ...files.flatMap(([name, text]) => groupsIn(name, text))].join("\n")}\n`;
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
export function dashboardMaps({ folder }: Pick<Chart, "folder">, names: readonly string[]): string {
  return [
    `namespace: ${NAMESPACES[folder]}`,
    names.length === 0 ? "configMapGenerator: []" : "configMapGenerator:",
    ...names.flatMap((name) => [
      `  - name: ${NAMES[folder]}-dashboard-${name.replace(/\.json$/, "")}`,
      `    files: [${name}]`,
    ]),
    "generatorOptions:",
    "  disableNameSuffixHash: true",
    `  labels: { app.kubernetes.io/name: ${NAMES[folder]}, grafana_dashboard: "1" }`,
    "",
  ].join("\n");
}
