import type { Credentials } from "@resource-broker/testkit";

/** A cluster as a broker knows it. */
export interface Identity {
  readonly clusterId: string;
  readonly credentials: Pick<Credentials, "cert" | "key" | "ca">;
}
