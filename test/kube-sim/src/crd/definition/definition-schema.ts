import { readSchema, type Schema } from "../schema.ts";

/** What a CustomResourceDefinition can say, for dropping what it cannot; its values are judged elsewhere. */

const SCALARS = [
  "id $schema $ref description type format title nullable default maximum exclusiveMaximum minimum exclusiveMinimum",
  "maxLength minLength pattern maxItems minItems uniqueItems multipleOf enum maxProperties minProperties required",
  "example externalDocs x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-map-type",
].flatMap((words) => words.split(" "));
const RULE = "rule message messageExpression reason fieldPath optionalOldSelf";
const NAMES = "plural singular shortNames kind listKind categories";

const ANYTHING = readSchema({ "x-kubernetes-preserve-unknown-fields": true });

/** Schemas are made of schemas. */
const SCHEMA: Schema = schemaSchema();

export const DEFINITION: Schema = object({
  spec: object({
    ...fields("group scope preserveUnknownFields"),
    names: object(fields(NAMES)),
    conversion: ANYTHING,
    versions: list(
      object({
        ...fields("name served storage deprecated deprecationWarning"),
        schema: object({ openAPIV3Schema: SCHEMA }),
        subresources: object({ status: object({}), scale: ANYTHING }),
        additionalPrinterColumns: list(object(fields("name type format description priority jsonPath"))),
        selectableFields: list(object(fields("jsonPath"))),
      }),
    ),
  }),
  status: object({
    ...fields("storedVersions observedGeneration"),
    conditions: list(ANYTHING),
    acceptedNames: object(fields(NAMES)),
  }),
});

function schemaSchema(): Schema {
  const properties = new Map<string, Schema>(SCALARS.map((word) => [word, ANYTHING]));
  // It holds itself, so it is made before it is filled.
  const schema: Schema = { ...object({}), properties };
  const schemas = list(schema);
  const byName: Schema = { ...object({}), additional: schema };
  for (const word of ["allOf", "anyOf", "oneOf"]) properties.set(word, schemas);
  for (const word of ["properties", "patternProperties", "definitions"]) properties.set(word, byName);
  for (const word of ["items", "not", "additionalProperties", "additionalItems"]) {
    // `items` may be a list too: that is refused, by its own name.
    properties.set(word, { ...schema, items: schema });
  }
  properties.set("dependencies", ANYTHING);
  properties.set("x-kubernetes-validations", list(object(fields(RULE))));
  return schema;
}

function fields(names: string): Readonly<Record<string, Schema>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, ANYTHING]));
}

function object(properties: Readonly<Record<string, Schema>>): Schema {
  return { ...readSchema({ type: "object" }), properties: new Map(Object.entries(properties)) };
}

function list(items: Schema): Schema {
  return { ...readSchema({ type: "array" }), items };
}
