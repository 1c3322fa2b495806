import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AdvertisementDTO, PATH } from "@resource-broker/contract";
import {
  advertisementBody,
  type BrokerProcess,
  type Size,
  startBroker,
  type TestCertificates,
  testCertificates,
  writeCertificateFolder,
} from "@resource-broker/testkit";
import { type Outcome, runCli, temporaryFolder } from "../../../src/testing/cli.ts";

type Offer = Partial<Pick<AdvertisementDTO, "cost" | "labels" | "resources" | "gpus">>;
type RunCliOptions = NonNullable<Parameters<typeof runCli>[1]>;

/** A real broker with clusters that advertised, and brokerctl with somebody's certificate. */
export interface Fleet {
  readonly broker: BrokerProcess;
  readonly certificates: TestCertificates;
  readonly url: string;
  /** Holds one certificate folder for each name. */
  readonly folder: string;
  readonly advertise: (id: string, size: Size, offer?: Offer) => Promise<void>;
  /** Runs brokerctl as that cluster, or as the admin `ops`. */
  readonly as: (name: string, ...args: readonly string[]) => Promise<Outcome>;
  /** The same where time passes, or on a terminal. */
  readonly asWith: (world: RunCliOptions, name: string, ...args: readonly string[]) => Promise<Outcome>;
  /** Reserves as that cluster: the reservation's ID. */
  readonly reserve: (name: string, ...args: readonly string[]) => Promise<string>;
}

interface FleetOptions {
  /** The broker's policy file; without it, the defaults. */
  readonly policy?: string;
}

const REGION = "topology.kubernetes.io/region";
const NAMES = ["rome", "paris", "tokyo", "berlin"] as const;

/** rome is small; paris is large, tokyo cheap and far away, berlin small and without a price. */
export async function startFleet(
  whenDone: (cleanUp: () => Promise<void>) => void,
  options: FleetOptions = {},
): Promise<Fleet> {
  const certificates = await testCertificates();
  const folder = await temporaryFolder(whenDone);
  await writeCertificateFolder(join(folder, "ops"), certificates.admin("ops"));
  for (const name of NAMES) await writeCertificateFolder(join(folder, name), certificates.cluster(name));
  const policyFile = join(folder, "policy.yaml");
  await writeFile(policyFile, options.policy ?? "");
  const broker = await startBroker({ certificates, flags: [`--policy=${policyFile}`] });
  whenDone(broker.dispose);
  const url = `https://127.0.0.1:${broker.port}`;

  const advertise: Fleet["advertise"] = async (id, size, offer = {}) => {
    const body = { ...advertisementBody(id, size), ...offer };
    const { status } = await broker.clientFor(id).request("POST", PATH.advertisements, { body });
    if (status !== 200) throw new Error(`the advertisement of ${id} was answered with ${status}`);
  };
  const asWith: Fleet["asWith"] = (world, name, ...args) =>
    runCli(args, {
      ...world,
      env: { BROKERCTL_BROKER: url, BROKERCTL_CERTS: join(folder, name), ...world.env },
    });
  const as: Fleet["as"] = (name, ...args) => asWith({}, name, ...args);

  await advertise("rome", { cpu: 1, memoryGi: 4 }, { labels: { [REGION]: "eu-south" } });
  await advertise(
    "paris",
    { cpu: 16, memoryGi: 64 },
    {
      labels: { [REGION]: "eu-west", tier: "gold" },
      cost: { cpuCost: "0.04", memoryCost: "0.005", currency: "EUR" },
    },
  );
  await advertise(
    "tokyo",
    { cpu: 8, memoryGi: 32 },
    { labels: { [REGION]: "asia" }, cost: { cpuCost: "0.03", memoryCost: "0.004", currency: "EUR" } },
  );
  await advertise("berlin", { cpu: 2, memoryGi: 8 });
  return {
    broker,
    certificates,
    url,
    folder,
    advertise,
    as,
    asWith,
    reserve: async (name, ...args) => {
      const { code, out, err } = await as(name, "reserve", ...args, "-o", "name");
      if (code !== 0) throw new Error(`reserving ended with ${code}: ${err}`);
      return out.trim();
    },
  };
}
