import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const MAIN = join(import.meta.dirname, "main.ts");
const run = promisify(execFile);

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-main-"));
  const certificates = await testCertificates();
  await writeCertificateFolder(join(folder, "rome"), certificates.cluster("rome"));
  await writeCertificateFolder(join(folder, "nobody"), certificates.leaf({ subject: [] }));
  const kubeconfig = {
    "current-context": "here",
    clusters: [{ name: "here", cluster: { server: "http://127.0.0.1:1" } }],
    contexts: [{ name: "here", context: { cluster: "here" } }],
  };
  await writeFile(join(folder, "kubeconfig"), JSON.stringify(kubeconfig));
});
afterAll(() => rm(folder, { recursive: true }));

/** The agent, which is expected to end by itself. `~` stands for the test's folder. */
async function agent(argv: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const words = argv.map((word) => word.replace("~", folder));
  const options = { env: { HOME: folder, PATH: "", ...env }, timeout: 60_000 };
  try {
    return { code: 0, ...(await run(process.execPath, [MAIN, ...words], options)) };
  } catch (error) {
    return error as Ended;
  }
}

const PORTS = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
const BROKER = ["--broker-url=https://127.0.0.1:1", "--broker-cert-path=~/rome"];
const CLUSTER = ["--kubeconfig=~/kubeconfig"];

const wrong: readonly { readonly name: string; readonly argv: readonly string[]; readonly line: RegExp }[] = [
  {
    name: "an unknown flag",
    argv: [...BROKER, "--cluster-idd=rome"],
    line: /^agent: unknown argument "cluster-idd": did you mean --cluster-id\?\n$/,
  },
  {
    name: "a missing certificate",
    argv: [...CLUSTER, BROKER[0] ?? "", "--broker-cert-path=~/missing"],
    line: /^agent: --broker-cert-path: certificate folder \S+missing: ENOENT[^\n]*brokerctl certs issue <cluster-id> writes them\)\n$/,
  },
  {
    name: "a certificate that names nobody",
    argv: [...CLUSTER, BROKER[0] ?? "", "--broker-cert-path=~/nobody"],
    line: /^agent: tls.crt [^\n]*exactly one Common Name[^\n]*brokerctl certs issue[^\n]*\n$/,
  },
  {
    name: "a certificate of another cluster",
    argv: [...BROKER, ...CLUSTER, "--cluster-id=paris"],
    line: /^agent: --cluster-id is "paris", but the certificate in --broker-cert-path belongs to "rome": [^\n]*brokerctl certs issue paris\n$/,
  },
  {
    name: "a kubeconfig that is not there",
    argv: [...BROKER, "--kubeconfig=~/missing"],
    line: /^agent: cannot read \S+missing \(named as kubeconfig\): there is no such file: correct the path\n$/,
  },
  {
    name: "a kubeconfig whose server does not answer",
    argv: [...BROKER, ...CLUSTER],
    line: /^agent: the API server of context "here" of \S+kubeconfig does not answer: [^\n]*\n$/,
  },
];

describe("the agent's process", () => {
  test.each(wrong)("ends with code 2 and one line for $name", async ({ argv, line }) => {
    const ended = await agent([...PORTS, ...argv]);
    expect(ended.stderr).toMatch(line);
    expect(ended.code).toBe(2);
  });

  test("prints its help and its version", async () => {
    const help = await agent(["--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("  --broker-url=https://HOST:PORT\n");
    expect((await agent(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
