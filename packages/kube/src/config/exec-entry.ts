import {
  besideFile,
  type Entry,
  flagOf,
  isRecord,
  listOf,
  nameOf,
  recordOf,
  requiredTextOf,
  textOf,
  wrong,
} from "./entry.ts";
import type { ExecCluster, ExecPlugin, Login } from "./kube-config.ts";

const GROUP = "client.authentication.k8s.io";
const MODES = ["Never", "IfAvailable", "Always"] as const;

/** A plugin as the file describes it. One that asks for it is told which cluster its credentials are for. */
export function readPlugin(user: Entry, cluster: ExecCluster): Login | undefined {
  const entry = recordOf(user, "exec");
  if (entry === undefined) return undefined;
  const apiVersion = versionOf(entry);
  const installHint = textOf(entry, "installHint");
  const plugin: ExecPlugin = {
    apiVersion,
    command: commandOf(entry),
    args: listOf(entry, "args").map((value) => argumentOf(entry, value)),
    env: Object.fromEntries(listOf(entry, "env").map((value) => variableOf(entry, value))),
    interactiveMode: modeOf(entry, apiVersion),
    ...(installHint === undefined ? {} : { installHint }),
    ...(flagOf(entry, "provideClusterInfo") ? { cluster } : {}),
  };
  return { kind: "plugin", plugin };
}

function versionOf(entry: Entry): ExecPlugin["apiVersion"] {
  const version = requiredTextOf(entry, "apiVersion", `write ${GROUP}/v1`);
  if (version === `${GROUP}/v1` || version === `${GROUP}/v1beta1`) return version;
  throw wrong(entry, `apiVersion ${version} is not supported: use ${GROUP}/v1, and a plugin that speaks it`);
}

/** A command with a slash in it is a path, seen from the file; one without is looked up in PATH. */
function commandOf(entry: Entry): string {
  const command = requiredTextOf(entry, "command", "name the program that prints the credentials");
  return command.includes("/") ? besideFile(entry, command) : command;
}

function argumentOf(entry: Entry, value: unknown): string {
  if (typeof value === "string") return value;
  throw wrong(entry, `args must be text, not ${nameOf(value)}: put it in quotes`);
}

function variableOf(entry: Entry, value: unknown): [string, string] {
  const [name, content] = isRecord(value) ? [value["name"], value["value"]] : [];
  if (typeof name === "string" && typeof content === "string") return [name, content];
  throw wrong(entry, "env must list a name and a value each, both text: put them in quotes");
}

function modeOf(entry: Entry, apiVersion: ExecPlugin["apiVersion"]): ExecPlugin["interactiveMode"] {
  const stated = textOf(entry, "interactiveMode");
  if (stated === undefined && apiVersion.endsWith("/v1beta1")) return "IfAvailable";
  const mode = MODES.find((candidate) => candidate === stated);
  if (mode !== undefined) return mode;
  throw wrong(
    entry,
    `interactiveMode is ${stated ?? "missing"}: write ${MODES.join(", ")}; a service needs Never or IfAvailable`,
  );
}
