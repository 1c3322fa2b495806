import { describe, expect, test } from "vitest";
import type { AgentSettings } from "./agent-settings.ts";
import { kubeConfigSources } from "./read-agent-settings.ts";
import { RIGHT, read } from "./testing/read-settings.ts";

type Env = Record<string, string>;

describe("the agent's settings", () => {
  const taken: [string, readonly string[], Partial<AgentSettings>, Env?][] = [
    [
      "several brokers",
      ["--broker-url=https://a:8443, https://b:8443"],
      { "broker-url": ["https://a:8443", "https://b:8443"], "broker-transport": "http" },
    ],
    [
      "what only the environment says",
      [],
      { "cluster-id": "rome", "leader-elect": true },
      { AGENT_CLUSTER_ID: "rome", AGENT_LEADER_ELECT: "true" },
    ],
    [
      "instructions and Lease beside the advertisement",
      ["--advertisement-namespace=sharing"],
      { "instruction-namespace": "sharing", "leader-election-namespace": "sharing" },
    ],
    [
      "instructions in a namespace of their own",
      ["--advertisement-namespace=sharing", "--instruction-namespace=orders"],
      { "advertisement-namespace": "sharing", "instruction-namespace": "orders" },
    ],
    [
      "the Lease in the pod's namespace",
      [],
      { "leader-election-namespace": "system", "advertisement-namespace": "default" },
      { POD_NAMESPACE: "system" },
    ],
    [
      "the Lease where the flag says, whatever the pod's namespace is",
      ["--leader-election-namespace=locks"],
      { "leader-election-namespace": "locks" },
      { POD_NAMESPACE: "system" },
    ],
    [
      "taints, labels and resources",
      [
        "--tolerated-taints=dedicated=batch:NoSchedule, gpu",
        "--cluster-labels=tier=gold,example.com/site=north,empty=",
        "--gpu-resources=nvidia.com/gpu,amd.com/gpu",
        "--extended-resources=example.com/fpga",
      ],
      {
        "tolerated-taints": [{ key: "dedicated", value: "batch", effect: "NoSchedule" }, { key: "gpu" }],
        "cluster-labels": [
          { name: "tier", value: "gold" },
          { name: "example.com/site", value: "north" },
          { name: "empty", value: "" },
        ],
        "gpu-resources": ["nvidia.com/gpu", "amd.com/gpu"],
        "extended-resources": ["example.com/fpga"],
      },
    ],
    [
      "Secrets of the pod's namespace, or of the named one",
      ["--identity-secret=own", "--join-secret=other/invitation", "--broker-cert-path="],
      { "identity-secret": "system/own", "join-secret": "other/invitation" },
      { POD_NAMESPACE: "system" },
    ],
    [
      "an identity key beside a folder of certificates",
      ["--identity-secret=own"],
      { "identity-secret": "default/own", "broker-cert-path": "/certs" },
    ],
    ["no polling", ["--instruction-poll-interval=0"], { "instruction-poll-interval": 0 }],
    ["no GPUs", ["--gpu-resources="], { "gpu-resources": [] }],
    [
      "http where the flag says so, beside a kubeconfig",
      ["--broker-transport=http", "--broker-kubeconfig=/hub"],
      { "broker-transport": "http" },
    ],
  ];
  test.each(taken)("take %s", async (_, argv, settings, env = {}) => {
    expect(await read([...RIGHT, ...argv], env)).toMatchObject({ ok: true, settings });
  });

  test.each([
    ["kubernetes", ["--broker-kubeconfig=/hub"]],
    ["kubernetes", ["--broker-transport=kubernetes", "--broker-kubeconfig=/hub", ...RIGHT]],
    ["none", ["--broker-transport=none"]],
  ])("choose the transport %s with %s", async (transport, argv) => {
    expect(await read(argv)).toMatchObject({ settings: { "broker-transport": transport } });
  });

  test("need neither address nor folder with an invitation", async () => {
    expect(await read(["--identity-secret=own", "--join-secret=invitation"])).toMatchObject({
      ok: true,
      settings: { "broker-transport": "http", "broker-url": [], "broker-cert-path": "" },
    });
  });

  const idle = (flags: string, transport: string) =>
    `${flags}: without effect, because the broker transport is ${transport}`;
  test.each([
    ["--broker-transport=none", idle("--broker-url, --broker-cert-path, --broker-kubeconfig", "none")],
    ["--broker-transport=kubernetes", idle("--broker-url, --broker-cert-path", "kubernetes")],
    ["--broker-transport=http", idle("--broker-kubeconfig", "http")],
  ])("warn of flags without effect: %s", async (flag, warning) => {
    expect(await read([...RIGHT, "--broker-kubeconfig=/hub", flag])).toMatchObject({ warnings: [warning] });
  });

  test("take the Go agent's flags with one warning each", async () => {
    const argv = [...RIGHT, "--zap-devel", "--zap-devel", "--enable-http2=false"];
    expect(await read(argv)).toMatchObject({
      ok: true,
      warnings: ["--zap-devel has no effect and is ignored", "--enable-http2 has no effect and is ignored"],
    });
  });
});

