import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AdvertisementDTO, PATH } from "@resource-broker/contract";
import {
  advertisementBody,
  type Size,
  startBroker,
  testCertificates,
  writeCertificateFolder,
} from "@resource-broker/testkit";
import { expect } from "vitest";
import { type Outcome, runCli, temporaryFolder } from "../../../src/testing/cli.ts";

type Offer = Partial<Pick<AdvertisementDTO, "cost" | "labels" | "resources" | "gpus">>;
type RunCliOptions = NonNullable<Parameters<typeof runCli>[1]>;

/** A line at a prompt: who types what, the exit status, and what is printed, on standard output or error. */
type Typed = readonly [who: string, line: string, code: number, ...says: readonly (string | RegExp)[]];

const REGION = "topology.kubernetes.io/region";

/**
 * A real broker with clusters that advertised, and brokerctl with somebody's certificate. rome is small; paris is large, tokyo
 * cheap and far away, berlin small and without a price; `ops` is an admin.
 */
export async function startFleet(whenDone: (cleanUp: () => Promise<void>) => void, policy = "") {
  const certificates = await testCertificates();
  const folder = await temporaryFolder(whenDone);
  await writeCertificateFolder(join(folder, "ops"), certificates.admin("ops"));
  for (const name of ["rome", "paris", "tokyo", "berlin"])
    await writeCertificateFolder(join(folder, name), certificates.cluster(name));
  const policyFile = join(folder, "policy.yaml");
  await writeFile(policyFile, policy);
  const broker = await startBroker({ certificates, flags: [`--policy=${policyFile}`] });
  whenDone(broker.dispose);
  const url = `https://127.0.0.1:${broker.port}`;

  const advertise = async (id: string, size: Size, offer: Offer = {}): Promise<void> => {
    const body = { ...advertisementBody(id, size), ...offer };
    const { status } = await broker.clientFor(id).request("POST", PATH.advertisements, { body });
    if (status !== 200) throw new Error(`the advertisement of ${id} was answered with ${status}`);
  };
  /** Runs a line of brokerctl as somebody, where time passes or on a terminal. */
  const asWith = (world: RunCliOptions, name: string, line: string): Promise<Outcome> =>
    runCli(line.split(" "), {
      ...world,
      env: { BROKERCTL_BROKER: url, BROKERCTL_CERTS: join(folder, name), ...world.env },
    });
  const as = (name: string, line: string): Promise<Outcome> => asWith({}, name, line);
  /** The output of a line that must succeed. */
  const ok = async (name: string, line: string): Promise<string> => {
    const { code, out, err } = await as(name, line);
    if (code !== 0) throw new Error(`brokerctl ${line} ended with ${code}: ${err}`);
    return out.trim();
  };
  /** Runs a line that does not end by itself as `ops`, a step between each two looks: what it printed. */
  const watch = async (line: string, steps: readonly (() => Promise<unknown>)[]): Promise<string> => {
    const left = [...steps];
    const lastLook = new Error("enough");
    let out = "";
    const pause = async (): Promise<void> => {
      const step = left.shift();
      if (step === undefined) throw lastLook;
      await step();
    };
    await asWith({ pause, onOut: (text) => (out += text) }, "ops", line).catch((error: unknown) => {
      if (error !== lastLook) throw error;
    });
    return out;
  };
  const expectDialogue = async (...lines: readonly Typed[]): Promise<void> => {
    for (const [who, line, code, ...says] of lines) {
      const ended = await as(who, line);
      expect({ line, ...ended }).toMatchObject({ code });
      for (const each of says) expect(ended.out + ended.err).toMatch(each);
    }
  };

  const euro = (cpuCost: string, memoryCost: string) => ({ cpuCost, memoryCost, currency: "EUR" });
  await advertise("rome", { cpu: 1, memoryGi: 4 }, { labels: { [REGION]: "eu-south" } });
  const gold = { labels: { [REGION]: "eu-west", tier: "gold" }, cost: euro("0.04", "0.005") };
  await advertise("paris", { cpu: 16, memoryGi: 64 }, gold);
  const far = { labels: { [REGION]: "asia" }, cost: euro("0.03", "0.004") };
  await advertise("tokyo", { cpu: 8, memoryGi: 32 }, far);
  await advertise("berlin", { cpu: 2, memoryGi: 8 });
  return {
    broker,
    certificates,
    url,
    folder,
    advertise,
    as,
    asWith,
    ok,
    expectDialogue,
    watch,
    /** The data of a line that must succeed. */
    data: async (name: string, line: string) => JSON.parse(await ok(name, `${line} -o json`)) as object,
    /** Reserves as that cluster: the reservation's ID. */
    reserve: (name: string, line: string) => ok(name, `reserve ${line} -o name`),
  };
}
