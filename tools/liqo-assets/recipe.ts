import type { AssetsList } from "../go-assets/assets-list.ts";
import type { Program } from "../go-assets/bring.ts";
import type { PinnedModule } from "../go-assets/pinned-module.ts";
import { kubernetesProgram } from "../kube-assets/recipe.ts";

/** What two clusters with Liqo need beside the control plane that `kube-assets` builds, and how it is made. */

export const LIQO: PinnedModule = {
  path: "github.com/liqotech/liqo",
  version: "v1.2.0",
  sum: "h1:2KOA/pMeIz/2+HglNF/YcfAdn3iQH1wRRIbUm2TvzfM=",
};

/** Plays nodes and their pods. */
export const KWOK: PinnedModule = {
  path: "sigs.k8s.io/kwok",
  version: "v0.8.0",
  sum: "h1:OTIOTwgROqPMovcTwxICx2eYQ4AwLpSx5EpjbDKF4SQ=",
};

export const LIQO_PROGRAMS = [
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

export function liqoAssetsList(kubernetesVersion: string): AssetsList {
  return {
    copies: [
      { to: CHART, module: LIQO, from: CHART_IN_MODULE },
      { to: KWOK_STAGES, module: KWOK, from: STAGE_FILES },
    ],
    programs: LIQO_PROGRAMS.map((name) => programNamed(name, kubernetesVersion)),
  };
}

function programNamed(name: LiqoProgram, kubernetesVersion: string): Program {
  if (name === "kube-scheduler") return kubernetesProgram(name, kubernetesVersion);
  const module = name === "kwok" ? KWOK : LIQO;
  return { name, module, package: `${module.path}/cmd/${name}`, linkFlags: linkFlags(name) };
}

/** Without the version liqoctl would call itself "unknown". */
function linkFlags(name: LiqoProgram): string {
  const says = ` -X ${LIQO.path}/pkg/liqoctl/version.LiqoctlVersion=${LIQO.version}`;
  return `-s -w${name === "liqoctl" ? says : ""}`;
}