describe("wrong settings are one line with the remedy", () => {
  const URL_HINT = "write for example https://broker.example:8443, several with commas between them";
  const NAMESPACE_HINT = 'is not a namespace: use lower-case letters, digits and "-", at most 63 of them';
  const CERT_PATH_MISSING =
    "--broker-cert-path is missing: name the folder with tls.crt, tls.key and ca.crt; brokerctl certs issue <cluster-id> writes one";
  const many = (length: number, word: (at: number) => string) => Array.from({ length }, (_, at) => word(at));

  /** One flag beside the right ones, and the line. */
  test.each<[string, string, Env?]>([
    [
      "--identity-secret=a/b/c",
      '--identity-secret: "a/b/c" does not name a Secret: write name or namespace/name',
    ],
    ["--broker-transport=ftp", '--broker-transport: "ftp" is not one of http, kubernetes, none'],
    [
      "--broker-kubeconfig=/x",
      "--broker-url and --broker-kubeconfig both name the broker: leave one out, or choose with --broker-transport",
    ],
    [
      "--broker-url=http://broker:8443",
      `--broker-url "http://broker:8443": it must begin with https://; ${URL_HINT}`,
    ],
    [
      "--broker-url=https://me:secret@broker",
      `--broker-url "https://broker": the broker accepts certificates, not passwords; ${URL_HINT}`,
    ],
    ["--broker-url=https://a:8443,b", `--broker-url "b": it is not a URL; ${URL_HINT}`],
    [
      "--cluster-id=Rome",
      `--cluster-id: "Rome" is not a cluster ID: use lower-case letters, digits, '-' and single '.', at most 63 of them`,
    ],
    ["--cluster-name=a\nb", "--cluster-name: use one line of at most 253 characters"],
    [
      "--cluster-endpoint=https://10.0.0.7:6443/?x=1",
      '--cluster-endpoint: "https://10.0.0.7:6443/?x=1" is not the address of an API server: write it like https://10.0.0.7:6443',
    ],
    ["--instruction-namespace=kube_system", `--instruction-namespace: "kube_system" ${NAMESPACE_HINT}`],
    [
      "--advertisement-name=a/b",
      '--advertisement-name: "a/b" is not the name of an object: use lower-case letters, digits, "-" and "."',
    ],
    [
      "--cluster-labels=tier",
      '--cluster-labels: "tier" is not a label: write name=value, like tier=gold or example.com/site=north',
    ],
    [
      "--tolerated-taints=gpu:Never",
      '--tolerated-taints: "gpu:Never" is not a tolerated taint: "Never" is not an effect, known are NoSchedule, PreferNoSchedule, NoExecute. Write "key", "key=value", "key:Effect" or "key=value:Effect".',
    ],
    [
      "--extended-resources=fpga",
      '--extended-resources: "fpga" is not an extended resource: write its domain and name, like amd.com/gpu',
    ],
    [
      "--extended-resources=nvidia.com/gpu",
      "--gpu-resources and --extended-resources both name nvidia.com/gpu: leave it out of one",
    ],
    [
      `--extended-resources=${many(33, (at) => `a.b/r${at}`).join(",")}`,
      "--extended-resources: 33 are too many; at most 32 can be lent",
    ],
    [
      `--cluster-labels=${many(61, (at) => `l${at}=x`).join(",")}`,
      "--cluster-labels: 61 are too many; at most 60 can be advertised",
    ],
    [
      "--advertisement-requeue-interval=0",
      "--advertisement-requeue-interval: 0s is too short; write at least 1s",
    ],
    [
      "--instruction-poll-interval=1ms",
      "--instruction-poll-interval: 0.001s is too short; write at least 100ms, or 0 for never",
    ],
    ["--metrics-secure", "--metrics-secure needs --metrics-cert-path"],
    ["--config=x", "--config: cannot read x: ENOENT"],
    ["--leader-elect", `POD_NAMESPACE: "My Space" ${NAMESPACE_HINT}`, { POD_NAMESPACE: "My Space" }],
  ])("%s", async (flag, line, env = {}) => {
    expect(await read([...RIGHT, flag], env)).toEqual({ ok: false, problems: [line] });
  });

  test.each([
    [
      "--broker-transport=kubernetes",
      "--broker-kubeconfig is missing: name the kubeconfig of the broker's cluster; brokerctl kubeconfig issue <cluster-id> writes one",
    ],
    [
      "--broker-cert-path=/certs",
      "--broker-url is missing: give the broker's address, for example https://broker.example:8443",
    ],
    ["--broker-url=https://broker.example:8443", CERT_PATH_MISSING],
    [
      "--join-secret=invitation",
      "--identity-secret is missing: --join-secret needs a Secret of the agent for the keys and the certificate",
    ],
  ])("%s alone", async (flag, line) => {
    expect(await read([flag])).toEqual({ ok: false, problems: [line] });
  });

  test.each([
    [
      RIGHT,
      "--join-secret and --broker-cert-path both name the certificate: leave one out; an identity key works with both",
    ],
    [
      ["--broker-kubeconfig=/hub"],
      "--identity-secret needs --broker-transport=http, and it is kubernetes: leave one of them out",
      "--join-secret needs --broker-transport=http, and it is kubernetes: leave one of them out",
    ],
  ])("an invitation beside %s", async (flags, ...problems) => {
    const argv = ["--identity-secret=own", "--join-secret=invitation", ...flags];
    expect(await read(argv)).toEqual({ ok: false, problems });
  });

  test("everything that is wrong is reported at once", async () => {
    expect(await read(["--price-cpu=1", "--instruction-poll-interval=2ms"])).toMatchObject({
      problems: [
        expect.stringContaining("--broker-url is missing"),
        CERT_PATH_MISSING,
        expect.stringContaining("--instruction-poll-interval"),
        expect.stringContaining("prices by flag"),
      ],
    });
  });
});

test.each([
  { given: { kubeconfig: "", context: "" }, sources: { env: { HOME: "/h" } } },
  { given: { kubeconfig: "/k", context: "" }, sources: { env: { HOME: "/h" }, files: ["/k"] } },
  { given: { kubeconfig: "", context: "c" }, sources: { env: { HOME: "/h" }, context: "c" } },
])("the cluster is looked for by $given", ({ given, sources }) => {
  expect(kubeConfigSources(given, { HOME: "/h" })).toEqual(sources);
});
