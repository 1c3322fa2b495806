import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type World, writeCertificateFolder } from "@resource-broker/testkit";
import type { Step } from "../updates/update.ts";

const BROKERCTL = fileURLToPath(new URL("../../../cli/bin/brokerctl.mjs", import.meta.url));
const ADMIN = "admin";

export interface Tools {
  readonly requestFile: string;
  /** brokerctl that knows this broker, as an admin or with `--context` as one of the clusters. */
  readonly brokerctl: string;
}

/** What the printed commands need, in the demo's folder. */
export async function writeTools(
  { directory, certificates, broker }: World,
  names: readonly string[],
): Promise<Tools> {
  const requestFile = join(directory, "request.yaml");
  await writeFile(requestFile, REQUEST_YAML);
  await writeCertificateFolder(join(directory, ADMIN), certificates.admin(ADMIN));
  const config = join(directory, "brokerctl.yaml");
  await writeFile(config, contexts(`https://127.0.0.1:${broker.port}`, names));
  const brokerctl = join(directory, "brokerctl");
  await writeFile(brokerctl, launcher(config));
  await chmod(brokerctl, 0o755);
  return { requestFile, brokerctl };
}

function contexts(url: string, names: readonly string[]): string {
  const entries = [
    { name: ADMIN, certs: ADMIN },
    ...names.map((name) => ({ name, certs: `${name}/certificates` })),
  ];
  return JSON.stringify(
    {
      "current-context": ADMIN,
      contexts: Object.fromEntries(entries.map(({ name, certs }) => [name, { broker: url, certs }])),
    },
    undefined,
    2,
  );
}

function launcher(config: string): string {
  return `#!/bin/sh
# brokerctl with the broker of this demo. On brokers of your own: --broker URL --certs FOLDER.
BROKERCTL_CONFIG=${quoted(config)} exec ${quoted(BROKERCTL)} "$@"
`;
}

const REQUEST_NAME = "more-room";

/** What the first command applies. */
const REQUEST_YAML = `apiVersion: rear.fluidos.eu/v1alpha1
kind: ResourceRequest
metadata:
  name: ${REQUEST_NAME}
spec:
  requestedCPU: "4"
  requestedMemory: 8Gi
`;

export interface CommandContext {
  readonly kubeconfigOf: (cluster: string) => string;
  readonly requestFile: string;
  /** brokerctl as it is called here. */
  readonly brokerctl: string;
  readonly requester: string;
  /** Who is sure to lend; undefined: that is for the broker to say. */
  readonly provider: string | undefined;
  readonly hasGpus: boolean;
  /** The broker's own cluster, if it has one. */
  readonly hub: string | undefined;
}

/** The commands that show a reservation travel the whole way, in order. */
export function commandsFor(context: CommandContext): readonly Step[] {
  const { requester, requestFile, brokerctl, hasGpus } = context;
  const gpu = hasGpus ? " --gpu 1" : "";
  return [
    {
      says: `${requester} asks for 4 CPU and 8Gi of memory`,
      command: kubectl(context, requester, `apply -f ${quoted(requestFile)}`),
    },
    {
      says: `${requester} has its instruction: provider and amount`,
      command: kubectl(context, requester, "get resourcerequests,reservationinstructions"),
    },
    otherSide(context),
    {
      says: `who would lend ${hasGpus ? "a GPU" : "2 CPU"} to ${requester}, at what price, and why not the others`,
      command: `${quoted(brokerctl)} quote --context ${requester} --cpu 2 --memory 8Gi${gpu}`,
    },
    {
      says: `${requester} releases it: both instructions are deleted`,
      command: kubectl(context, requester, `delete resourcerequest ${REQUEST_NAME}`),
    },
  ];
}

/** The same reservation as others see it. */
function otherSide(context: CommandContext): Step {
  const { hub, provider, brokerctl } = context;
  if (hub !== undefined) {
    return {
      says: "the broker shows all of it as objects in its own cluster",
      command: kubectl(context, hub, "get clusteradvertisements,reservations"),
    };
  }
  return provider === undefined
    ? { says: "the broker lists all reservations", command: `${quoted(brokerctl)} get reservations` }
    : {
        says: `${provider} holds the capacity`,
        command: kubectl(context, provider, "get providerinstructions"),
      };
}

function kubectl({ kubeconfigOf }: CommandContext, cluster: string, rest: string): string {
  return `kubectl --kubeconfig ${quoted(kubeconfigOf(cluster))} ${rest}`;
}

/** As a shell reads it: a folder's name may have spaces. */
export function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
