import { stringify } from "yaml";
import type { CustomResourceDefinition } from "../src/crd/definition.ts";

/** The text of one file under deploy/crds. */
export function crdYaml(definition: CustomResourceDefinition): string {
  return `${GENERATED}---\n${stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

const GENERATED = "# Generated from packages/contract. Do not edit: run `npm run generate`.\n";
