import { describe, expect, test } from "vitest";
import type { AgentSettings } from "./agent-settings.ts";
import { kubeConfigSources, readAgentSettings } from "./read-agent-settings.ts";

const RIGHT = ["--broker-url=https://broker.example:8443", "--broker-cert-path=/certs"];

function read(
  argv: readonly string[],
  env: Record<string, string> = {},
  readFile: (path: string) => Promise<unknown> = () => Promise.reject(new Error("cannot read x: ENOENT")),
) {
  return readAgentSettings({ argv, env, readFile });
}

async function settingsOf(argv: readonly string[], env: Record<string, string> = {}): Promise<AgentSettings> {
  const reading = await read([...RIGHT, ...argv], env);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  return reading.settings;
}

describe("the mode of Liqo", () => {
  test.each([
    ["off without kubeconfigs", [], "off"],
    ["liqoctl with them", ["--kubeconfigs-dir=/x"], "liqoctl"],
    ["off when somebody says so", ["--kubeconfigs-dir=/x", "--liqo-mode=off"], "off"],
  ])("is %s", async (_, argv, expected) => {
    expect((await settingsOf(argv))["liqo-mode"]).toBe(expected);
  });
});

describe("the agent's settings", () => {
  test("have the documented defaults", async () => {
    expect(await settingsOf([])).toEqual({
      "broker-transport": "http",
      "broker-url": ["https://broker.example:8443"],
      "broker-cert-path": "/certs",
      "broker-kubeconfig": "",
      "broker-namespace": "default",
      "cluster-id": "",
      "cluster-name": "",
      "cluster-endpoint": "",
      "cluster-labels": [],
      kubeconfig: "",
      context: "",
      "advertisement-name": "cluster-advertisement",
      "advertisement-namespace": "default",
      "advertisement-requeue-interval": 30_000,
      "instruction-namespace": "default",
      "instruction-poll-interval": 5000,
      "tolerated-taints": [],
      "gpu-resources": ["nvidia.com/gpu"],
      "extended-resources": [],
      "price-cpu": "",
      "price-memory": "",
      "price-gpu": "",
      "price-storage": "",
      "price-currency": "",
      "price-configmap": "",
      "price-sheet": "",
      "liqo-mode": "off",
      "kubeconfigs-dir": "",
      "liqo-gateway-type": "NodePort",
      "liqo-networking": true,
      "liqo-namespace": "liqo",
      "liqo-enforce": false,
      liqoctl: "",
      "liqo-timeout": 600_000,
      "leader-elect": false,
      "leader-election-id": "resource-broker-agent",
      "leader-election-namespace": "default",
      "metrics-bind-address": ":8080",
      "health-probe-bind-address": ":8081",
      "metrics-secure": false,
      "metrics-cert-path": "",
      "metrics-cert-name": "tls.crt",
      "metrics-cert-key": "tls.key",
      "log-format": "auto",
      "log-level": "info",
      config: "",
      help: false,
      version: false,
    });
  });

  const written: readonly {
    readonly name: string;
    readonly argv?: readonly string[];
    readonly env?: Record<string, string>;
    readonly settings: Partial<AgentSettings>;
  }[] = [
    {
      name: "several brokers",
      argv: ["--broker-url=https://a:8443, https://b:8443"],
      settings: { "broker-url": ["https://a:8443", "https://b:8443"] },
    },
    {
      name: "what only the environment says",
      env: { AGENT_CLUSTER_ID: "rome", AGENT_LEADER_ELECT: "true" },
      settings: { "cluster-id": "rome", "leader-elect": true },
    },
    {
      name: "instructions beside the advertisement",
      argv: ["--advertisement-namespace=sharing"],
      settings: { "instruction-namespace": "sharing", "leader-election-namespace": "sharing" },
    },
    {
      name: "instructions in a namespace of their own",
      argv: ["--advertisement-namespace=sharing", "--instruction-namespace=orders"],
      settings: { "advertisement-namespace": "sharing", "instruction-namespace": "orders" },
    },
    {
      name: "the lease in the pod's namespace",
      env: { POD_NAMESPACE: "system" },
      settings: { "leader-election-namespace": "system", "advertisement-namespace": "default" },
    },
    {
      name: "the lease where the flag says, whatever the pod's namespace is",
      argv: ["--leader-election-namespace=locks"],
      env: { POD_NAMESPACE: "system" },
      settings: { "leader-election-namespace": "locks" },
    },
    {
      name: "taints, labels and resources",
      argv: [
        "--tolerated-taints=dedicated=batch:NoSchedule, gpu",
        "--cluster-labels=tier=gold,example.com/site=north,empty=",
        "--gpu-resources=nvidia.com/gpu,amd.com/gpu",
        "--extended-resources=example.com/fpga",
      ],
      settings: {
        "tolerated-taints": [{ key: "dedicated", value: "batch", effect: "NoSchedule" }, { key: "gpu" }],
        "cluster-labels": [
          { name: "tier", value: "gold" },
          { name: "example.com/site", value: "north" },
          { name: "empty", value: "" },
        ],
        "gpu-resources": ["nvidia.com/gpu", "amd.com/gpu"],
        "extended-resources": ["example.com/fpga"],
      },
    },
    {
      name: "no polling",
      argv: ["--instruction-poll-interval=0"],
      settings: { "instruction-poll-interval": 0 },
    },
    { name: "no GPUs", argv: ["--gpu-resources="], settings: { "gpu-resources": [] } },
    {
      name: "the explicit transport",
      argv: ["--broker-transport=http"],
      settings: { "broker-transport": "http" },
    },
  ];
  test.each(written)("take $name", async ({ argv = [], env = {}, settings }) => {
    expect(await settingsOf(argv, env)).toMatchObject(settings);
  });

  test.each([
    { name: "the kubeconfig of the broker's cluster alone", argv: ["--broker-kubeconfig=/hub"] },
    {
      name: "the flag, whatever else is there",
      argv: ["--broker-transport=kubernetes", "--broker-kubeconfig=/hub", ...RIGHT],
    },
  ])("take the kubernetes transport from $name", async ({ argv }) => {
    expect(await read([...argv, "--broker-namespace=hub"])).toMatchObject({
      settings: {
        "broker-transport": "kubernetes",
        "broker-kubeconfig": "/hub",
        "broker-namespace": "hub",
      },
    });
  });

  test("keep http where the flag says so, beside a kubeconfig", async () => {
    const argv = ["--broker-transport=http", "--broker-kubeconfig=/hub"];
    expect(await settingsOf(argv)).toMatchObject({ "broker-transport": "http" });
  });

  test("come from flag, environment and file, in this order", async () => {
    const file = () =>
      Promise.resolve({
        "cluster-id": "file",
        "advertisement-name": "file",
        "cluster-name": "file",
        "tolerated-taints": ["a", "b=c"],
      });
    const env = { AGENT_CLUSTER_ID: "env", AGENT_ADVERTISEMENT_NAME: "env" };
    expect(await read([...RIGHT, "--config=x", "--cluster-id=flag"], env, file)).toMatchObject({
      settings: {
        "cluster-id": "flag",
        "advertisement-name": "env",
        "cluster-name": "file",
        "tolerated-taints": [{ key: "a" }, { key: "b", value: "c" }],
      },
    });
  });

  test("let --help through, whatever is missing", async () => {
    expect(await read(["--help"])).toMatchObject({ ok: true, settings: { help: true } });
  });

  test("take the Go agent's flags with one warning each", async () => {
    const argv = [...RIGHT, "--zap-devel", "--zap-devel", "--enable-http2=false", "--webhook-cert-path=/x"];
    expect(await read(argv)).toMatchObject({
      ok: true,
      warnings: [
        "--zap-devel has no effect any more and is ignored",
        "--enable-http2 has no effect any more and is ignored",
        "--webhook-cert-path has no effect any more and is ignored",
      ],
    });
  });
});

