import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type World, writeCertificateFolder } from "@resource-broker/testkit";
import { quoted, REQUEST_YAML } from "./commands.ts";

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
