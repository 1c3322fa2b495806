import { stringify } from "yaml";
import { type CustomResourceDefinition, customResourceDefinition, KINDS } from "../src/crd/definition.ts";
import { apiReference } from "./api-reference.ts";
import { limitsReference } from "./limits-reference.ts";
import { openApiDocument } from "./openapi/document.ts";
import { faultsReference, kindsReference, policyReference } from "./reference.ts";

/** The charts hold the definitions; deploy/crds links to them. */
export const CRD_FOLDERS = ["deploy/helm/broker/files/crds", "deploy/helm/agent/files/crds"] as const;

function crdFolder(group: string): string {
  return CRD_FOLDERS[group === "broker.fluidos.eu" ? 0 : 1];
}

/** The text of one definition. */
export function crdYaml(definition: CustomResourceDefinition): string {
  return `${GENERATED}---\n${stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

const GENERATED = "# Generated from packages/contract. Do not edit: run `npm run generate`.\n";

/** Every generated file by its path from the repository's root. The same input always gives the same bytes. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ["packages/contract/openapi.json", `${JSON.stringify(openApiDocument(), undefined, 2)}\n`],
    ...KINDS.map((kind) => {
      const file = `${crdFolder(kind.group)}/${kind.group}_${kind.plural}.yaml`;
      return [file, crdYaml(customResourceDefinition(kind))] as const;
    }),
    ["docs/reference/crds.md", kindsReference(KINDS)],
    ["docs/reference/faults.md", faultsReference()],
    ["docs/reference/policy.md", policyReference()],
    ["docs/reference/api.md", apiReference()],
    ["docs/reference/limits.md", limitsReference()],
  ]);
}
