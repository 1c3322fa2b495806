import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Assets, pinnedRelease, printedBy, readPins } from "../go-assets/assets-tool.ts";
import { buildArgs, type Program } from "../go-assets/bring.ts";
import { BUILD_ENV, type PinnedModule } from "../go-assets/go.ts";

const GO_MODULE = fileURLToPath(new URL(".", import.meta.url));
const PINS = readPins(GO_MODULE);
const HELM_MODULE = "helm.sh/helm/v3";
const VERSION = pinnedRelease(PINS, HELM_MODULE);

/** A module of which only the definitions (CRDs) are wanted. */
interface DefinitionsModule extends PinnedModule {
  /** The folder they go to. */
  readonly name: string;
  /** Where in the module they are. */
  readonly folder: string;
}

const DEFINITIONS: readonly DefinitionsModule[] = [
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

/** Without these flags it would leave out the last number of its version, and render for Kubernetes 1.20. */
const HELM: Program = {
  name: "helm",
  package: `${HELM_MODULE}/cmd/helm`,
  linkFlags: ["-s -w", `-X ${HELM_MODULE}/internal/version.version=${VERSION}`, ...kubernetesFlags()].join(
    " ",
  ),
};

/** The release of client-go that helm is built with: `v0.37.0` is Kubernetes 1.37. */
function kubernetesFlags(): string[] {
  const [, minor = ""] = pinnedRelease(PINS, "k8s.io/client-go").split(".");
  return ["pkg/lint/rules", "pkg/chartutil"].flatMap((path) => [
    `-X ${HELM_MODULE}/${path}.k8sVersionMajor=1`,
    `-X ${HELM_MODULE}/${path}.k8sVersionMinor=${minor}`,
  ]);
}

export const DEPLOY_ASSETS: Assets = {
  name: "deploy-assets",
  label: `helm-${VERSION}`,
  what: `helm ${VERSION} with definitions`,
  firstTimeTakes: "some minutes",
  noGo: "Go is not installed, and helm and the definitions are not on this machine. Install Go 1.26 or newer and run this again.",
  goModule: GO_MODULE,
  list: {
    copies: DEFINITIONS.map(({ name, folder, ...module }) => ({
      to: name,
      module,
      from: folder,
      nameEnd: ".yaml",
    })),
    programs: [HELM],
  },
  recipe: [PINS.goMod, PINS.goSum, BUILD_ENV, DEFINITIONS, buildArgs(HELM, "")],
  describe: async (folder) => {
    const said = await printedBy(folder, "helm", "version", "--short");
    if (!said.startsWith(VERSION)) throw new Error(`helm is not ${VERSION} but says: ${said}`);
    const definitions = DEFINITIONS.map(({ name, version }) => {
      const count = readdirSync(join(folder, name)).length;
      if (count === 0) throw new Error(`${name}'s module has no definitions where they are looked for.`);
      return `${count} definitions of ${name} ${version}`;
    });
    return [`helm ${VERSION}`, ...definitions].join(", ");
  },
};
