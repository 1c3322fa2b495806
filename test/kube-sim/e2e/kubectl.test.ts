import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@resource-broker/runtime";
import { controlPlaneAssets, startControlPlane } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKubeSim } from "../src/create-kube-sim.ts";

/** The real kubectl, on kube-sim and, with KUBE_REQUIRED=1, on a real API server without nodes. */

const isReal = process.env["KUBE_REQUIRED"] === "1";
const assets = controlPlaneAssets();
const START_TIMEOUT_MS = 180_000;

/** One call and what a user sees. The calls run in order, each on what the ones before have left. */
interface Row {
  readonly name: string;
  readonly words: readonly string[];
  /** What the output must match, each of them. */
  readonly shows: readonly RegExp[];
  readonly stdin?: string;
  readonly exitCode: number;
  /** Calls that are made while this one runs; it is ended when its output shows everything. */
  readonly meanwhile?: readonly string[];
  readonly needsKubelet?: boolean;
}

type More = Partial<Pick<Row, "exitCode" | "meanwhile" | "needsKubelet">> & { readonly stdin?: object };

function row(name: string, line: string, ...rest: readonly (RegExp | More)[]): Row {
  const { stdin, ...more }: More = Object.assign(
    {},
    ...rest.filter((one) => !(one instanceof RegExp)),
  ) as More;
  const shows = rest.filter((one) => one instanceof RegExp);
  return {
    name,
    words: wordsOf(line),
    shows,
    exitCode: 0,
    ...more,
    ...(stdin === undefined ? {} : { stdin: JSON.stringify(stdin) }),
  };
}

function refusal(name: string, line: string, ...rest: readonly (RegExp | More)[]): Row {
  return row(name, line, { exitCode: 1 }, ...rest);
}

/** Words in single quotes may hold spaces. */
function wordsOf(line: string): readonly string[] {
  return Array.from(line.matchAll(/'([^']*)'|(\S+)/gu), ([, quoted, plain]) => quoted ?? plain ?? "");
}

const list = (...items: readonly object[]): object => ({ apiVersion: "v1", kind: "List", items });
const configMap = (name: string, data: object, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "demo", ...metadata },
  data,
});
const pod = (name: string, spec: object): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "demo", labels: { app: name } },
  spec,
});
const running = (cpu: string): object => ({
  containers: [{ name: "main", image: "example/shop:1.0", resources: { requests: { cpu, memory: "64Mi" } } }],
});
const node = (name: string, labels: object): object => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels },
  status: {
    allocatable: { cpu: "4", memory: "16Gi", pods: "110" },
    capacity: { cpu: "4", memory: "16Gi", pods: "110" },
    conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
  },
});
const request = (spec: object, name = "more"): object => ({
  apiVersion: "rear.fluidos.eu/v1alpha1",
  kind: "ResourceRequest",
  metadata: { name, namespace: "demo" },
  spec: { requestedCPU: "500m", requestedMemory: "512Mi", ...spec },
});
const EVENT = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "shop.1", namespace: "demo" },
  involvedObject: { apiVersion: "v1", kind: "Pod", name: "shop", namespace: "demo" },
  type: "Normal",
  reason: "Greeted",
  message: "somebody said hello",
  lastTimestamp: "2026-01-05T12:00:00Z",
};

