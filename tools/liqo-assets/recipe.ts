/** What is taken from Liqo and how. It is part of the folder's name: another recipe is another folder. */

export const MODULE = "github.com/liqotech/liqo";
export const PROGRAM = "liqoctl";
const PACKAGE = `${MODULE}/cmd/liqoctl`;
/** Where Liqo keeps the definitions of its kinds, inside its module. */
export const DEFINITIONS = "deployments/liqo/charts/liqo-crds/crds";

const COMPILE_FLAGS: readonly string[] = ["-trimpath", "-buildvcs=false"];

/** Without the version liqoctl would call itself "unknown". */
export function buildArgs(version: string, target: string): string[] {
  const links = `-s -w -X ${MODULE}/pkg/liqoctl/version.LiqoctlVersion=${version}`;
  return ["build", ...COMPILE_FLAGS, "-v", "-ldflags", links, "-o", target, PACKAGE];
}

/** Packages that are not in Go's own cache yet, one a line. */
export function staleArgs(): string[] {
  return ["list", "-deps", ...COMPILE_FLAGS, "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", PACKAGE];
}
