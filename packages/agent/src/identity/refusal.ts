import { fingerprintOf } from "@resource-broker/runtime";

/** What keeps an agent out that has a certificate. */
export interface Refusal {
  /**
   * `instance`: the cluster ID belongs to another agent or was evicted. `own`: the broker refuses the certificate. `server`:
   * no authority that this agent trusts has signed the certificate of the server that answers.
   */
  readonly what: "instance" | "own" | "server";
  readonly message: string;
}

/** With the remedy. */
export function describeRefusal(
  { what, message }: Refusal,
  { clusterId, key }: { readonly clusterId: string; readonly key: string },
): string {
  const fix = replaceCommand(clusterId);
  switch (what) {
    case "instance":
      return `the broker refuses this agent (${message}); an admin compares brokerctl get members with its fingerprint ${fingerprintOf(key)} and, to let it in, runs: ${fix}`;
    case "own":
      return `the broker refuses the certificate of ${clusterId} (${message})${message.includes(fix) ? "" : `; an admin runs: ${fix}`}`;
    case "server":
      return `the server is none that ${clusterId} trusts (${message}); if the broker has a new authority, an admin runs: ${fix}`;
  }
}

export function replaceCommand(clusterId: string): string {
  return `brokerctl invite ${clusterId} --replace | kubectl apply -f -`;
}