const ROWS: readonly Row[] = [
  row("version tells the server's version", "version", /Server Version: v1\.\d+/u),
  row(
    "api-resources lists the kinds",
    "api-resources",
    /^pods +po +v1 +true +Pod/mu,
    /^leases +coordination/mu,
  ),
  row("the server says that it is well", "get --raw /readyz", /^ok/u),
  row("auth can-i answers", "auth can-i create pods", /^yes/u),
  row("auth whoami answers", "auth whoami", /Username +\S+/u),
  refusal("a kind that is not served is refused", "get unicorns", /doesn't have a resource type "unicorns"/u),
  row("the first namespaces exist", "get namespaces", /^NAME +STATUS +AGE$/mu, /^kube-system +Active/mu),
  row("explain shows a built-in kind", "explain pod.spec.containers", /KIND: +Pod/u, /image\s+<string>/u),

  row("create takes several objects at once", "create -f -", /node\/node-b created/u, {
    stdin: list(node("node-a", { "node-role.kubernetes.io/worker": "" }), node("node-b", { disk: "ssd" })),
  }),
  row("get shows nodes", "get nodes", /^NAME +STATUS +ROLES +AGE +VERSION$/mu, /^node-a +Ready +worker/mu),
  row(
    "get -o wide shows more",
    "get nodes -o wide",
    /INTERNAL-IP +EXTERNAL-IP +OS-IMAGE/u,
    /10\.0\.0\.1 +<none>/u,
  ),
  row("describe tells of a node", "describe node node-a", /Roles: +worker/u, /memory: +16Gi/u),
  row("cordon closes a node", "cordon node-b", /node\/node-b cordoned/u),
  row("a closed node is shown as such", "get node node-b", /Ready,SchedulingDisabled/u),
  row("uncordon opens it again", "uncordon node-b", /node\/node-b uncordoned/u),
  row("taint keeps pods away", "taint node node-b dedicated=lab:NoSchedule", /node\/node-b tainted/u),
  row("label labels", "label node node-b tier=gold", /node\/node-b labeled/u),
  row("get -l selects", "get nodes -l 'tier in (gold, silver),disk' -o name", /^node\/node-b\n$/u),

  row("create namespace creates one", "create namespace demo", /namespace\/demo created/u),
  row("create configmap creates one", "create cm words -n demo --from-literal=hello=ciao", /words created/u),
  row(
    "get -o yaml shows everything",
    "get cm words -n demo -o yaml",
    /^ {2}hello: ciao$/mu,
    /uid: [-0-9a-f]{36}/u,
  ),
  row("apply creates", "apply -f -", /colours created/u, { stdin: configMap("colours", { sky: "blue" }) }),
  row("apply of the same changes nothing", "apply -f -", /colours unchanged/u, {
    stdin: configMap("colours", { sky: "blue" }),
  }),
  row("diff shows what would change", "diff -f -", /^- {2}sky: blue$/mu, /^\+ {2}sky: grey$/mu, {
    stdin: configMap("colours", { sky: "grey" }),
    exitCode: 1,
  }),
  row(
    "apply --server-side applies",
    "apply --server-side --field-manager=painter -f -",
    /serverside-applied/u,
    {
      stdin: configMap("paints", { wall: "white" }),
    },
  ),
  row("patch merges", `patch cm words -n demo --type=merge -p '{"data":{"bye":"addio"}}'`, /words patched/u),
  row("annotate annotates", "annotate cm words -n demo note=first", /words annotated/u),
  row("replace replaces", "replace -f -", /words replaced/u, {
    stdin: configMap("words", { hello: "hallo" }),
  }),
  row(
    "create secret creates one",
    "create secret generic keys -n demo --from-literal=pin=1234",
    /keys created/u,
  ),

  refusal(
    "an unknown field is refused",
    "create -f -",
    /strict decoding error: unknown field "spec\.wings"/u,
    {
      stdin: pod("bad", { wings: 2, ...running("1") }),
    },
  ),
  row(
    "--validate=warn only warns",
    "create --validate=warn --dry-run=server -f -",
    /unknown field "spec\.wings"/u,
    {
      stdin: pod("odd", { wings: 2, ...running("1") }),
    },
  ),
  row("pods can be created", "create -f -", /pod\/giant created/u, {
    stdin: list(pod("shop", running("1")), pod("giant", running("64"))),
  }),
  row(
    "wait sees a pod ready",
    "wait --for=condition=Ready pod/shop -n demo --timeout=20s",
    /shop condition met/u,
    {
      needsKubelet: true,
    },
  ),
  row(
    "get shows pods",
    "get pods -n demo",
    /^shop +1\/1 +Running +0 +\S+$/mu,
    /^giant +0\/1 +Pending +0 +\S+$/mu,
    {
      needsKubelet: true,
    },
  ),
  row("a pod that fits nowhere says why", "describe pod giant -n demo", /PodScheduled +False/u, {
    needsKubelet: true,
  }),
  row("all means pods", "get all -n demo -o name", /^pod\/shop$/mu),
  row(
    "patch merges lists strategically",
    `patch pod shop -n demo -p '{"spec":{"containers":[{"name":"main","image":"example/shop:2.0"}]}}'`,
    /shop patched/u,
  ),
  row("events can be recorded", "create -f -", /event\/shop\.1 created/u, { stdin: EVENT }),
  row(
    "events --for tells them",
    "events -n demo --for pod/shop",
    /Normal +Greeted +Pod\/shop +somebody said hello/u,
  ),
  row("get -w shows changes as they happen", "get cm -n demo -w", /^words +1 /mu, /^late +0 /mu, {
    meanwhile: ["create configmap late -n demo", "delete configmap late -n demo"],
  }),
  row(
    "delete waits until a pod is gone",
    "delete pod shop giant -n demo",
    /"shop" deleted/u,
    /"giant" deleted/u,
  ),
  row("run runs a pod", "run job -n demo --image=example/job:1", /pod\/job created/u),
  row(
    "drain moves pods away",
    "drain node-a node-b --force --ignore-daemonsets --timeout=20s",
    /node-b drained/u,
  ),

  row("apply installs our kinds", "apply -f {crds}", /resourcerequests\.rear\.fluidos\.eu created/u),
  row(
    "wait sees them established",
    "wait --for=condition=Established crd --all --timeout=10s",
    /condition met/u,
  ),
  row(
    "explain describes our fields",
    "explain resourcerequest.spec.requestedCPU",
    /KIND: +ResourceRequest/u,
    /DESCRIPTION:\n +\S/u,
  ),
  row("apply creates a request", "apply -f -", /resourcerequest\.rear\.fluidos\.eu\/more created/u, {
    stdin: request({}),
  }),
  row(
    "our columns show",
    "get rreq -n demo",
    /^NAME +CPU +MEMORY +GPU +PHASE +TARGET +AGE$/mu,
    /^more +500m +512Mi +/mu,
  ),
  refusal("an unknown field of ours is refused", "apply -f -", /unknown field "spec\.requestedCPUs"/u, {
    stdin: request({ requestedCPUs: "1" }),
  }),
  row(
    "a status is written through its own path",
    `patch rreq more -n demo --subresource=status --type=merge -p '{"status":{"phase":"Reserved"}}'`,
    /more patched/u,
  ),
  row(
    "wait sees it",
    "wait --for=jsonpath={.status.phase}=Reserved rreq/more -n demo --timeout=10s",
    /more condition met/u,
  ),
  row(
    "describe tells of our objects",
    "describe rreq more -n demo",
    /Requested CPU: +500m/u,
    /Phase: +Reserved/u,
  ),
  row(
    "get of the category shows our objects",
    "get resourcebroker -n demo -o name",
    /resourcerequest\.rear\.fluidos\.eu\/more/u,
  ),
  row("delete --all deletes", "delete rreq --all -n demo", /"more" deleted/u),
  row(
    "a kind can be deleted",
    "delete crd resourcerequests.rear.fluidos.eu",
    /"resourcerequests\.rear\.fluidos\.eu" deleted/u,
  ),
  refusal(
    "and is then not served any more",
    "get rreq -n demo",
    /doesn't have a resource type "rreq"|could not find/u,
  ),
  row(
    "a namespace goes with all that is in it",
    "delete namespace demo --timeout=60s",
    /namespace "demo" deleted/u,
  ),
];

const crds = join(import.meta.dirname, "../../../deploy/crds");
const clock = systemClock(() => performance.timeOrigin + performance.now());
let home = "";
let stop = (): Promise<void> => Promise.resolve();

beforeAll(async () => {
  if (isReal && !assets.isThere) return;
  home = await mkdtemp(join(tmpdir(), "kubectl-"));
  const server = isReal ? await startControlPlane({ name: "kubectl" }) : await startSimulated();
  stop = server.dispose;
  await writeFile(join(home, "kubeconfig"), server.kubeconfig);
}, START_TIMEOUT_MS);

afterAll(async () => {
  await stop();
  await rm(home, { recursive: true, force: true });
}, START_TIMEOUT_MS);

async function startSimulated(): Promise<{
  readonly kubeconfig: string;
  readonly dispose: () => Promise<void>;
}> {
  const sim = createKubeSim({ clock, randomBytes });
  const { kubeconfig } = await sim.addCluster({ name: "rome" });
  return { kubeconfig, dispose: sim.stop };
}

describe.skipIf(isReal && !assets.isThere)(`kubectl on ${isReal ? "a real API server" : "kube-sim"}`, () => {
  test.for(ROWS)("$name", async (command, { skip }) => {
    skip(isReal && command.needsKubelet === true, "there is no scheduler and no kubelet");
    const { output, exitCode } = await run(command);
    for (const pattern of command.shows) expect(output).toMatch(pattern);
    if (command.meanwhile === undefined)
      expect({ exitCode, output }).toMatchObject({ exitCode: command.exitCode });
  });
});

/** To its end; or, with calls to make meanwhile, until everything is shown. */
async function run(
  command: Pick<Row, "words" | "stdin" | "shows" | "meanwhile">,
): Promise<{ readonly output: string; readonly exitCode: number }> {
  const child = start(command);
  let output = "";
  const isOver = new Promise<number>((resolve, reject) => {
    child.once("error", (cause) =>
      reject(new Error("these tests drive the real kubectl: install it", { cause })),
    );
    child.once("close", (code) => resolve(code ?? -1));
  });
  const seen = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(output) && child.exitCode === null)
      await new Promise((resolve) => {
        child.stdout.once("data", resolve);
        child.stderr.once("data", resolve);
        child.once("close", resolve);
      });
  };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  if (command.meanwhile !== undefined) {
    // What only watches says nothing at first: -v=6 reports each answer of the server.
    await seen(/watch=true/u);
    for (const line of command.meanwhile) await run({ words: wordsOf(line), shows: [] });
    for (const pattern of command.shows) await seen(pattern);
    child.kill();
  }
  return { exitCode: await isOver, output };
}

function start({
  words,
  stdin,
  meanwhile,
}: Pick<Row, "words" | "stdin" | "meanwhile">): ChildProcessWithoutNullStreams {
  const program = isReal && assets.isThere ? assets.pathOf("kubectl") : "kubectl";
  const verbosity = meanwhile === undefined ? [] : ["-v=6"];
  const args = words.map((word) => word.replace("{crds}", crds));
  const child = spawn(program, ["--cache-dir", `${home}/cache`, ...verbosity, ...args], {
    env: { PATH: process.env["PATH"], HOME: home, KUBECONFIG: join(home, "kubeconfig") },
  });
  child.stdin.end(stdin ?? "");
  return child;
}
