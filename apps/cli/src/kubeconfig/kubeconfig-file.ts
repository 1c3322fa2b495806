import { dirname, resolve } from "node:path";
import { yamlText } from "@resource-broker/base";
import { isDirectory, PRIVATE, readText, writeFiles } from "../certs/files.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Server } from "./admin.ts";
import type { Agent } from "./agent-access.ts";

export function kubeconfigText(agent: Agent, { url, ca, serverName }: Server, token: string): string {
  const { name, namespace } = agent;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "broker",
        cluster: {
          server: url,
          "certificate-authority-data":
            ca === undefined ? undefined : Buffer.from(ca, "utf8").toString("base64"),
          "tls-server-name": serverName,
        },
      },
    ],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: "broker", user: name, namespace } }],
    "current-context": name,
  };
  return `${firstLine(agent)}\n${yamlText(config)}`;
}

/** Before anything is made: a file that is something else is never overwritten, and least of all ~/.kube/config. */
export async function checkPlace(file: string, agent: Agent): Promise<void> {
  const folder = dirname(resolve(file));
  if (!(await isDirectory(folder))) {
    throw new CommandError("error", `--out ${file}: there is no folder ${folder}; nothing was changed`);
  }
  const found = await readText(resolve(file));
  if (found === undefined || found.startsWith(`${firstLine(agent)}\n`)) return;
  throw new CommandError(
    "conflict",
    `${file} is there already and is no kubeconfig that brokerctl made for ${agent.clusterId}; nothing was changed. Name another file with --out`,
  );
}

export async function writeKubeconfig(file: string, text: string): Promise<void> {
  await writeFiles([{ path: resolve(file), text, mode: PRIVATE }]);
}

/** The first line of every kubeconfig that was made here for the agent of this cluster. */
function firstLine({ clusterId }: Agent): string {
  return `# Made by brokerctl: the way of cluster ${clusterId} to its broker.`;
}
