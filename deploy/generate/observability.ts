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

/** Grafana's dashboards, and the kustomization that makes ConfigMaps of them. */
export function dashboardCopies({ folder }: Pick<Chart, "folder">, files: readonly File[]): File[] {
  const into = `deploy/kustomize/prometheus/${folder}/dashboards`;
  const names = files.map(([name]) => name);
  const kustomization = [
    `# Generated from deploy/observability/dashboards. ${DO_NOT_EDIT}`,
    "apiVersion: kustomize.config.k8s.io/v1beta1",
    "kind: Kustomization",
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
  return [
    ...files.map(([name, text]): File => [`${into}/${name}`, text]),
    [`${into}/kustomization.yaml`, kustomization],
  ];
}
