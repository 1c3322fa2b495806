import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatToken } from "@resource-broker/contract";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCli, temporaryFolder } from "../testing/cli.ts";
import { definition, OUR_KINDS, startOneCluster } from "../testing/one-cluster.ts";
import { withChart } from "./chart.ts";
import { helmVersion } from "./helm.ts";
import { newToken, secretManifest } from "./invitation.ts";

const TOKEN = newToken();
const INVITATION = {
  clusterId: "rome",
  token: TOKEN,
  brokerUrls: ["https://broker.example.org:9443", "https://b.example.org"],
  caHashes: ["ab".repeat(32)],
  namespace: "rear-agent",
};
const MANIFEST = secretManifest(INVITATION);
const LABELS = {
  "app.kubernetes.io/instance": "resource-broker-agent",
  "app.kubernetes.io/component": "agent",
};
const AGENT = { name: "resource-broker-agent", namespace: "rear-agent", labels: LABELS };

function deployment(
  readyReplicas: number,
  { clusterId = "rome", replicas = 1, wanted = 1, observedGeneration = 1000 } = {},
): object {
  // The simulated cluster counts every change as a generation.
  const status = { observedGeneration, replicas, updatedReplicas: wanted, readyReplicas };
  const containers = [{ name: "agent", args: ["--log-level=info", `--cluster-id=${clusterId}`] }];
  const spec = { replicas: wanted, template: { spec: { containers } } };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: AGENT, spec, status };
}

const namespace = (name: string): object => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const NO_PROGRAM = "/nowhere";

/** A cluster, brokerctl with an invitation piped into it, and a helm that notes what it is called with. */
async function startJoin(helmEndsWith = 0, helmVersion = "v3.14.0+g3fc9f4b") {
  const definitions = [...OUR_KINDS, definition("apps", "Deployment", "Namespaced")];
  const rome = await startOneCluster(onTestFinished, { definitions });
  const folder = await temporaryFolder(onTestFinished);
  const log = join(folder, "log");
  const script = `#!/bin/sh
{ echo "$@"; env; } >> ${log}
for each in "$@"; do case $each in --values=*) cp "\${each#--values=}" ${folder}/values.json ;; esac; done
if [ "$1" = version ]; then echo "${helmVersion}"; exit 0; fi
echo "Error: it is broken" >&2
exit ${helmEndsWith}
`;
  await writeFile(join(folder, "helm"), script);
  await chmod(join(folder, "helm"), 0o755);
  const env = { KUBECONFIG: rome.kubeconfig, PATH: `${folder}:/usr/bin:/bin` };
  return {
    ...rome,
    folder,
    seed: (...objects: readonly object[]) =>
      rome.cluster.seed(objects.map((each) => JSON.parse(JSON.stringify(each)) as never)),
    found: (kind: string, name: string): unknown => {
      const wanted = rome.cluster.api.definitions().find((each) => each.kind === kind);
      if (wanted === undefined) throw new Error(`no ${kind}`);
      const { items } = rome.cluster.api.list({ definition: wanted }, {});
      return items.find(({ metadata }) => JSON.stringify(metadata).includes(`"name":"${name}"`));
    },
    log: () => readFile(log, "utf8"),
    values: async () => JSON.parse(await readFile(join(folder, "values.json"), "utf8")) as unknown,
    join: (args: readonly string[], world: NonNullable<Parameters<typeof runCli>[1]> = {}) => {
      let now = rome.now();
      const pause = async (ms: number): Promise<void> => {
        now += ms;
        await world.pause?.(ms);
      };
      return runCli(["join", ...args], {
        env,
        readInput: () => Promise.resolve(MANIFEST),
        ...world,
        now: () => now,
        pause,
      });
    },
  };
}

const secretsOf = (out: string): string[] =>
  [TOKEN.secret, formatToken(TOKEN)].filter((each) => out.includes(each));

