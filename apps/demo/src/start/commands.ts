import type { Step } from "../updates/update.ts";

const REQUEST_NAME = "more-room";

/** What the first command applies. */
export const REQUEST_YAML = `apiVersion: rear.fluidos.eu/v1alpha1
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
