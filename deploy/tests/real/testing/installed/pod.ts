import { mkdir, mkdtemp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Guardian, type RealControlPlane, type TestCertificates, until } from "@resource-broker/testkit";
import type { Instruction } from "../../../../images/read-dockerfile.ts";
import { certificateFor, issueCertificate } from "./issue-certificate.ts";
import type { Manifests } from "./manifests.ts";
import { podNetwork } from "./pod-network.ts";
import { type PodPlan, type ProbePlan, podPlan } from "./pod-plan.ts";
import { type Endpoint, type Relay, relay } from "./relay.ts";
import { podSandbox } from "./sandbox.ts";

const API_SERVER = "kubernetes.default.svc";
const API_PORT = 443;
/** A busy machine is no failure. */
const READY_WITHIN_MS = 60_000;

/** A name at which a pod finds something else than its API server. */
export interface Reachable {
  readonly names: readonly string[];
  readonly port: number;
  readonly to: Endpoint;
}

export interface PodOptions {
  readonly name: string;
  readonly plane: RealControlPlane;
  readonly manifests: Manifests;
  readonly image: readonly Instruction[];
  readonly built: (path: string) => string;
  readonly authority: TestCertificates;
  /** What else than a Certificate fills a Secret, by its name. */
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly reach?: readonly Reachable[];
  readonly directory: string;
  readonly guardian: Guardian;
}

/** A pod as its manifests and its image describe it; only the container engine is missing. */
export interface Pod {
  readonly plan: PodPlan;
  readonly address: string;
  /** Resolves when the readiness probe succeeds. */
  readonly ready: () => Promise<void>;
  readonly probe: (probe: ProbePlan) => Promise<number>;
  /** A page of one of its ports, by the port's name. */
  readonly page: (port: string, path: string) => Promise<string>;
  readonly isRunning: () => boolean;
  readonly logLines: () => Promise<string[]>;
  /** Fields of /proc/<pid>/status. */
  readonly status: () => Promise<ReadonlyMap<string, string>>;
  /** Where it could write: mount points, without devices and the kernel's own. */
  readonly writable: () => Promise<string[]>;
  /** Asks it to end, as a kubelet does. Returns the exit code. */
  readonly stop: () => Promise<number | null>;
  /** Ends it without a word, as a kernel does that is out of memory. */
  readonly kill: () => Promise<void>;
  /** The container starts again, in the same pod. */
  readonly restart: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

export async function startPod(options: PodOptions): Promise<Pod> {
  const { name, plane, manifests, image, reach = [], guardian } = options;
  await mkdir(options.directory, { recursive: true });
  const directory = await mkdtemp(join(options.directory, `${name}-`));
  const network = await podNetwork(directory, guardian);
  const services = [
    { names: [API_SERVER], port: API_PORT, to: { host: "127.0.0.1", port: plane.port } },
    ...reach,
  ];
  const relays = await Promise.all(services.map(({ port, to }) => relay({ host: network.here, port }, to)));
  const plan = podPlan({
    workload: manifests.workload,
    image,
    podName: name,
    podIp: network.there,
    secret: (secretName) => secretOf(options, secretName),
    configMaps: manifests.configMaps,
  });
  const child = await podSandbox({
    plan,
    image,
    built: options.built,
    network,
    hosts: new Map(services.flatMap(({ names }) => names.map((each) => [each, network.here]))),
    account: await accountOf(plane, plan),
    environment: { KUBERNETES_SERVICE_HOST: API_SERVER, KUBERNETES_SERVICE_PORT: String(API_PORT) },
    directory,
    guardian,
  });
  await child.launch();
  const probe: Pod["probe"] = async ({ port, path }) =>
    (await fetch(`http://${network.there}:${port}${path}`)).status;

  return {
    plan,
    address: network.there,
    probe,
    ready: async () => {
      const isReady = async (): Promise<true> => {
        if (child.pid() === undefined) throw new Error((await child.logLines()).slice(-5).join("\n"));
        if ((await probe(plan.readiness)) === 200) return true;
        const page = new URL(plan.readiness.path, `http://${network.there}:${plan.readiness.port}`);
        page.searchParams.set("verbose", "");
        const answerText = await fetch(page);
        throw new Error([await answerText.text(), ...(await child.logLines()).slice(-5)].join("\n"));
      };
      await until(`${name} is ready`, isReady, READY_WITHIN_MS);
    },
    page: async (port, path) =>
      (await fetch(`http://${network.there}:${plan.ports.get(port) ?? 0}${path}`)).text(),
    isRunning: () => child.pid() !== undefined,
    logLines: child.logLines,
    status: async () => {
      const text = await readFile(`/proc/${child.pid()}/status`, "utf8");
      return new Map(
        text.split("\n").map((line) => [line.split(":\t")[0] ?? "", line.split(":\t")[1] ?? ""]),
      );
    },
    writable: async () => writableMounts(await readFile(`/proc/${child.pid()}/mountinfo`, "utf8")),
    stop: () => child.kill("SIGTERM"),
    kill: async () => {
      await child.kill("SIGKILL");
    },
    restart: child.launch,
    dispose: async () => {
      await child.kill("SIGKILL");
      await Promise.all(relays.map((each: Relay) => each.close()));
      await network.close();
    },
  };
}

/** Of /proc/<pid>/mountinfo, whose fifth field is where, and whose sixth is how. */
function writableMounts(text: string): string[] {
  const fields = text.split("\n").map((line) => line.split(" "));
  const writable = fields.filter(([, , , , , how = ""]) => how.split(",").includes("rw"));
  return writable
    .map(([, , , , where = ""]) => where)
    .filter((where) => !/^\/(proc|dev)\//.test(`${where}/`));
}

function secretOf({ manifests, authority, secrets = {} }: PodOptions, name: string) {
  return secrets[name] ?? issueCertificate(certificateFor(manifests.certificates, name), authority);
}

interface KubeconfigOfToken {
  readonly clusters: readonly [{ readonly cluster: { readonly "certificate-authority-data": string } }];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

/** The token is minted for the account that the manifests name: it may do what their roles say, and no more. */
async function accountOf(plane: RealControlPlane, plan: PodPlan): Promise<Record<string, string>> {
  const account = { namespace: plan.namespace, name: plan.serviceAccount };
  const { clusters, users } = JSON.parse(await plane.kubeconfigFor(account)) as KubeconfigOfToken;
  return {
    token: users[0].user.token,
    "ca.crt": Buffer.from(clusters[0].cluster["certificate-authority-data"], "base64").toString(),
    namespace: plan.namespace,
  };
}
