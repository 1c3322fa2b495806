import { Fault } from "@resource-broker/contract";
import {
  type CertificateFolderDeps,
  certificateFolder,
  type CertificateSource,
} from "@resource-broker/runtime";

const OWNER = { name: "the agent", peers: "the broker", remedy: "brokerctl certs issue <cluster-id>" };

/** The folder of `--broker-cert-path`. What is wrong with it at start is a fault of whoever named it. */
export function agentCertificates(
  folder: string,
  deps: Omit<CertificateFolderDeps, "owner">,
): CertificateSource {
  const source = certificateFolder(folder, { ...deps, owner: OWNER });
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
