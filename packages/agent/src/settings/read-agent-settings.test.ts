import { describe, expect, test } from "vitest";
import { kubeConfigSources } from "./read-agent-settings.ts";
import { CERT_PATH_MISSING, RIGHT, read, readWrong, type Wrong } from "./testing/read-settings.ts";

describe("the agent's settings", () => {
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
        "--zap-devel has no effect and is ignored",
        "--enable-http2 has no effect and is ignored",
        "--webhook-cert-path has no effect and is ignored",
      ],
    });
  });
});

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
  test.each(WRONG)("$name", async (wrong) => {
    expect(await readWrong(wrong)).toEqual({ ok: false, problems: [wrong.line] });
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
