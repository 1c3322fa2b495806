import { Fault } from "@resource-broker/base";
import { commonNameOf } from "@resource-broker/client";
import {
  type CertificateFolderDeps,
  type CertificateSet,
  type CertificateSource,
  certificateFolder,
} from "@resource-broker/runtime";

const OWNER = { name: "the agent", peers: "the broker", remedy: "brokerctl certs issue <cluster-id>" };

/**
 * The folder of `--broker-cert-path`. A problem at start is an error of the operator. A later certificate for
 * another cluster is not used: all reservations were made under the first name.
 */
export function agentCertificates(
  folder: string,
  deps: Omit<CertificateFolderDeps, "owner" | "rejectReason">,
): CertificateSource {
  const source = certificateFolder(folder, { ...deps, owner: OWNER, rejectReason: ownerProblem });
  return {
    ...source,
    start: async () => {
      try {
        return await source.start();
      } catch (cause) {
        const problem = cause instanceof Error ? cause.message : String(cause);
        throw new Fault("no-certificate", `--broker-cert-path: ${problem}`, { cause });
      }
    },
  };
}

function ownerProblem(next: CertificateSet, current: CertificateSet): string | undefined {
  const [name, before] = [commonNameOf(next), commonNameOf(current)];
  if (name === before) return undefined;
  return `tls.crt now belongs to ${JSON.stringify(name ?? "nobody")}, and this agent is ${JSON.stringify(before)}: put its own certificate back, or restart the agent`;
}
