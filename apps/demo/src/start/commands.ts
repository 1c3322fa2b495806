import { REQUESTER, WINNER } from "./fleet.ts";

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

export interface Step {
  readonly says: string;
  /** To be pasted into a shell as it is. */
  readonly command: string;
}

export interface Places {
  readonly kubeconfigOf: (cluster: string) => string;
  readonly requestFile: string;
}

/** The commands that show a reservation travel the whole way, in order. */
export function commandsFor({ kubeconfigOf, requestFile }: Places): readonly Step[] {
  const kubectl = (cluster: string, rest: string): string =>
    `kubectl --kubeconfig ${quoted(kubeconfigOf(cluster))} ${rest}`;
  return [
    {
      says: `${REQUESTER} asks for 4 CPU and 8Gi of memory`,
      command: kubectl(REQUESTER, `apply -f ${quoted(requestFile)}`),
    },
    {
      says: "the broker decides, and the resources are there",
      command: kubectl(REQUESTER, `wait --for=condition=Ready --timeout=30s resourcerequest/${REQUEST_NAME}`),
    },
    {
      says: `${REQUESTER} knows whom to use, and for how much`,
      command: kubectl(REQUESTER, "get resourcerequests,reservationinstructions"),
    },
    {
      says: `${WINNER} holds the capacity`,
      command: kubectl(WINNER, "get providerinstructions"),
    },
    {
      says: `${REQUESTER} gives it back: both instructions go`,
      command: kubectl(REQUESTER, `delete resourcerequest ${REQUEST_NAME}`),
    },
  ];
}

/** As a shell reads it: a folder's name may have spaces. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
