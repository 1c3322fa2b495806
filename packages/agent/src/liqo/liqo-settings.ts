import { choice, duration, formatDuration, type Setting, toggle, type Values } from "@resource-broker/base";
import { namespaceProblem, word } from "../settings/forms.ts";

const MIN_TIMEOUT_MS = 30_000;

const liqoMode: Setting<"" | "off" | "liqoctl"> = {
  kind: "choice",
  description:
    "How reserved resources become virtual nodes: liqoctl, or off (only instructions are written). Empty: liqoctl with --kubeconfigs-dir, else off.",
  placeholder: "off|liqoctl",
  defaultText: "",
  defaultValue: "",
  read: (given) => {
    if (given === "" || given === "off" || given === "liqoctl") return { ok: true, value: given };
    return { ok: false, problem: `${JSON.stringify(given)} is not one of off, liqoctl` };
  },
};

/** Flags about the data plane. */
export const LIQO_SETTINGS = {
  "liqo-mode": liqoMode,
  "kubeconfigs-dir": word(
    "DIR",
    "Folder with a kubeconfig of each cluster to borrow from, <cluster ID>.kubeconfig, made there by liqoctl generate peering-user.",
  ),
  "liqo-gateway-type": choice({
    description: "Service type of the gateway at the provider.",
    choices: ["NodePort", "LoadBalancer", "ClusterIP"],
    defaultValue: "NodePort",
  }),
  "liqo-networking": toggle({
    description: "Let Liqo connect the networks of peered clusters; false: another network does.",
    defaultValue: true,
  }),
  "liqo-namespace": word("NAME", "Namespace of Liqo, in this cluster and in those it peers with.", {
    defaultText: "liqo",
    check: namespaceProblem,
  }),
  "liqo-enforce": toggle({
    description: "Cordon slices of other clusters that bypass reservations (Liqo's class default).",
    defaultValue: false,
  }),
  liqoctl: word("FILE", "The liqoctl program. Empty: the one in PATH."),
  "liqo-timeout": duration({
    description: "How long peering with a cluster may take before it is retried.",
    defaultText: "10m",
  }),
};

type LiqoSettings = Values<typeof LIQO_SETTINGS>;

/** The mode that an empty value means. */
export function liqoDefaults(settings: LiqoSettings): Pick<LiqoSettings, "liqo-mode"> {
  const { "liqo-mode": mode, "kubeconfigs-dir": folder } = settings;
  if (mode !== "") return { "liqo-mode": mode };
  return { "liqo-mode": folder === "" ? "off" : "liqoctl" };
}

export function liqoProblems(settings: LiqoSettings): string[] {
  const problems: string[] = [];
  if (settings["liqo-mode"] === "liqoctl" && settings["kubeconfigs-dir"] === "") {
    problems.push(
      "--liqo-mode=liqoctl needs --kubeconfigs-dir: name the folder with the other clusters' kubeconfigs",
    );
  }
  const timeoutMs = settings["liqo-timeout"];
  if (timeoutMs < MIN_TIMEOUT_MS) {
    problems.push(`--liqo-timeout: ${formatDuration(timeoutMs)} is too short; write at least 30s`);
  }
  return problems;
}
