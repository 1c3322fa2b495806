import { readBrokerUrls } from "../transport/http/broker-urls.ts";
import type { AgentSettings } from "./agent-settings.ts";

type Settings = Pick<
  AgentSettings,
  "broker-transport" | "broker-url" | "broker-cert-path" | "broker-kubeconfig"
>;

/** The chosen transport: a kubeconfig of the broker's cluster alone selects kubernetes. */
export function transportOf(settings: Settings): Exclude<AgentSettings["broker-transport"], ""> {
  const { "broker-transport": stated, "broker-kubeconfig": kubeconfig, "broker-url": urls } = settings;
  if (stated !== "") return stated;
  return kubeconfig !== "" && urls.length === 0 ? "kubernetes" : "http";
}

/** Missing or contradictory flags. */
export function transportProblems(settings: Settings): string[] {
  const isBoth = settings["broker-kubeconfig"] !== "" && settings["broker-url"].length > 0;
  if (settings["broker-transport"] === "" && isBoth) {
    return [
      "--broker-url and --broker-kubeconfig both name the broker: leave one out, or choose with --broker-transport",
    ];
  }
  const problems = { http: httpProblems, kubernetes: kubernetesProblems, none: () => [] };
  return problems[transportOf(settings)](settings);
}

const BROKER_FLAGS = ["broker-url", "broker-cert-path", "broker-kubeconfig"] as const;
const FLAGS_OF: Readonly<Record<ReturnType<typeof transportOf>, readonly string[]>> = {
  http: ["broker-url", "broker-cert-path"],
  kubernetes: ["broker-kubeconfig"],
  none: [],
};

/** Flags that have no effect with this transport. */
export function transportWarnings(settings: Settings): string[] {
  const transport = transportOf(settings);
  const idle = BROKER_FLAGS.filter(
    (name) => settings[name].length > 0 && !FLAGS_OF[transport].includes(name),
  );
  if (idle.length === 0) return [];
  const flags = idle.map((name) => `--${name}`).join(", ");
  return [`${flags}: without effect, because the broker transport is ${transport}`];
}

function httpProblems(settings: Settings): string[] {
  const problems = urlProblems(settings["broker-url"]);
  if (settings["broker-cert-path"] === "") {
    problems.push(
      "--broker-cert-path is missing: name the folder with tls.crt, tls.key and ca.crt; brokerctl certs issue <cluster-id> writes one",
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
    readBrokerUrls(urls);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
