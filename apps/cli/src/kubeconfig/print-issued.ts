import type { Host } from "../cli/host.ts";
import type { OutputFormat } from "../output/output-option.ts";
import { print } from "../output/print.ts";
import { properties } from "../output/table.ts";
import { when } from "../output/when.ts";
import type { Agent } from "./agent-access.ts";
import type { Token } from "./token.ts";

export interface Issued {
  readonly agent: Agent;
  readonly server: string;
  readonly token: Pick<Token, "expiresAt">;
  /** The kubeconfig. */
  readonly text: string;
  /** Where it was written; undefined: it goes to standard output. */
  readonly file: string | undefined;
  readonly warnings: readonly string[];
  readonly output: OutputFormat;
  readonly host: Host;
}

export function printIssued({ agent, server, token, text, file, warnings, output, host }: Issued): void {
  const { clusterId, namespace, user } = agent;
  const { expiresAt } = token;
  for (const warning of warnings) host.note(`Warning: ${warning}\n`);
  host.note(`${clusterId} may talk to the broker in namespace ${namespace} as ${user}\n`);
  const path = file ?? "<file>";
  host.note(`Its agent: --broker-kubeconfig=${path} --broker-namespace=${namespace}\n`);
  const summary = (): string =>
    properties([
      ["Cluster", clusterId],
      ["Namespace", namespace],
      ["User", user],
      ["Server", server],
      ["Expires", expiresAt === undefined ? "never" : when(Date.parse(expiresAt), host.now())],
      ["File", path],
    ]);
  print(
    {
      data: {
        clusterID: clusterId,
        namespace,
        user,
        server,
        expiresAt: expiresAt ?? null,
        ...(file === undefined ? { kubeconfig: text } : { file }),
        warnings,
      },
      table: () => (file === undefined ? text : summary()),
      names: () => [path],
    },
    output,
    host,
  );
}
