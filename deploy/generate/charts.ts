import type { RbacChart } from "./rbac-template.ts";
import { AGENT_VALUES } from "./values/agent.ts";
import { BROKER_VALUES } from "./values/broker.ts";
import type { Schema } from "./values/schema.ts";

/** A chart, and what of the sources goes into it and into the kustomization of the same program. */
export interface Chart extends RbacChart {
  readonly values: Schema;
  /** Where kustomize installs the program. */
  readonly namespace: string;
  /** Its files of rights in deploy/rbac, and where a kustomization has a copy. */
  readonly rights: Readonly<Record<string, string | undefined>>;
  readonly admission: readonly Admission[];
}

/** Rules of deploy/admission that narrow rights down. */
interface Admission {
  readonly file: string;
  /** Its name among the chart's templates. */
  readonly template: string;
  readonly condition: string;
  /** Where a kustomization has a copy. */
  readonly copy?: string;
  /** What stands for a text of the file in the chart. */
  readonly replace?: readonly (readonly [text: string, by: string])[];
}

const AGGREGATED = `.Values.rbac.aggregate (include "broker.usesObjects" .)`;
const LENDS = `(include "agent.lends" .)`;
const BORROWS = `(include "agent.borrows" .)`;
const RELAYS = `(include "agent.relays" .)`;
const AGENT_ACCOUNT = [
  "system:serviceaccount:rear-agent:resource-broker-agent",
  `system:serviceaccount:{{ .Release.Namespace }}:{{ include "agent.serviceAccountName" . }}`,
] as const;
const IN_RELEASE = "{{ .Release.Namespace }}";

export const CHARTS: readonly Chart[] = [
  {
    folder: "broker",
    name: "resource-broker",
    namespace: "resource-broker-system",
    values: BROKER_VALUES,
    namespaces: {
      "resource-broker-system": IN_RELEASE,
      default: `{{ include "broker.objectsNamespace" . }}`,
    },
    // brokerctl kubeconfig issue binds agents to it.
    fixed: ["resource-broker-agents"],
    conditions: {
      "resource-broker": `(include "broker.usesObjects" .)`,
      "resource-broker-pods": `(include "broker.isReplicated" .)`,
      "resource-broker-enrollment": `(eq (include "broker.signer" .) "cert-manager")`,
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
    rights: {
      "broker.yaml": "broker/rbac.yaml",
      "broker-enrollment.yaml": "joining/rbac.yaml",
      "broker-pods.yaml": undefined,
      "broker-store.yaml": undefined,
      "broker-agents.yaml": "rbac/broker-agents.yaml",
      "people-broker.yaml": "rbac/people-broker.yaml",
    },
    // Only the broker's cluster has agents of others.
    admission: [
      {
        file: "agent-writes.yaml",
        template: "agent-writes.yaml",
        condition: `and .Values.admission.install (has "kubernetes" .Values.interfaces)`,
        copy: "rbac/agent-writes.yaml",
      },
    ],
  },
  {
    folder: "agent",
    name: "resource-broker-agent",
    namespace: "rear-agent",
    values: AGENT_VALUES,
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
      "resource-broker-agent-identity": `(include "agent.hasIdentity" .)`,
      "resource-broker-agent-liqo": LENDS,
      "resource-broker-agent-liqo-marks": BORROWS,
      "resource-broker-agent-liqo-lend": LENDS,
      "resource-broker-agent-liqo-borrow": BORROWS,
      "resource-broker-agent-relay": RELAYS,
      "resource-broker-agent-relay-pins": RELAYS,
      "resource-broker-agent-relay-requester": RELAYS,
      "resource-broker-agent-relay-provider": RELAYS,
      "resource-broker-agent-liqoctl": ".Values.liqo.borrow.enabled",
      "resource-broker-agent-liqo-tenant": ".Values.liqo.borrow.enabled",
    },
    resourceNames: {
      "resource-broker-agent": `{{ include "agent.fullname" . }}`,
      prices: "{{ .Values.prices.configMap | quote }}",
      "resource-broker-agent-identity, resource-broker-join": `{{ include "agent.identitySecret" . }}{{ with .Values.join.existingSecret }}, {{ . | quote }}{{ end }}`,
    },
    rights: {
      "agent.yaml": "agent/rbac.yaml",
      "agent-leader-election.yaml": undefined,
      "agent-identity.yaml": "agent/identity-rbac.yaml",
      "agent-prices.yaml": undefined,
      "agent-liqo.yaml": undefined,
      "agent-relay.yaml": undefined,
      "people-rear.yaml": "agent/people.yaml",
    },
    // Only an agent that borrows has rights to be narrowed down.
    admission: [
      {
        file: "agent-liqo.yaml",
        template: "admission-liqo.yaml",
        condition: `and ${BORROWS} .Values.liqo.borrow.admission`,
        replace: [
          AGENT_ACCOUNT,
          ["'kube-node-lease', 'liqo'", "'kube-node-lease', '{{ .Values.liqo.namespace }}'"],
        ],
      },
      {
        file: "agent-relay.yaml",
        template: "admission-relay.yaml",
        condition: `and ${RELAYS} .Values.liqo.borrow.admission`,
        replace: [AGENT_ACCOUNT],
      },
      {
        file: "agent-relay-requests.yaml",
        template: "admission-relay-requests.yaml",
        condition: `and ${RELAYS} .Values.liqo.borrow.admission .Values.liqo.relay.strictRequests`,
        replace: [AGENT_ACCOUNT],
      },
    ],
  },
];
