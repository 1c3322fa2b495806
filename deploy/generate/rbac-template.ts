import { parse } from "yaml";

/** How the rights of one program become part of its chart. */
export interface RbacChart {
  /** In deploy/helm; the chart's helpers begin with it, too: `broker.fullname`. */
  readonly folder: "broker" | "agent";
  /** What names of objects begin with in the sources. */
  readonly name: string;
  /** Namespaces in the sources, and what stands for them in the chart. */
  readonly namespaces: Readonly<Record<string, string>>;
  /** Objects that keep their names: programs look for them by these. */
  readonly fixed: readonly string[];
  /** When an object of this name is made; others always are where rights are. */
  readonly conditions: Readonly<Record<string, string>>;
  /** Names inside rules, or a whole list of them, and what stands for them. */
  readonly resourceNames: Readonly<Record<string, string>>;
}

interface RbacObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** Namespaces and accounts are the chart's own business: it may be told others. */
const LEFT_OUT = ["Namespace", "ServiceAccount"];
const METADATA = /^metadata: \{ name: .+ \}$/m;
const REFERENCE = /^(roleRef: \{.*, name: )(\S+)( \})$/m;
const SUBJECT = /^subjects: \[\{ kind: ServiceAccount, name: \S+, namespace: \S+ \}\]$/m;
const RESOURCE_NAMES = /resourceNames: \[([^\]]+)\]/g;

/** One file of rights as a template, with every comment: each rule keeps its reason. */
export function rbacTemplate(source: string, path: string, chart: RbacChart): string {
  const parts = source
    .split(/^---\n/m)
    .map((text) => objectTemplate(text, chart))
    .filter((text) => text !== "");
  return `{{- /* Generated from ${path}. Do not edit: run \`node deploy/generate/main.ts\`. */}}\n${parts.join("")}`;
}

function objectTemplate(text: string, chart: RbacChart): string {
  const object: unknown = parse(text);
  if (!isObject(object)) throw new Error(`this is no object of Kubernetes:\n${text}`);
  if (LEFT_OUT.includes(object.kind)) return "";
  const needed = object.kind.endsWith("Binding") ? [METADATA, REFERENCE, SUBJECT] : [METADATA];
  if (!needed.every((line) => line.test(text))) {
    throw new Error(`${object.kind} ${object.metadata.name} is not written as the others are`);
  }
  const template = text
    .replace(METADATA, () => metadata(object, chart))
    .replace(REFERENCE, (_, before: string, name: string) => reference(before, nameOf(name, chart)))
    .replace(SUBJECT, () => subject(chart))
    .replaceAll(RESOURCE_NAMES, (_, names: string) => `resourceNames: [${resourceNames(names, chart)}]`);
  const always = `.Values.rbac.create (include "${chart.folder}.usesCluster" .)`;
  const condition = chart.conditions[object.metadata.name];
  return `{{- if and ${always}${condition === undefined ? "" : ` ${condition}`} }}\n---\n${template}{{- end }}\n`;
}

function isObject(value: unknown): value is RbacObject {
  return typeof value === "object" && value !== null && "kind" in value && "metadata" in value;
}

function metadata(
  { kind, metadata: { name, namespace, labels = {} } }: RbacObject,
  chart: RbacChart,
): string {
  const lines = ["metadata:", `  name: ${nameOf(name, chart)}`];
  if (namespace !== undefined || (chart.fixed.includes(name) && !kind.startsWith("Cluster"))) {
    lines.push(`  namespace: ${standsFor(namespace ?? "default", chart.namespaces)}`);
  }
  const own = Object.entries(labels).map(([label, value]) => `    ${label}: "${value}"`);
  return [...lines, `  labels: {{- include "${chart.folder}.labels" . | nindent 4 }}`, ...own].join("\n");
}

function nameOf(name: string, { fixed, name: stem, folder }: RbacChart): string {
  if (fixed.includes(name)) return name;
  if (!name.startsWith(stem)) throw new Error(`${name} does not begin with ${stem}`);
  return `{{ include "${folder}.fullname" . }}${name.slice(stem.length)}`;
}

function reference(before: string, name: string): string {
  const [, kind = ""] = /kind: (\w+)/.exec(before) ?? [];
  return ["roleRef:", "  apiGroup: rbac.authorization.k8s.io", `  kind: ${kind}`, `  name: ${name}`].join(
    "\n",
  );
}

function subject({ folder }: RbacChart): string {
  return [
    "subjects:",
    "  - kind: ServiceAccount",
    `    name: {{ include "${folder}.serviceAccountName" . | quote }}`,
    "    namespace: {{ .Release.Namespace }}",
  ].join("\n");
}

function resourceNames(names: string, { resourceNames: known }: RbacChart): string {
  const each = (): string[] => names.split(", ").map((name) => known[name] ?? name);
  return known[names] ?? each().join(", ");
}

function standsFor(namespace: string, namespaces: RbacChart["namespaces"]): string {
  const found = namespaces[namespace];
  if (found === undefined) throw new Error(`the namespace ${namespace} has no value in the chart`);
  return found;
}
