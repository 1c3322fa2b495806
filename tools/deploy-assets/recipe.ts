/** What is taken from whom, and how. It is part of the folder's name: another recipe is another folder. */

const HELM_MODULE = "helm.sh/helm/v3";
const HELM_PACKAGE = `${HELM_MODULE}/cmd/helm`;
export const PROGRAM = "helm";

/** A module of which only the definitions (CRDs) are wanted. */
export interface DefinitionsModule {
  /** The folder they go to. */
  readonly name: string;
  readonly path: string;
  readonly version: string;
  /** Go's checksum of the module's zip: what go.sum is for the modules of a build. */
  readonly sum: string;
  /** Where in the module they are. */
  readonly folder: string;
}

export const DEFINITIONS: readonly DefinitionsModule[] = [
  {
    name: "cert-manager",
    path: "github.com/cert-manager/cert-manager",
    version: "v1.21.2",
    sum: "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
    folder: "deploy/crds",
  },
  {
    name: "prometheus-operator",
    path: "github.com/prometheus-operator/prometheus-operator",
    version: "v0.85.0",
    sum: "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
    folder: "example/prometheus-operator-crd",
  },
];

const COMPILE_FLAGS: readonly string[] = ["-trimpath", "-buildvcs=false"];

/** What helm says of itself, and the Kubernetes it renders for where nobody names another. */
export interface HelmVersions {
  readonly helm: string;
  /** The release of client-go that it is built with: `v0.37.0` is Kubernetes 1.37. */
  readonly clientGo: string;
}

/** Without them helm would leave out the last number of its version, and render for Kubernetes 1.20. */
export function buildArgs({ helm, clientGo }: HelmVersions, target: string): string[] {
  const [, minor = ""] = clientGo.split(".");
  const kubernetes = ["pkg/lint/rules", "pkg/chartutil"].flatMap((path) => [
    `-X ${HELM_MODULE}/${path}.k8sVersionMajor=1`,
    `-X ${HELM_MODULE}/${path}.k8sVersionMinor=${minor}`,
  ]);
  const links = ["-s -w", `-X ${HELM_MODULE}/internal/version.version=${helm}`, ...kubernetes].join(" ");
  return ["build", ...COMPILE_FLAGS, "-v", "-ldflags", links, "-o", target, HELM_PACKAGE];
}

/** Packages that are not in Go's own cache yet, one a line. */
export function staleArgs(): string[] {
  return ["list", "-deps", ...COMPILE_FLAGS, "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", HELM_PACKAGE];
}

/** `v3.22.0` and `v0.37.0`, as go.mod pins them. */
export function helmVersions(goMod: string): HelmVersions {
  return { helm: pinned(goMod, HELM_MODULE), clientGo: pinned(goMod, "k8s.io/client-go") };
}

function pinned(goMod: string, module: string): string {
  const line = goMod
    .split("\n")
    .find((each) => each.trim().replace("require ", "").startsWith(`${module} v`));
  const version = /v\d+\.\d+\.\d+/.exec(line?.split(module)[1] ?? "")?.[0];
  if (version === undefined) throw new Error(`go.mod pins no release of ${module}`);
  return version;
}

/** Where Go put a module, from what `go mod download -json` says of it; throws where it is not the pinned one. */
export function moduleFolder(module: DefinitionsModule, said: string): string {
  const reply: unknown = JSON.parse(said);
  const [folder, sum] = [textIn(reply, "Dir"), textIn(reply, "Sum")];
  if (folder === undefined) throw new Error(`Go does not say where ${module.path} is: ${said.trim()}`);
  if (sum !== module.sum) {
    throw new Error(
      `${module.path}@${module.version} has the checksum ${sum}, not ${module.sum}: not taken.`,
    );
  }
  return folder;
}

function textIn(value: unknown, name: string): string | undefined {
  const found = Object.entries(value ?? {}).find(([key]) => key === name)?.[1] as unknown;
  return typeof found === "string" ? found : undefined;
}
