import type { ObjectMeta } from "@resource-broker/base";
import { CUSTOM_RESOURCE_DEFINITIONS, type Resource } from "@resource-broker/kube";
import type { DefinedResource } from "@resource-broker/kube/testing";
import { until } from "../world/until.ts";
import type { Setup } from "./kube-promise.ts";

/** A kind that has one of everything that our own kinds use, and some more. */
export interface Widget {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly size: string;
    readonly colour?: string;
    readonly replicas?: number;
    readonly serial?: string;
    readonly parts?: readonly { readonly name: string; readonly weight?: number }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly observedGeneration?: number;
    readonly conditions?: readonly object[];
  };
}

const text = { type: "string" };
const number = { type: "integer" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

const SPEC = object(
  {
    size: {
      ...text,
      maxLength: 20,
      "x-kubernetes-validations": [
        {
          rule: "isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))",
          message: "must be a quantity above 0",
        },
      ],
    },
    colour: { ...text, enum: ["red", "blue"] },
    code: { ...text, pattern: "^[A-Z]{3}$" },
    replicas: { ...number, minimum: 1, maximum: 10, default: 1 },
    least: number,
    most: number,
    serial: {
      ...text,
      maxLength: 20,
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "serial cannot be changed" }],
    },
    nested: object({ mode: { ...text, default: "easy" } }),
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    parts: {
      type: "array",
      items: object({ name: text, weight: number }, { required: ["name"] }),
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
  },
  {
    required: ["size"],
    "x-kubernetes-validations": [
      {
        rule: "!has(self.least) || !has(self.most) || self.least <= self.most",
        message: "least must not be above most",
      },
    ],
  },
);

const CONDITION = object(
  {
    type: text,
    status: text,
    reason: text,
    message: text,
    lastTransitionTime: { ...text, format: "date-time" },
  },
  { required: ["type"] },
);

const STATUS = object({
  phase: text,
  observedGeneration: { ...number, format: "int64" },
  conditions: {
    type: "array",
    items: CONDITION,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  },
});

const SCHEMA = object({ spec: SPEC, status: STATUS }, { required: ["spec"] });

const COLUMNS = [
  { name: "Size", type: "string", jsonPath: ".spec.size" },
  { name: "Colour", type: "string", jsonPath: ".spec.colour", priority: 1 },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

export function widgetDefinition(word: string, schema: object = SCHEMA): DefinedResource {
  const group = `${word}.example.com`;
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    subresources: { status: {} },
    additionalPrinterColumns: COLUMNS,
    selectableFields: [{ jsonPath: ".spec.colour" }],
  };
  return {
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets", singular: "widget" },
      versions: [version],
    },
  };
}

/** Installs a definition; resolves when its kind is served. */
export async function installed(
  { client, other }: Pick<Setup, "client" | "other">,
  definition: DefinedResource,
): Promise<Resource<Widget>> {
  const { group } = definition.spec;
  const widgets = { group, version: "v1", kind: "Widget", plural: "widgets", isNamespaced: true };
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  for (const each of [client, other]) {
    await until("the new kind is served", () => each.list(widgets, {}, () => undefined));
  }
  return widgets;
}
