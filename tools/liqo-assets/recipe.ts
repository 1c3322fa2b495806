import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Assets, printedBy, recipeOf } from "../go-assets/assets-tool.ts";
import type { AssetsList, Program } from "../go-assets/bring.ts";
import type { PinnedModule } from "../go-assets/go.ts";
import { GO_MODULE, KUBERNETES, kubernetesProgram, PINS } from "../kube-assets/assets.ts";

/** What two clusters with Liqo need beside the control plane that `kube-assets` builds, and how it is made. */

export const LIQO: PinnedModule = {
  path: "github.com/liqotech/liqo",
  version: "v1.2.0",
  sum: "h1:2KOA/pMeIz/2+HglNF/YcfAdn3iQH1wRRIbUm2TvzfM=",
};

/** Plays nodes and their pods. */
const KWOK: PinnedModule = {
  path: "sigs.k8s.io/kwok",
  version: "v0.8.0",
  sum: "h1:OTIOTwgROqPMovcTwxICx2eYQ4AwLpSx5EpjbDKF4SQ=",
};

const LIQO_PROGRAMS = [
  "liqoctl",
  "liqo-controller-manager",
  "virtual-kubelet",
  "crd-replicator",
  "webhook",
  "ipam",
  "kwok",
  "kube-scheduler",
] as const;
export type LiqoProgram = (typeof LIQO_PROGRAMS)[number];

/** Liqo's chart, in its module; below it, the definitions of its kinds. */
const CHART_IN_MODULE = "deployments/liqo";
export const CHART = "chart";
export const DEFINITIONS = `${CHART}/charts/liqo-crds/crds`;

/** What makes kwok's nodes and pods Ready at once: the files that its own `kustomize/stage/fast` lists. */
export const KWOK_STAGES = "kwok-stages.yaml";
const STAGE_FILES = [
  "node/fast/node-initialize",
  "node/heartbeat-with-lease/node-heartbeat-with-lease",
  "pod/fast/pod-ready",
  "pod/fast/pod-complete",
  "pod/fast/pod-delete",
].map((name) => `kustomize/stage/${name}.yaml`);

const LIST: AssetsList = {
  copies: [
    { to: CHART, module: LIQO, from: CHART_IN_MODULE },
    { to: KWOK_STAGES, module: KWOK, from: STAGE_FILES },
  ],
  programs: LIQO_PROGRAMS.map(programNamed),
};

function programNamed(name: LiqoProgram): Program {
  if (name === "kube-scheduler") return kubernetesProgram(name);
  const module = name === "kwok" ? KWOK : LIQO;
  return { name, module, package: `${module.path}/cmd/${name}`, linkFlags: linkFlags(name) };
}

/** Without the version liqoctl would call itself "unknown". */
function linkFlags(name: LiqoProgram): string {
  const says = ` -X ${LIQO.path}/pkg/liqoctl/version.LiqoctlVersion=${LIQO.version}`;
  return `-s -w${name === "liqoctl" ? says : ""}`;
}

export const LIQO_ASSETS: Assets = {
  name: "liqo-assets",
  label: LIQO.version,
  what: `Liqo ${LIQO.version}`,
  firstTimeTakes: "some minutes",
  noGo: "Go is not installed, and Liqo is not on this machine. Install Go 1.26 or newer and run this again.",
  goModule: GO_MODULE,
  list: LIST,
  recipe: recipeOf(PINS, LIST),
  describe: async (folder) => {
    const said = await printedBy(folder, "liqoctl", "version", "--client");
    const { version } = LIQO;
    if (!said.includes(version)) throw new Error(`liqoctl is not ${version} but says: ${said}`);
    const count = readdirSync(join(folder, DEFINITIONS)).length;
    if (count === 0) throw new Error("Liqo's module has no definitions where they are looked for.");
    return `Liqo ${version} with ${count} definitions, kwok ${KWOK.version} and kube-scheduler ${KUBERNETES}`;
  },
};
