import { type InMemoryAuthority, inMemoryAuthority } from "@resource-broker/runtime";
import type { PeerCertificates } from "@resource-broker/testkit";

const VALID_FOR_MS = 30 * 86_400_000;

export interface CertificateDeps {
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}

/** An authority for as long as the demo runs, and certificates from it. */
export function demoCertificates(deps: CertificateDeps): PeerCertificates {
  const authority = inMemoryAuthority({ commonName: "Resource Broker demo", ...deps });
  const issue = (order: Omit<Parameters<InMemoryAuthority["issue"]>[0], "validForMs">) => ({
    ...authority.issue({ ...order, validForMs: VALID_FOR_MS }),
    ca: authority.cert,
  });
  return {
    broker: issue({ commonName: "broker", hosts: ["localhost", "127.0.0.1"], isServer: true }),
    cluster: (id) => issue({ commonName: id, isClient: true }),
    admin: (id) => issue({ commonName: id, organizationalUnits: ["broker-admin"], isClient: true }),
  };
}
