import type { SchemaNode } from "../schema/node.ts";
import { advertisementKind } from "./advertisement.ts";
import { brokerPolicyKind } from "./broker-policy.ts";
import { clusterAdvertisementKind } from "./cluster-advertisement.ts";
import { CATEGORY, type Column, type Kind, type Rule } from "./kind.ts";
import { providerInstructionKind } from "./provider-instruction.ts";
import { reservationKind } from "./reservation.ts";
import { reservationInstructionKind } from "./reservation-instruction.ts";
import { resourceRequestKind } from "./resource-request.ts";
import { type StructuralSchema, structural } from "./structural.ts";

/** A CustomResourceDefinition as plain data, ready to be applied to an API server. */
export type CustomResourceDefinition = ReturnType<typeof customResourceDefinition>;

export function customResourceDefinition(kind: Kind<unknown, unknown>) {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${kind.plural}.${kind.group}`,
      labels: { "app.kubernetes.io/part-of": "resource-broker" },
    },
    spec: {
      group: kind.group,
      scope: "Namespaced",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        shortNames: kind.shortNames,
        categories: [CATEGORY],
      },
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: kind.columns.map(printerColumn),
          schema: { openAPIV3Schema: rootSchema(kind) },
        },
      ],
    },
  } as const;
}

function rootSchema(kind: Kind<unknown, unknown>): StructuralSchema {
  const status: SchemaNode = {
    ...kind.status,
    description: "What was observed. Written by the broker or the agent.",
  };
  const spec: SchemaNode = { ...kind.spec, description: "What is wanted or stated." };
  const root: StructuralSchema = {
    description: kind.description,
    type: "object",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string", description: "Version of this representation of an object." },
      kind: { type: "string", description: "The kind of object this is." },
      metadata: { type: "object" },
      spec: structural(spec),
      status: structural(status),
    },
  };
  return (kind.rules ?? []).reduce(withRule, root);
}

/** Adds a rule at its place, walking down through `properties`. */
function withRule(schema: StructuralSchema, { at, ...rule }: Rule): StructuralSchema {
  if (at === "") {
    return { ...schema, "x-kubernetes-validations": [...(schema["x-kubernetes-validations"] ?? []), rule] };
  }
  const [name = "", ...rest] = at.split(".");
  const child = schema.properties?.[name];
  if (child === undefined) throw new Error(`a rule is placed at ${at}, where there is no field ${name}`);
  return {
    ...schema,
    properties: { ...schema.properties, [name]: withRule(child, { ...rule, at: rest.join(".") }) },
  };
}

function printerColumn({ isWide, ...column }: Column) {
  return { ...column, priority: isWide === true ? 1 : 0 };
}

/** Every kind there is. */
export const KINDS: readonly Kind<unknown, unknown>[] = [
  advertisementKind,
  resourceRequestKind,
  reservationInstructionKind,
  providerInstructionKind,
  clusterAdvertisementKind,
  reservationKind,
  brokerPolicyKind,
];
