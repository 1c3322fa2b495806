import {
  choice,
  duration,
  formatDuration,
  type Setting,
  type SettingResult,
  toggle,
  type Values,
} from "@resource-broker/base";
import { clusterIdProblem, namespaceProblem, word, words } from "../settings/forms.ts";

const MIN_TIMEOUT_MS = 30_000;

const MODES = ["off", "liqoctl", "relay"] as const;

const liqoMode: Setting<"" | (typeof MODES)[number]> = {
  kind: "choice",
  description:
    "How clusters are peered, so that reserved resources become virtual nodes: relay (by statements through the broker), liqoctl (with kubeconfigs), or off (only instructions are written). Empty: liqoctl with --kubeconfigs-dir, else off.",
  placeholder: MODES.join("|"),
  defaultText: "",
  defaultValue: "",
  read: (given) => {
    const mode = MODES.find((each) => each === given);
    if (given === "" || mode !== undefined) return { ok: true, value: mode ?? "" };
    return { ok: false, problem: `${JSON.stringify(given)} is not one of ${MODES.join(", ")}` };
  },
};

const FINGERPRINT = /^([^=]+)=(SHA256:[A-Za-z0-9+/]{43})$/u;

export interface PeerFingerprint {
  readonly clusterId: string;
  readonly fingerprint: string;
}

function readPeerFingerprint(text: string): SettingResult<PeerFingerprint> {
  const [, clusterId = "", fingerprint = ""] = FINGERPRINT.exec(text) ?? [];
  if (clusterIdProblem(clusterId) === undefined) return { ok: true, value: { clusterId, fingerprint } };
  return {
    ok: false,
    problem: `${JSON.stringify(text)} is not a cluster and its fingerprint: write it like paris=SHA256:…`,
  };
}

function readClusterId(text: string): SettingResult<string> {
  const problem = clusterIdProblem(text);
  return problem === undefined ? { ok: true, value: text } : { ok: false, problem };
}

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
  "peer-fingerprints": words(
    "ID=SHA256:…,…",
    "Relay: the fingerprints of other agents' identity keys, as their logs show them. They decide instead of the first contact.",
    { read: readPeerFingerprint },
  ),
  "warm-peers": words(
    "ID,…",
    "Relay: clusters that stay peered for --warm-for after the last reservation, if they name this cluster, too.",
    { read: readClusterId },
  ),
  "warm-for": duration({
    description: "Relay: how long the clusters of --warm-peers stay peered without a reservation.",
    defaultText: "1h",
  }),
  "liqo-allow-loopback": toggle({
    description: "Relay, for tests on one machine: API servers of providers may have a loopback address.",
    defaultValue: false,
  }),
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

/** The flags of other parts that relay peering needs. */
interface RelayNeeds {
  readonly "identity-secret": string;
  readonly "broker-transport": string;
  readonly "broker-kubeconfig": string;
  readonly "broker-url": readonly string[];
}

function relayProblems(settings: LiqoSettings & RelayNeeds): string[] {
  if (settings["liqo-mode"] !== "relay") return [];
  const { "broker-transport": transport, "broker-kubeconfig": kubeconfig } = settings;
  const isHttp = transport === "http" || (transport === "" && kubeconfig === "");
  return [
    ...(settings["identity-secret"] === ""
      ? ["--liqo-mode=relay needs --identity-secret: name the Secret of this agent's identity key"]
      : []),
    ...(isHttp
      ? []
      : ["--liqo-mode=relay needs the http transport: set --broker-url, or --liqo-mode=liqoctl or off"]),
    ...(settings["liqo-networking"]
      ? [
          "--liqo-mode=relay does not connect networks: set --liqo-networking=false and connect them otherwise, or set --liqo-mode=liqoctl",
        ]
      : []),
  ];
}

export function liqoProblems(settings: LiqoSettings & RelayNeeds): string[] {
  const problems = relayProblems(settings);
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
