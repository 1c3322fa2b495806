import { formatDuration, MAX_EXTENDED_RESOURCES } from "@resource-broker/base";
import { readBrokerUrls } from "@resource-broker/client";
import { LIMIT } from "@resource-broker/contract";
import type { ConfigSources } from "@resource-broker/kube";
import {
  IGNORED_GO_FLAGS,
  probeSettingsProblems,
  readSettings,
  type SettingsInput,
  type SettingsOutcome,
} from "@resource-broker/runtime";
import { dataPlaneDefaults, dataPlaneProblems } from "../data-plane/settings.ts";
import { priceChoice } from "../price/price-settings.ts";
import { AGENT_ENV_PREFIX, AGENT_HINTS, AGENT_SETTINGS, type AgentSettings } from "./agent-settings.ts";
import { namespaceProblem } from "./forms.ts";

type Settings = Pick<
  AgentSettings,
  | "broker-transport"
  | "broker-url"
  | "broker-cert-path"
  | "broker-kubeconfig"
  | "identity-secret"
  | "join-secret"
>;

const BROKER_FLAGS = ["broker-url", "broker-cert-path", "broker-kubeconfig"] as const;
const FLAGS_OF: Readonly<Record<ReturnType<typeof transportOf>, readonly string[]>> = {
  http: ["broker-url", "broker-cert-path"],
  kubernetes: ["broker-kubeconfig"],
  none: [],
};

const MIN_ADVERTISE_MS = 1000;
const MIN_POLL_MS = 100;
/** The limit of an advertisement, minus the observed labels: region and zone. */
const MAX_LABELS = LIMIT.labels - 4;

/** Flags, environment and configuration file, merged. */
export async function readAgentSettings(input: SettingsInput): Promise<SettingsOutcome<AgentSettings>> {
  const podNamespace = input.env["POD_NAMESPACE"] ?? "";
  const reading = await readSettings(
    {
      table: AGENT_SETTINGS,
      envPrefix: AGENT_ENV_PREFIX,
      ignored: IGNORED_GO_FLAGS,
      crossFieldProblems: (settings) => contradictions(settings, podNamespace),
    },
    input,
  );
  if (!reading.ok) return reading;
  return {
    ok: true,
    settings: withDefaults(reading.settings, podNamespace),
    warnings: [...new Set(reading.warnings), ...transportWarnings(reading.settings)],
  };
}

/** Where the agent finds its own cluster. */
export function kubeConfigSources(
  { kubeconfig, context }: Pick<AgentSettings, "kubeconfig" | "context">,
  env: ConfigSources["env"],
): ConfigSources {
  return {
    env,
    ...(kubeconfig === "" ? {} : { files: [kubeconfig] }),
    ...(context === "" ? {} : { context }),
  };
}

function withDefaults(settings: AgentSettings, podNamespace: string): AgentSettings {
  const own = settings["advertisement-namespace"];
  return {
    ...settings,
    "broker-transport": transportOf(settings),
    "identity-secret": inNamespace(settings["identity-secret"], podNamespace || own),
    "join-secret": inNamespace(settings["join-secret"], podNamespace || own),
    ...dataPlaneDefaults(settings),
    "instruction-namespace": settings["instruction-namespace"] || own,
    "leader-election-namespace": settings["leader-election-namespace"] || podNamespace || own,
  };
}

function inNamespace(secret: string, namespace: string): string {
  return secret === "" || secret.includes("/") ? secret : `${namespace}/${secret}`;
}

function contradictions(settings: AgentSettings, podNamespace: string): string[] {
  return [
    ...transportProblems(settings),
    ...dataPlaneProblems(settings),
    ...intervalProblems(settings),
    ...resourceProblems(settings),
    ...leaderProblems(settings, podNamespace),
    ...priceChoice(settings).problems,
    ...probeSettingsProblems(settings),
  ];
}

function intervalProblems(settings: AgentSettings): string[] {
  const problems: string[] = [];
  const advertise = settings["advertisement-requeue-interval"];
  if (advertise < MIN_ADVERTISE_MS) {
    problems.push(
      `--advertisement-requeue-interval: ${formatDuration(advertise)} is too short; write at least 1s`,
    );
  }
  const poll = settings["instruction-poll-interval"];
  if (poll > 0 && poll < MIN_POLL_MS) {
    problems.push(
      `--instruction-poll-interval: ${formatDuration(poll)} is too short; write at least 100ms, or 0 for never`,
    );
  }
  return problems;
}

