import type { ProgramParts } from "./program-sbom.ts";

/** One list for each image in deploy/images. */
export const PROGRAMS: readonly (ProgramParts & { readonly file: string })[] = [
  {
    name: "resource-broker",
    file: "broker.cdx.json",
    packages: ["@resource-broker/broker", "@resource-broker/dashboard"],
  },
  { name: "resource-broker-agent", file: "agent.cdx.json", packages: ["@resource-broker/agent"] },
  { name: "brokerctl", file: "brokerctl.cdx.json", packages: ["@resource-broker/cli"] },
];
