import { describe, expect, test } from "vitest";
import { readBrokerSettings, storeDirectory } from "./read-settings.ts";

const nothing = () => Promise.reject(new Error("cannot read x: ENOENT"));

function read(
  argv: readonly string[],
  env: Record<string, string> = {},
  readFile: (path: string) => Promise<unknown> = nothing,
) {
  return readBrokerSettings({ argv, env, readFile });
}

describe("the broker's settings", () => {
  test("have the documented defaults", async () => {
    expect(await read([])).toMatchObject({
      ok: true,
      settings: {
        "broker-interface": ["http"],
        "http-port": 8443,
        "http-cert-path": "/etc/broker/certs",
        store: "sqlite:/var/lib/broker",
        "metrics-bind-address": ":8080",
        "health-probe-bind-address": ":8081",
        "dashboard-bind-address": "0",
      },
    });
  });

  test("come from flag, environment and file, in this order", async () => {
    const file = () => Promise.resolve({ "http-port": 1, "admin-ou": "file", store: "sqlite:/file" });
    const env = { BROKER_ADMIN_OU: "env", BROKER_HTTP_PORT: "2" };
    expect(await read(["--config=x", "--http-port=3"], env, file)).toMatchObject({
      settings: { "http-port": 3, "admin-ou": "env", store: "sqlite:/file" },
    });
  });

  const NO_ADDRESS = "write host:port, :port, or 0 for none";
  const wrong: readonly (readonly [argv: readonly string[], problem: string])[] = [
    [["--enrollment-issuer=Secret/ca"], "--enrollment-issuer: write Issuer/NAME or ClusterIssuer/NAME"],
    [
      ["--enrollment-issuer=Issuer/ca", "--enrollment-cert-path=/certs"],
      "--enrollment-issuer: leave it or --enrollment-cert-path out: one of them signs",
    ],
    [
      ["--broker-interface=kubernetes", "--enrollment-cert-path=/certs"],
      "--enrollment-cert-path and --enrollment-issuer need --broker-interface http: agents join there",
    ],
    [["--enrollment-lifetime=59m"], "--enrollment-lifetime must be between 1h and 8760h"],
    [["--http-prot=1"], "did you mean --http-port?"],
    [["--broker-interface=http,grpc"], '--broker-interface: "grpc" is not one of http, kubernetes'],
    [["--broker-interface="], "--broker-interface: name at least one of http, kubernetes"],
    [["--broker-interface=kubernetes", "--views=off"], "--broker-interface: kubernetes needs --views"],
    [["--store=postgres://me:secret@db"], "--store: it names no database; write postgres://"],
    [["--store=mysql://db/x"], "--store: use sqlite:<folder>, postgres://user@host/database or kubernetes"],
    [["--lease-duration=10ms"], "--lease-duration must be between 1s and 5m"],
    [["--store=sqlite:"], "use sqlite:<folder>"],
    [["--metrics-secure"], "--metrics-secure needs --metrics-cert-path"],
    [["--metrics-bind-address=8080"], `--metrics-bind-address: ${NO_ADDRESS}`],
    [["--health-probe-bind-address=:99999"], "--health-probe-bind-address"],
    [["--dashboard-bind-address=8090"], `--dashboard-bind-address: ${NO_ADDRESS}`],
    [
      ["--broker-interface=kubernetes", "--dashboard-bind-address=127.0.0.1:8090"],
      "--dashboard-bind-address: on a loopback address it needs --broker-interface http",
    ],
    [["--config=x"], "--config: cannot read x"],
    [["--tls-min-version=1.0"], "is not one of 1.2, 1.3"],
  ];
  test.each(wrong)("refuse %j with the remedy", async (argv, problem) => {
    const result = await read(argv);
    expect(result.ok ? [] : result.problems).toEqual([expect.stringContaining(problem)]);
  });

  const POD = { POD_NAME: "broker-0", POD_NAMESPACE: "market" };
  const labels = [
    { name: "a label and a pod", label: "broker.fluidos.eu/role", env: POD, problems: [] },
    { name: "a label without a domain", label: "role", env: POD, problems: [] },
    { name: "no label, and no pod", label: "", env: {}, problems: [] },
    { name: "what is no label", label: "role=leader", env: POD, problems: ["write the name of a label"] },
    {
      name: "a label without a pod",
      label: "role",
      env: { POD_NAMESPACE: "" },
      problems: ["POD_NAME: set it from metadata.name", "POD_NAMESPACE: set it from metadata.namespace"],
    },
  ];
  test.each(labels)("take --pod-role-label with its pod only: $name", async ({ label, env, problems }) => {
    const result = await read([`--pod-role-label=${label}`], env);
    const reported = result.ok ? [] : result.problems;
    expect(reported).toHaveLength(problems.length);
    for (const [index, problem] of problems.entries()) expect(reported[index]).toContain(problem);
  });

  test("refuse a file that holds no settings", async () => {
    expect(await read(["--config=x"], {}, () => Promise.resolve(["a"]))).toMatchObject({
      ok: false,
      problems: ["--config: x must hold settings by name"],
    });
  });

  test("let --help through, whatever else is wrong with the rest", async () => {
    expect(await read(["--help", "--store=nonsense"])).toMatchObject({ ok: true, settings: { help: true } });
  });

  test("take the Go broker's flags with a warning", async () => {
    expect(await read(["--zap-devel", "--webhook-cert-path=/x"])).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining("ignored"), expect.stringContaining("ignored")],
    });
  });
});

test("a store is named by its folder", () => {
  expect(storeDirectory({ store: "sqlite:/a b" })).toBe("/a b");
  expect(storeDirectory({ store: "sqlite" })).toBeUndefined();
});
