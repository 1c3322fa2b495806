import type { Program } from "../go-assets/bring.ts";
import { type Pins, pinnedRelease } from "../go-assets/cache.ts";
import type { PinnedModule } from "../go-assets/pinned-module.ts";

/** What is taken from whom, and how. It is part of the folder's name: another recipe is another folder. */

const HELM_MODULE = "helm.sh/helm/v3";
export const PROGRAM = "helm";

/** A module of which only the definitions (CRDs) are wanted. */
interface DefinitionsModule extends PinnedModule {
  /** The folder they go to. */
  readonly name: string;
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

/** The names of what is in the finished folder. */
export const PARTS: readonly string[] = [PROGRAM, ...DEFINITIONS.map(({ name }) => name)];

/** What helm says of itself, and the Kubernetes it renders for where nobody names another. */
export interface HelmVersions {
  readonly helm: string;
  /** The release of client-go that it is built with: `v0.37.0` is Kubernetes 1.37. */
  readonly clientGo: string;
}

/** Without these it would leave out the last number of its version, and render for Kubernetes 1.20. */
export function helm({ helm: version, clientGo }: HelmVersions): Program {
  const [, minor = ""] = clientGo.split(".");
  const kubernetes = ["pkg/lint/rules", "pkg/chartutil"].flatMap((path) => [
    `-X ${HELM_MODULE}/${path}.k8sVersionMajor=1`,
    `-X ${HELM_MODULE}/${path}.k8sVersionMinor=${minor}`,
  ]);
  const linkFlags = ["-s -w", `-X ${HELM_MODULE}/internal/version.version=${version}`, ...kubernetes].join(
    " ",
  );
  return { name: PROGRAM, package: `${HELM_MODULE}/cmd/helm`, linkFlags };
}

/** `v3.22.0` and `v0.37.0`, as go.mod pins them. */
export function helmVersions(pins: Pick<Pins, "goMod">): HelmVersions {
  return { helm: pinnedRelease(pins, HELM_MODULE), clientGo: pinnedRelease(pins, "k8s.io/client-go") };
}
