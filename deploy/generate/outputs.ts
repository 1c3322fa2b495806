import { CHARTS, type Chart } from "./charts.ts";
import { dashboardMaps, ruleFiles } from "./observability.ts";
import { rbacTemplate } from "./rbac-template.ts";
import { schemaFile, valuesFile, valuesTable } from "./values/values-files.ts";

/** Reads the repository, by paths from its root. */
export interface Sources {
  readonly read: (path: string) => string;
  /** Names in a folder, sorted; none where there is no such folder. */
  readonly list: (folder: string) => readonly string[];
}

/** Every file that is made from others, by its path from the repository's root. */
export function generatedFiles(sources: Sources): ReadonlyMap<string, string> {
  return new Map(
    CHARTS.flatMap((chart) => [...chartFiles(chart, sources), ...kustomizeFiles(chart, sources)]),
  );
}

/** Folders that hold nothing but generated files: whatever else is in them is left over. */
export const GENERATED_FOLDERS: readonly string[] = CHARTS.flatMap(({ folder }) => [
  `deploy/helm/${folder}/templates/rbac`,
]);

type File = readonly [path: string, text: string];

function chartFiles(chart: Chart, sources: Sources): File[] {
  const { folder, values, valuesSource, rbac, rights } = chart;
  const into = `deploy/helm/${folder}`;
  return [
    [`${into}/values.schema.json`, schemaFile(values)],
    [`${into}/values.yaml`, valuesFile(values, valuesSource)],
    [`${into}/README.md`, readme(sources.read(`${into}/README.md`), valuesTable(values))],
    // Kustomize reads the chart's own files: each is in git once.
    [
      `${into}/files/crds/kustomization.yaml`,
      kustomization(
        `resources:\n${filesOf(chart, sources, "crds")
          .map((name) => `  - ${name}\n`)
          .join("")}`,
      ),
    ],
    [
      `${into}/files/dashboards/kustomization.yaml`,
      kustomization(dashboardMaps(chart, filesOf(chart, sources, "dashboards"))),
    ],
    ...rights.map((name): File => {
      const path = `deploy/rbac/${name}`;
      return [`${into}/templates/rbac/${name}`, rbacTemplate(sources.read(path), path, rbac)];
    }),
    ...admissionFiles(chart, sources),
  ];
}

const ADMISSION = "deploy/admission/agent-writes.yaml";
const LIQO_ADMISSION = "deploy/admission/agent-liqo.yaml";
const AGENT_ACCOUNT = "system:serviceaccount:rear-agent:resource-broker-agent";

/** Only the broker's cluster has agents of others; only an agent that borrows has rights to be narrowed down. */
function admissionFiles({ folder }: Chart, sources: Sources): File[] {
  if (folder === "agent") {
    const account = `system:serviceaccount:{{ .Release.Namespace }}:{{ include "agent.serviceAccountName" . }}`;
    const rules = conditional(
      sources.read(LIQO_ADMISSION),
      LIQO_ADMISSION,
      "and .Values.liqo.borrow.enabled .Values.liqo.borrow.admission",
    );
    return [
      [`deploy/helm/${folder}/templates/rbac/admission-liqo.yaml`, rules.replaceAll(AGENT_ACCOUNT, account)],
    ];
  }
  const text = sources.read(ADMISSION);
  const condition = `and .Values.admission.install (has "kubernetes" .Values.interfaces)`;
  return [
    [`deploy/helm/${folder}/templates/rbac/agent-writes.yaml`, conditional(text, ADMISSION, condition)],
    ["deploy/kustomize/rbac/agent-writes.yaml", copyOf(text, ADMISSION)],
  ];
}

const KUSTOMIZE_RIGHTS: Readonly<Record<Chart["folder"], readonly File[]>> = {
  broker: [
    ["broker.yaml", "deploy/kustomize/broker/rbac.yaml"],
    ["broker-agents.yaml", "deploy/kustomize/rbac/broker-agents.yaml"],
    ["people-broker.yaml", "deploy/kustomize/rbac/people-broker.yaml"],
  ],
  agent: [
    ["agent.yaml", "deploy/kustomize/agent/rbac.yaml"],
    ["people-rear.yaml", "deploy/kustomize/agent/people.yaml"],
  ],
};

function kustomizeFiles(chart: Chart, sources: Sources): File[] {
  const { folder } = chart;
  const alerts = filesOf(chart, sources, "alerts").map(
    (name): File => [name, sources.read(`deploy/helm/${folder}/files/alerts/${name}`)],
  );
  return [
    ...KUSTOMIZE_RIGHTS[folder].map(([name, path]): File => {
      const source = `deploy/rbac/${name}`;
      return [path, copyOf(inOwnNamespace(sources.read(source), folder), source)];
    }),
    [`deploy/kustomize/prometheus/${folder}/alerts.yaml`, ruleFiles(chart, alerts)],
  ];
}

/** Installed by kustomize, the broker keeps its objects beside itself. */
function inOwnNamespace(text: string, folder: Chart["folder"]): string {
  if (folder === "agent") return text;
  return text
    .replaceAll("namespace: default", "namespace: resource-broker-system")
    .replaceAll("[default]", "[resource-broker-system]")
    .replaceAll('"default" is its --http-namespace.', '"resource-broker-system" is its --http-namespace.');
}

/** The names of a chart's own files of one kind. */
function filesOf({ folder }: Chart, { list }: Sources, kind: "alerts" | "crds" | "dashboards"): string[] {
  return list(`deploy/helm/${folder}/files/${kind}`).filter((name) => name !== "kustomization.yaml");
}

function conditional(text: string, source: string, condition: string): string {
  return `{{- if ${condition} }}\n${copyOf(escaped(text), source)}{{- end }}\n`;
}

function escaped(text: string): string {
  return text.replaceAll("{{", '{{ "{{" }}');
}

function copyOf(text: string, source: string): string {
  return `# Copied from ${source}. Do not edit: run \`node deploy/generate/main.ts\`.\n${text}`;
}

function kustomization(text: string): string {
  return `# Generated. Do not edit: run \`node deploy/generate/main.ts\`.\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n${text}`;
}

const MARKS = /(<!-- values -->\n)[\s\S]*(<!-- end of values -->\n)/;

function readme(text: string, table: string): string {
  if (!MARKS.test(text)) throw new Error("a chart's README.md has no place for its values");
  return text.replace(MARKS, (_, begin: string, end: string) => `${begin}${table}${end}`);
}