interface Wrong {
  readonly name: string;
  /** Beside the right flags, unless `alone`. */
  readonly argv?: readonly string[];
  readonly alone?: true;
  readonly env?: Record<string, string>;
  readonly line: string;
}

const URL_HINT = "write for example https://broker.example:8443, several with commas between them";
const TAINT_FORMS = 'Write "key", "key=value", "key:Effect" or "key=value:Effect".';
const CERT_PATH_MISSING =
  "--broker-cert-path is missing: name the folder with tls.crt, tls.key and ca.crt; brokerctl certs issue <cluster-id> writes one";

const WRONG: readonly Wrong[] = [
  {
    name: "an unknown flag",
    argv: ["--broker-ulr=https://x"],
    line: 'unknown argument "broker-ulr": did you mean --broker-url?',
  },
  {
    name: "an unknown flag that resembles none",
    argv: ["--quux"],
    line: 'unknown argument "quux": see --help',
  },
  {
    name: "the singular of a list",
    argv: ["--cluster-label=a=b"],
    line: 'unknown argument "cluster-label": did you mean --cluster-labels?',
  },
  { name: "a word", argv: ["run"], line: 'unknown argument "run": see --help' },
  {
    name: "a flag without its value",
    argv: ["--cluster-id"],
    line: "--cluster-id needs a value: --cluster-id=ID",
  },
  {
    name: "an unknown transport",
    argv: ["--broker-transport=ftp"],
    line: '--broker-transport: "ftp" is not one of http, kubernetes',
  },
  {
    name: "the kubernetes transport without a kubeconfig",
    alone: true,
    argv: ["--broker-transport=kubernetes"],
    line: "--broker-kubeconfig is missing: name the kubeconfig of the broker's cluster; brokerctl kubeconfig issue <cluster-id> writes one",
  },
  {
    name: "two ways to the broker",
    argv: ["--broker-kubeconfig=/x"],
    line: "--broker-url and --broker-kubeconfig are two ways to the broker: leave one out, or choose with --broker-transport",
  },
  {
    name: "liqoctl without kubeconfigs",
    argv: ["--liqo-mode=liqoctl"],
    line: "--liqo-mode=liqoctl needs --kubeconfigs-dir: name the folder with the other clusters' kubeconfigs",
  },
  {
    name: "a way to peer that there is not",
    argv: ["--liqo-mode=magic"],
    line: '--liqo-mode: "magic" is not one of off, liqoctl',
  },
  {
    name: "peering that cannot end in time",
    argv: ["--liqo-timeout=5s"],
    line: "--liqo-timeout: 5s is too short; write at least 30s",
  },
  {
    name: "no broker",
    alone: true,
    argv: ["--broker-cert-path=/certs"],
    line: "--broker-url is missing: give the broker's address, for example https://broker.example:8443",
  },
  {
    name: "no certificates",
    alone: true,
    argv: ["--broker-url=https://broker.example:8443"],
    line: CERT_PATH_MISSING,
  },
  {
    name: "a broker without TLS",
    argv: ["--broker-url=http://broker:8443"],
    line: `--broker-url "http://broker:8443": it must begin with https://; ${URL_HINT}`,
  },
  {
    name: "a broker that is no URL",
    argv: ["--broker-url=broker"],
    line: `--broker-url "broker": it is no URL; ${URL_HINT}`,
  },
  {
    name: "a broker with a path",
    argv: ["--broker-url=https://broker/api/v1"],
    line: `--broker-url "https://broker/api/v1": it must end after the port, the agent adds the rest; ${URL_HINT}`,
  },
  {
    name: "a broker with a password",
    argv: ["--broker-url=https://me:secret@broker"],
    line: `--broker-url "https://broker": the broker knows certificates, no passwords; ${URL_HINT}`,
  },
  {
    name: "a second broker that is wrong",
    argv: ["--broker-url=https://a:8443,b"],
    line: `--broker-url "b": it is no URL; ${URL_HINT}`,
  },
  {
    name: "a cluster ID with capitals",
    argv: ["--cluster-id=Rome"],
    line: '--cluster-id: "Rome" is not a cluster ID: use lower-case letters, digits, "-" and ".", at most 63 of them',
  },
  {
    name: "a cluster ID in the environment that is too long",
    env: { AGENT_CLUSTER_ID: "a".repeat(64) },
    line: `AGENT_CLUSTER_ID: "${"a".repeat(64)}" is not a cluster ID: use lower-case letters, digits, "-" and ".", at most 63 of them`,
  },
  {
    name: "a cluster name of two lines",
    argv: ["--cluster-name=a\nb"],
    line: "--cluster-name: use one line of at most 253 characters",
  },
  {
    name: "an endpoint without TLS",
    argv: ["--cluster-endpoint=http://10.0.0.7:6443"],
    line: '--cluster-endpoint: "http://10.0.0.7:6443" is not the address of an API server: write it like https://10.0.0.7:6443',
  },
  {
    name: "an endpoint with a query",
    argv: ["--cluster-endpoint=https://10.0.0.7:6443/?x=1"],
    line: '--cluster-endpoint: "https://10.0.0.7:6443/?x=1" is not the address of an API server: write it like https://10.0.0.7:6443',
  },
  {
    name: "a namespace with an underscore",
    argv: ["--instruction-namespace=kube_system"],
    line: '--instruction-namespace: "kube_system" is not a namespace: use lower-case letters, digits and "-", at most 63 of them',
  },
  {
    name: "an advertisement's name with a slash",
    argv: ["--advertisement-name=a/b"],
    line: '--advertisement-name: "a/b" is not the name of an object: use lower-case letters, digits, "-" and "."',
  },
  {
    name: "a label without a value",
    argv: ["--cluster-labels=tier"],
    line: '--cluster-labels: "tier" is not a label: write name=value, like tier=gold or example.com/site=north',
  },
  {
    name: "a taint with an unknown effect",
    argv: ["--tolerated-taints=gpu:Never"],
    line: `--tolerated-taints: "gpu:Never" is not a tolerated taint: "Never" is not an effect, known are NoSchedule, PreferNoSchedule, NoExecute. ${TAINT_FORMS}`,
  },
  {
    name: "an extended resource without a domain",
    argv: ["--extended-resources=fpga"],
    line: '--extended-resources: "fpga" is not an extended resource: write its domain and name, like amd.com/gpu',
  },
  {
    name: "a GPU that is also another resource",
    argv: ["--extended-resources=nvidia.com/gpu"],
    line: "--gpu-resources and --extended-resources both name nvidia.com/gpu: leave it out of one",
  },
  {
    name: "more extended resources than fit an advertisement",
    argv: [`--extended-resources=${Array.from({ length: 33 }, (_, at) => `a.b/r${at}`).join(",")}`],
    line: "--extended-resources: 33 are too many; at most 32 can be lent",
  },
  {
    name: "more labels than fit an advertisement",
    argv: [`--cluster-labels=${Array.from({ length: 61 }, (_, at) => `l${at}=x`).join(",")}`],
    line: "--cluster-labels: 61 are too many; at most 60 can be advertised",
  },
  {
    name: "an interval in words",
    argv: ["--advertisement-requeue-interval=5 minutes"],
    line: '--advertisement-requeue-interval: "5 minutes" is not a duration; write for example 90s, 15m or 1h30m',
  },
  {
    name: "an interval that never ends",
    argv: ["--advertisement-requeue-interval=0"],
    line: "--advertisement-requeue-interval: 0s is too short; write at least 1s",
  },
  {
    name: "polling without a pause",
    argv: ["--instruction-poll-interval=1ms"],
    line: "--instruction-poll-interval: 0.001s is too short; write at least 100ms, or 0 for never",
  },
  {
    name: "half of the prices",
    argv: ["--price-cpu=0.04"],
    line: "prices by flag also need --price-memory and --price-currency",
  },
  {
    name: "a price that is no number",
    argv: ["--price-cpu=cheap", "--price-memory=1", "--price-currency=EUR"],
    line: '--price-cpu: "cheap" is not a decimal number of at most 12 digits before and after the point; write for example 0.042',
  },
  {
    name: "a currency that is none",
    argv: ["--price-cpu=1", "--price-memory=1", "--price-currency=eur"],
    line: '--price-currency: "eur" is not a currency code of three capital letters; write for example EUR',
  },
  {
    name: "a currency without prices",
    argv: ["--price-currency=EUR"],
    line: "--price-currency has no effect without prices: add --price-cpu and --price-memory, --price-configmap or --price-sheet",
  },
  {
    name: "prices in two places",
    argv: ["--price-cpu=1", "--price-sheet=/prices.json"],
    line: "--price-cpu and --price-sheet exclude each other: give prices in one place",
  },
  {
    name: "prices in a ConfigMap and a sheet",
    argv: ["--price-configmap=a/b", "--price-sheet=/prices.json"],
    line: "--price-configmap and --price-sheet exclude each other: give prices in one place",
  },
  {
    name: "a ConfigMap without its namespace",
    argv: ["--price-configmap=prices"],
    line: '--price-configmap: "prices" does not name a ConfigMap: write namespace/name',
  },
  {
    name: "a currency beside a sheet that is none",
    argv: ["--price-sheet=/prices.json", "--price-currency=€"],
    line: '--price-currency: "€" is not a currency code of three capital letters; write for example EUR',
  },
  {
    name: "metrics over TLS without a certificate",
    argv: ["--metrics-secure"],
    line: "--metrics-secure needs --metrics-cert-path",
  },
  {
    name: "a port that is none",
    argv: ["--health-probe-bind-address=8081"],
    line: "--health-probe-bind-address: write host:port, :port, or 0 for none",
  },
  {
    name: "a switch that is neither on nor off",
    argv: ["--leader-elect=maybe"],
    line: '--leader-elect: "maybe" is neither true nor false',
  },
  {
    name: "a lease in a namespace that cannot be",
    argv: ["--leader-elect"],
    env: { POD_NAMESPACE: "My Space" },
    line: 'POD_NAMESPACE: "My Space" is not a namespace: use lower-case letters, digits and "-", at most 63 of them',
  },
  {
    name: "a level that is none",
    argv: ["--log-level=loud"],
    line: '--log-level: "loud" is not one of debug, info, warn, error',
  },
  {
    name: "a file that is not there",
    argv: ["--config=x"],
    line: "--config: cannot read x: ENOENT",
  },
];

describe("wrong settings are one line with the remedy", () => {
  test.each(WRONG)("$name", async ({ argv = [], env = {}, alone, line }) => {
    const reading = await read([...(alone === true ? [] : RIGHT), ...argv], env);
    expect(reading).toEqual({ ok: false, problems: [line] });
  });

  test("everything that is wrong is told at once", async () => {
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
