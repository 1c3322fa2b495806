import { Fault } from "@resource-broker/base";
import {
  type KubeClient,
  type ObjectName,
  type Resource,
  SECRETS,
  SERVICE_ACCOUNTS,
} from "@resource-broker/kube";
import type { Host } from "../cli/host.ts";
import type { OutputFormat } from "../output/output-option.ts";
import { print } from "../output/print.ts";
import { properties } from "../output/table.ts";
import type { Admin } from "./admin.ts";
import { type Agent, tokenSecretName } from "./agent-access.ts";
import { ROLE_BINDINGS } from "./resources.ts";

interface Printing {
  readonly output: OutputFormat;
  readonly host: Host;
}

/** Deleting the account invalidates its tokens. The binding is deleted first, so that the rights end even earlier. */
export async function revoke({ client }: Admin, agent: Agent, { output, host }: Printing): Promise<void> {
  const { clusterId, name, namespace } = agent;
  const targets: readonly (readonly [Resource<unknown>, string])[] = [
    [ROLE_BINDINGS, name],
    [SECRETS, tokenSecretName(agent)],
    [SERVICE_ACCOUNTS, name],
  ];
  const removed: string[] = [];
  for (const [resource, target] of targets) {
    const isRemoved = await remove(client, resource, { name: target, namespace });
    if (isRemoved) removed.push(`${resource.kind}/${target}`);
  }
  host.note(
    removed.length === 0
      ? `${clusterId} had no access in namespace ${namespace}\n`
      : `${clusterId} has no access in namespace ${namespace} any more; its reservations and its advertisement stay\n`,
  );
  print(
    {
      data: { clusterID: clusterId, namespace, removed },
      table: () =>
        properties([
          ["Cluster", clusterId],
          ["Namespace", namespace],
          ["Removed", removed.join(", ") || "nothing"],
        ]),
      names: () => removed,
    },
    output,
    host,
  );
}

async function remove(client: KubeClient, resource: Resource<unknown>, name: ObjectName): Promise<boolean> {
  try {
    await client.delete(resource, name);
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code === "not-found") return false;
    throw error;
  }
}
