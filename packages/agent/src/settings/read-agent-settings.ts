import { formatDuration, LIMIT } from "@resource-broker/contract";
import { MAX_EXTENDED_RESOURCES } from "@resource-broker/domain";
import type { ConfigSources } from "@resource-broker/kube";
import {
  IGNORED_GO_FLAGS,
  probeSettingsProblems,
  readSettings,
  type SettingsInput,
  type SettingsOutcome,
} from "@resource-broker/runtime";
import { liqoModeOf, liqoProblems } from "../liqo/liqo-settings.ts";
import { priceChoice } from "../price/price-choice.ts";
import { AGENT_ENV_PREFIX, AGENT_SETTINGS, type AgentSettings } from "./agent-settings.ts";
import { transportOf, transportProblems, transportWarnings } from "./broker-transport.ts";
import { namespaceProblem } from "./forms.ts";

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
    "liqo-mode": liqoModeOf(settings),
    "instruction-namespace": settings["instruction-namespace"] || own,
    "leader-election-namespace": settings["leader-election-namespace"] || podNamespace || own,
  };
}

function contradictions(settings: AgentSettings, podNamespace: string): string[] {
  return [
    ...transportProblems(settings),
    ...liqoProblems(settings),
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
