import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type RbacChart, rbacTemplate } from "./rbac-template.ts";

const CHART: RbacChart = {
  folder: "agent",
  name: "resource-broker-agent",
  namespaces: { "rear-agent": "{{ .Release.Namespace }}", default: "{{ .Values.objectsNamespace }}" },
  fixed: ["known-by-its-name"],
  conditions: { "resource-broker-agent-prices": ".Values.prices.configMap" },
  resourceNames: { prices: "{{ .Values.prices.configMap }}", "pod-0, pod-1": "{{ .Values.pods }}" },
};

const template = (source: string): string => rbacTemplate(source, "deploy/rbac/x.yaml", CHART);

const ROLE = `kind: Role
metadata: { name: resource-broker-agent-prices, namespace: rear-agent }
rules:
  # Follows this one only.
  - { apiGroups: [""], resources: [configmaps], resourceNames: [prices], verbs: [list] }
`;

describe("a role", () => {
  test("keeps its rules and their reasons, and is named after the release", () => {
    expect(
      template(ROLE),
    ).toBe(`{{- /* Generated from deploy/rbac/x.yaml. Do not edit: run \`node deploy/generate/main.ts\`. */}}
{{- if and .Values.rbac.create (include "agent.usesCluster" .) .Values.prices.configMap }}
---
kind: Role
metadata:
  name: {{ include "agent.fullname" . }}-prices
  namespace: {{ .Release.Namespace }}
  labels: {{- include "agent.labels" . | nindent 4 }}
rules:
  # Follows this one only.
  - { apiGroups: [""], resources: [configmaps], resourceNames: [{{ .Values.prices.configMap }}], verbs: [list] }
{{- end }}
`);
  });

  test("that others look for keeps its name, and goes where the objects are", () => {
    const text = template("kind: Role\nmetadata: { name: known-by-its-name }\nrules: []\n");
    expect(text).toContain("  name: known-by-its-name\n  namespace: {{ .Values.objectsNamespace }}\n");
  });
});

test("a binding names the release's role and account", () => {
  const text = template(`kind: RoleBinding
metadata: { name: resource-broker-agent, namespace: default }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: resource-broker-agent }
subjects: [{ kind: ServiceAccount, name: resource-broker-agent, namespace: rear-agent }]
`);
  expect(text).toContain('  kind: Role\n  name: {{ include "agent.fullname" . }}\n');
  expect(text).toContain(
    '    name: {{ include "agent.serviceAccountName" . | quote }}\n    namespace: {{ .Release.Namespace }}\n',
  );
});

const refused: [name: string, source: string, says: string][] = [
  [
    "a namespace that the chart has no value for",
    ROLE.replace("namespace: rear-agent", "namespace: other"),
    "the namespace other",
  ],
  [
    "a name that does not belong to the release",
    ROLE.replace("resource-broker-agent-prices", "mine"),
    "mine does not begin with",
  ],
  [
    "metadata that is written in another way",
    "kind: Role\nmetadata:\n  name: x\nrules: []\n",
    "x is not written as the others are",
  ],
  ["what is no object", "- 1\n", "no object of Kubernetes"],
];
test.each(refused)("%s is refused", (_, source, says) => {
  expect(() => template(source)).toThrow(says);
});

test("an agent that only lends may write none of Liqo's ConfigMaps", () => {
  const text = readFileSync(join(import.meta.dirname, "../rbac/agent-liqo.yaml"), "utf8");
  const roles = parseAllDocuments(text).map((document) => document.toJS() as SomeRole);
  const onMaps = roles.flatMap(({ metadata, rules = [] }) =>
    rules
      .filter(({ resources }) => resources.includes("configmaps"))
      .map(({ verbs }) => [metadata.name, verbs]),
  );
  expect(onMaps).toEqual([
    ["resource-broker-agent-liqo", ["list"]],
    ["resource-broker-agent-liqo-marks", ["get", "create", "update", "delete"]],
  ]);
});

interface SomeRole {
  readonly metadata: { readonly name: string };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}
