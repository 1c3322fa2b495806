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
  const { folder, values, rights, admission } = chart;
  const into = `deploy/helm/${folder}`;
  return [
    [`${into}/values.schema.json`, schemaFile(values)],
    [`${into}/values.yaml`, valuesFile(values, `deploy/generate/values/${folder}.ts`)],
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
    ...Object.keys(rights).map((name): File => {
      const path = `deploy/rbac/${name}`;
      return [`${into}/templates/rbac/${name}`, rbacTemplate(sources.read(path), path, chart)];
    }),
    ...admission.map(
      (rules): File => [`${into}/templates/rbac/${rules.template}`, admissionTemplate(rules, sources)],
    ),
  ];
}

function admissionTemplate(rules: Chart["admission"][number], sources: Sources): string {
  const { file, condition, replace = [] } = rules;
  const source = `deploy/admission/${file}`;
  const template = conditional(sources.read(source), source, condition);
  return replace.reduce((after, [text, by]) => after.replaceAll(text, by), template);
}

function kustomizeFiles(chart: Chart, sources: Sources): File[] {
  const { folder, rights, admission } = chart;
  const alerts = filesOf(chart, sources, "alerts").map(
    (name): File => [name, sources.read(`deploy/helm/${folder}/files/alerts/${name}`)],
  );
  const copied = [
    ...Object.entries(rights).map(([name, copy]) => [`deploy/rbac/${name}`, copy] as const),
    ...admission.map(({ file, copy }) => [`deploy/admission/${file}`, copy] as const),
  ];
  return [
    ...copied.flatMap(([source, copy]): File[] => {
      if (copy === undefined) return [];
      const text = inOwnNamespace(sources.read(source), folder);
      return [[`deploy/kustomize/${copy}`, copyOf(text, source)]];
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