describe("join", () => {
  test("makes namespace and Secret, runs helm without the token, and waits until the agent is Ready", async () => {
    const rome = await startJoin();
    let waits = 0;
    const pause = async (): Promise<void> => {
      waits += 1;
      rome.seed(deployment(waits === 1 ? 0 : 1));
    };
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      return "y";
    };
    const image = "registry.example.org:5000/resource-broker/agent:0.1.0";
    const set = "liqo.warmPeers={paris,tokyo},log.level=debug";
    const { code, out, err } = await rome.join(["--image", image, "--set", set], { ask, pause });
    expect({ code, out, waits }).toEqual({ code: 0, out: "", waits: 2 });
    expect(asked).toEqual(["Install the agent of rome there? [y/N] "]);
    for (const says of [
      "https://broker.example.org:9443",
      `sha256:${"ab".repeat(32)}`,
      "Made namespace",
      "has joined",
    ])
      expect(err).toContain(says);
    const log = await rome.log();
    expect(log).toContain("upgrade --install resource-broker-agent ");
    expect(log).toContain("--namespace=rear-agent");
    expect(log).toContain(`--set=${set}`);
    expect(secretsOf(log + err)).toEqual([]);
    expect(await rome.values()).toEqual({
      clusterID: "rome",
      join: { existingSecret: "resource-broker-join" },
      networkPolicy: { brokerPorts: [9443, 443] },
      podAnnotations: { "rear.fluidos.eu/joined-at": expect.stringMatching(/^20\d\d-/) },
      image: { repository: "registry.example.org:5000/resource-broker/agent", tag: "0.1.0" },
    });
    expect(rome.found("Namespace", "rear-agent")).toMatchObject({
      metadata: { labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
    });
    expect(rome.found("Secret", "resource-broker-join")).toMatchObject({
      metadata: { namespace: "rear-agent" },
      data: { token: Buffer.from(formatToken(TOKEN)).toString("base64") },
    });
    const [, file = ""] = /--values=(\S+)/u.exec(log) ?? [];
    await expect(readFile(file)).rejects.toThrow("ENOENT");
  });

  test("hands the context and the kubeconfig on to helm, and installs where it is told", async () => {
    const rome = await startJoin();
    rome.seed(namespace("fleet"), { ...deployment(1), metadata: { ...AGENT, namespace: "fleet" } });
    const context = /current-context: (\S+)/u.exec(await readFile(rome.kubeconfig, "utf8"))?.[1] ?? "";
    await writeFile(rome.path("invitation.yaml"), MANIFEST);
    const args = ["-f", rome.path("invitation.yaml"), "--yes", "-n", "fleet", "--context", context];
    expect(await rome.join([...args, "--kubeconfig", rome.kubeconfig])).toMatchObject({ code: 0 });
    const log = await rome.log();
    for (const says of [`--kube-context=${context}`, `--kubeconfig=${rome.kubeconfig}`, "--namespace=fleet"])
      expect(log).toContain(says);
  });

  test.each([
    ["a no", "n", 1, "nothing was changed"],
    ["nobody at the terminal", undefined, 2, "--yes"],
  ])("changes nothing after %s", async (_, answer, code, says) => {
    const rome = await startJoin();
    const ended = await rome.join([], { ask: () => Promise.resolve(answer) });
    expect(ended.code).toBe(code);
    expect(ended.err).toContain(says);
    expect(await rome.log()).not.toContain("upgrade");
    expect(rome.found("Secret", "resource-broker-join")).toBeUndefined();
  });

  test.each([
    ["runs beside it", { replicas: 2 }],
    ["is all that the cluster has looked at", { observedGeneration: 0 }],
  ])("does not take the agent of before, which %s, for the one that joins", async (_, before) => {
    const rome = await startJoin();
    let waits = 0;
    const pause = async (): Promise<void> => {
      waits += 1;
      if (waits === 3) rome.seed(deployment(1));
    };
    rome.seed(namespace("rear-agent"), deployment(1, before));
    expect(await rome.join(["--yes"], { pause })).toMatchObject({ code: 0 });
    expect(waits).toBe(3);
  });

  test("does not say that a cluster has joined whose agent has no pod", async () => {
    const rome = await startJoin();
    rome.seed(namespace("rear-agent"), deployment(0, { replicas: 0, wanted: 0 }));
    const { code, err } = await rome.join(["--yes", "--timeout", "1s"]);
    expect({ code, err }).toMatchObject({ code: 4, err: expect.stringContaining("not Ready yet") as string });
  });

  test("changes nothing in a cluster that has the agent of another one, and ends with 2", async () => {
    const rome = await startJoin();
    rome.seed(namespace("rear-agent"), deployment(1, { clusterId: "paris" }));
    const context = /current-context: (\S+)/u.exec(await readFile(rome.kubeconfig, "utf8"))?.[1] ?? "";
    const { code, err } = await rome.join(["--yes", "--context", context]);
    expect(code).toBe(2);
    expect(err).toContain("is that of paris, and the invitation is for rome: nothing was changed");
    expect(err).toContain(`helm uninstall resource-broker-agent -n rear-agent --kube-context=${context}`);
    expect(err).toContain("To go on: brokerctl invite rome | brokerctl join --context");
    expect(rome.found("Secret", "resource-broker-join")).toBeUndefined();
  });

  test("without helm leaves no timer behind that brokerctl would wait for", async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;
    const before = timers();
    expect(await helmVersion({ PATH: NO_PROGRAM })).toBeUndefined();
    expect(timers()).toBe(before);
  });

  test("without helm ends with 2 and the commands to run instead", async () => {
    const rome = await startJoin();
    const env = { KUBECONFIG: rome.kubeconfig, PATH: NO_PROGRAM };
    const { code, err } = await rome.join(["--yes"], { env });
    expect(code).toBe(2);
    for (const says of [
      "nothing was changed",
      "kubectl create namespace rear-agent",
      "brokerctl invite rome | kubectl apply -f -",
      "kubectl apply -k deploy/kustomize/agent",
    ])
      expect(err).toContain(says);
    expect(secretsOf(err)).toEqual([]);
    expect(rome.found("Secret", "resource-broker-join")).toBeUndefined();
  });

  test.each([
    ["v3.13.3+gc8b9489", "v3.13.3+gc8b9489"],
    ["Client: v2.17.0+ga690bad", "v2.17.0+ga690bad"],
    ["WARNING: /home/v9.9/config is group-readable\nv3.9.0", "v3.9.0"],
  ])("changes nothing with helm %j, and ends with 2", async (version, named) => {
    const rome = await startJoin(0, version);
    const { code, err } = await rome.join(["--yes"]);
    expect(code).toBe(2);
    expect(err).toContain(`${named}: nothing was changed. Install 3.14 or newer`);
    expect(await rome.log()).not.toContain("upgrade");
    expect(rome.found("Namespace", "rear-agent")).toBeUndefined();
    expect(rome.found("Secret", "resource-broker-join")).toBeUndefined();
  });

  test.each(["v4.0.1+g12500dd", "v3.100.0", "helm of our own"])("tries it with helm %j", async (version) => {
    const rome = await startJoin(0, version);
    rome.seed(namespace("rear-agent"), deployment(1));
    expect(await rome.join(["--yes"])).toMatchObject({ code: 0 });
  });

  test("says what helm said when it fails", async () => {
    const rome = await startJoin(3);
    const { code, err } = await rome.join(["--yes"]);
    expect(code).toBe(1);
    expect(err).toContain("helm upgrade ended with 3:\n  Error: it is broken");
    // The invitation is in the cluster.
    expect(err).not.toContain("To go on");
  });

  test("after the timeout names what the pod waits for, and where its log is", async () => {
    const rome = await startJoin();
    const waiting = { reason: "ImagePullBackOff", message: "there is no such image" };
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...AGENT, name: "resource-broker-agent-1" },
      spec: { containers: [{ name: "agent", image: "x" }] },
      status: { containerStatuses: [{ name: "agent", state: { waiting } }] },
    };
    rome.seed(namespace("rear-agent"), deployment(0), pod);
    const { code, err } = await rome.join(["--yes", "--timeout", "1m"]);
    expect(code).toBe(4);
    expect(err).toContain("pod resource-broker-agent-1: ImagePullBackOff: there is no such image");
    expect(err).toContain("kubectl -n rear-agent logs deployment/resource-broker-agent --tail=20");
    expect(err).toContain("brokerctl accept rome");
  });

  test.each([
    ["nothing is piped and no file named", [], undefined, "brokerctl invite <cluster-id> | brokerctl join"],
    ["the other side of the pipe has failed", [], "", "standard input is empty"],
    ["the file is missing", ["-f", "nowhere.yaml"], MANIFEST, "there is no nowhere.yaml: -f names the file"],
    ["the file is a folder", ["-f", "."], MANIFEST, ". is a folder: -f names the file with the invitation"],
    ["the namespace can be none", ["-n", "Bad_NS"], MANIFEST, '"Bad_NS" cannot be a namespace'],
    [
      "the invitation's namespace can be none",
      [],
      MANIFEST.replace("namespace: rear-agent", "namespace: a.b"),
      '"a.b" cannot be a namespace',
    ],
    ["the image has no tag", ["--image", "resource-broker/agent"], MANIFEST, "repository:tag"],
  ])("ends with 2 when %s", async (_, args, input, says) => {
    const world = input === undefined ? {} : { readInput: () => Promise.resolve(input) };
    const { code, err } = await runCli(["join", ...args], world);
    expect(code).toBe(2);
    expect(err).toContain(says);
  });
});

describe("the chart", () => {
  test("of a bundle is unpacked, used and gone", async () => {
    const folder = await temporaryFolder(onTestFinished);
    const packed = join(folder, "agent-chart.json");
    await writeFile(packed, JSON.stringify({ "Chart.yaml": "version: 9", "templates/a.yaml": "a" }));
    const chart = await withChart(
      {},
      async (path) => {
        expect(await readFile(join(path, "templates", "a.yaml"), "utf8")).toBe("a");
        return path;
      },
      packed,
    );
    await expect(readFile(join(chart, "Chart.yaml"))).rejects.toThrow("ENOENT");
  });

  test.each([JSON.stringify({ "../../evil": "x" }), JSON.stringify({ "Chart.yaml": 1 }), "no JSON"])(
    "that is %s is refused",
    async (text) => {
      const packed = join(await temporaryFolder(onTestFinished), "agent-chart.json");
      await writeFile(packed, text);
      await expect(withChart({}, async () => undefined, packed)).rejects.toThrow("is damaged");
    },
  );
});
