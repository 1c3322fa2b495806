import type { Program } from "../go-assets/bring.ts";

/** What is taken from Liqo and how. It is part of the folder's name: another recipe is another folder. */

export const MODULE = "github.com/liqotech/liqo";
export const PROGRAM = "liqoctl";
/** Where Liqo keeps the definitions of its kinds, inside its module. */
export const DEFINITIONS = "deployments/liqo/charts/liqo-crds/crds";

/** Without the version it would call itself "unknown". */
export function liqoctl(version: string): Program {
  const linkFlags = `-s -w -X ${MODULE}/pkg/liqoctl/version.LiqoctlVersion=${version}`;
  return { name: PROGRAM, package: `${MODULE}/cmd/liqoctl`, linkFlags };
}