function resourceProblems(settings: AgentSettings): string[] {
  const gpus = settings["gpu-resources"];
  const extended = settings["extended-resources"];
  const problems = gpus
    .filter((name) => extended.includes(name))
    .map((name) => `--gpu-resources and --extended-resources both name ${name}: leave it out of one`);
  if (extended.length > MAX_EXTENDED_RESOURCES) {
    problems.push(
      `--extended-resources: ${extended.length} are too many; at most ${MAX_EXTENDED_RESOURCES} can be lent`,
    );
  }
  const labels = settings["cluster-labels"];
  if (labels.length > MAX_LABELS) {
    problems.push(`--cluster-labels: ${labels.length} are too many; at most ${MAX_LABELS} can be advertised`);
  }
  return problems;
}

function leaderProblems(settings: AgentSettings, podNamespace: string): string[] {
  const isAsked = settings["leader-elect"] && settings["leader-election-namespace"] === "";
  const problem = isAsked && podNamespace !== "" ? namespaceProblem(podNamespace) : undefined;
  return problem === undefined ? [] : [`POD_NAMESPACE: ${problem}`];
}

/** The chosen transport: a kubeconfig of the broker's cluster alone selects kubernetes. */
function transportOf(settings: Settings): Exclude<AgentSettings["broker-transport"], ""> {
  const { "broker-transport": stated, "broker-kubeconfig": kubeconfig, "broker-url": urls } = settings;
  if (stated !== "") return stated;
  return kubeconfig !== "" && urls.length === 0 ? "kubernetes" : "http";
}

/** Missing or contradictory flags. */
function transportProblems(settings: Settings): string[] {
  const isBoth = settings["broker-kubeconfig"] !== "" && settings["broker-url"].length > 0;
  if (settings["broker-transport"] === "" && isBoth) {
    return [
      "--broker-url and --broker-kubeconfig both name the broker: leave one out, or choose with --broker-transport",
    ];
  }
  const transport = transportOf(settings);
  const problems = { http: httpProblems, kubernetes: kubernetesProblems, none: () => [] };
  const secrets = (["identity-secret", "join-secret"] as const).filter((name) => settings[name] !== "");
  return [
    ...problems[transport](settings),
    ...(transport === "http" ? [] : secrets).map(
      (name) => `--${name} needs --broker-transport=http, and it is ${transport}: leave one of them out`,
    ),
  ];
}

/** Flags that have no effect with this transport. */
function transportWarnings(settings: Settings): string[] {
  const transport = transportOf(settings);
  const idle = BROKER_FLAGS.filter(
    (name) => settings[name].length > 0 && !FLAGS_OF[transport].includes(name),
  );
  if (idle.length === 0) return [];
  const flags = idle.map((name) => `--${name}`).join(", ");
  return [`${flags}: without effect, because the broker transport is ${transport}`];
}

function httpProblems(settings: Settings): string[] {
  const { "broker-url": urls, "join-secret": join } = settings;
  const folder = settings["broker-cert-path"];
  const identity = settings["identity-secret"];
  const problems = urls.length === 0 && join !== "" ? [] : urlProblems(urls);
  if (folder === "" && identity === "" && join === "") {
    problems.push(
      "--broker-cert-path is missing: name the folder with tls.crt, tls.key and ca.crt; brokerctl certs issue <cluster-id> writes one",
    );
  }
  if (join !== "" && identity === "") {
    problems.push(
      "--identity-secret is missing: --join-secret needs a Secret of the agent for the keys and the certificate",
    );
  }
  if (join !== "" && folder !== "") {
    problems.push(
      "--join-secret and --broker-cert-path both name the certificate: leave one out; an identity key works with both",
    );
  }
  return problems;
}

function kubernetesProblems(settings: Settings): string[] {
  if (settings["broker-kubeconfig"] !== "") return [];
  return [
    "--broker-kubeconfig is missing: name the kubeconfig of the broker's cluster; brokerctl kubeconfig issue <cluster-id> writes one",
  ];
}

function urlProblems(urls: readonly string[]): string[] {
  if (urls.length === 0) {
    return ["--broker-url is missing: give the broker's address, for example https://broker.example:8443"];
  }
  try {
    readBrokerUrls(urls, AGENT_HINTS);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
