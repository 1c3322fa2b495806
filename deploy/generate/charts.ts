import type { RbacChart } from "./rbac-template.ts";
import { AGENT_VALUES } from "./values/agent.ts";
import { BROKER_VALUES } from "./values/broker.ts";
import type { Schema } from "./values/schema.ts";

/** A chart, and what of the sources goes into it. */
export interface Chart {
  /** Its folder in deploy/helm, and the root of the same program in deploy/kustomize. */
  readonly folder: "broker" | "agent";
  readonly values: Schema;
  /** Where the values are described. */
  readonly valuesSource: string;
  readonly rbac: RbacChart;
  /** Its files of rights in deploy/rbac. */
  readonly rights: readonly string[];
}

const AGGREGATED = `.Values.rbac.aggregate (include "broker.usesObjects" .)`;
const IN_RELEASE = "{{ .Release.Namespace }}";

export const CHARTS: readonly Chart[] = [
  {
    folder: "broker",
    values: BROKER_VALUES,
    valuesSource: "deploy/generate/values/broker.ts",
    rbac: {
      helpers: "broker",
      stem: "resource-broker",
      namespaces: {
        "resource-broker-system": IN_RELEASE,
        default: `{{ include "broker.objectsNamespace" . }}`,
      },
      // brokerctl kubeconfig issue binds agents to it.
      fixed: ["resource-broker-agents"],
      conditions: {
        "resource-broker": `(include "broker.usesObjects" .)`,
        "resource-broker-pods": `(include "broker.isReplicated" .)`,
        "resource-broker-store": `(eq .Values.store.type "kubernetes")`,
        "resource-broker-view": AGGREGATED,
        "resource-broker-edit": AGGREGATED,
        "resource-broker-admin": AGGREGATED,
        "resource-broker-agents": `(has "kubernetes" .Values.interfaces)`,
      },
      resourceNames: {
        default: `{{ include "broker.objectsNamespace" . }}`,
        "resource-broker-0, resource-broker-1": `{{ include "broker.podNames" . }}`,
      },
    },
    rights: [
      "broker.yaml",
      "broker-pods.yaml",
      "broker-store.yaml",
      "broker-agents.yaml",
      "people-broker.yaml",
    ],
  },
  {
    folder: "agent",
    values: AGENT_VALUES,
    valuesSource: "deploy/generate/values/agent.ts",
    rbac: {
      helpers: "agent",
      stem: "resource-broker-agent",
      namespaces: {
        "rear-agent": IN_RELEASE,
        default: `{{ include "agent.objectsNamespace" . }}`,
        liqo: "{{ .Values.liqo.namespace }}",
      },
      // The agent binds it to itself in the tenant namespaces of Liqo.
      fixed: ["resource-broker-agent-liqo-tenant"],
      conditions: {
        "resource-broker-agent-leader-election": "(gt (int .Values.replicas) 1)",
        "resource-broker-agent-view": ".Values.rbac.aggregate",
        "resource-broker-agent-edit": ".Values.rbac.aggregate",
        "resource-broker-agent-prices": ".Values.prices.configMap",
        "resource-broker-agent-liqo": ".Values.liqo.enabled",
        "resource-broker-agent-liqo-marks": ".Values.liqo.borrow.enabled",
        "resource-broker-agent-liqo-lend": ".Values.liqo.enabled",
        "resource-broker-agent-liqo-borrow": ".Values.liqo.borrow.enabled",
        "resource-broker-agent-liqoctl": ".Values.liqo.borrow.enabled",
        "resource-broker-agent-liqo-tenant": ".Values.liqo.borrow.enabled",
      },
      resourceNames: {
        "resource-broker-agent": `{{ include "agent.fullname" . }}`,
        prices: "{{ .Values.prices.configMap | quote }}",
      },
    },
    rights: [
      "agent.yaml",
      "agent-leader-election.yaml",
      "agent-prices.yaml",
      "agent-liqo.yaml",
      "people-rear.yaml",
    ],
  },
];
