import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadKubeConfig } from "./load-kube-config.ts";

let folder = "";
const at = (name: string) => join(folder, name);
const yaml = (server: string, context = "main") => `
apiVersion: v1
kind: Config
current-context: ${context}
clusters: [{name: c, cluster: {server: "${server}"}}]
contexts: [{name: ${context}, context: {cluster: c}}]
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "kubeconfig-"));
  await mkdir(at(".kube"));
  await mkdir(at("sa"));
  await mkdir(at("sa-no-token"));
  await writeFile(at("a.yaml"), yaml("https://a"));
  await writeFile(at("b.yaml"), yaml("https://b", "other"));
  await writeFile(
    at("c.json"),
    JSON.stringify({
      "current-context": "main",
      clusters: [{ name: "c", cluster: { server: "https://c" } }],
      contexts: [{ name: "main", context: { cluster: "c" } }],
    }),
  );
  await writeFile(
    at("flow.yaml"),
    "{current-context: main, clusters: [{name: c, cluster: {server: https://flow}}], contexts: [{name: main, context: {cluster: c}}]}",
  );
  await writeFile(at("broken.yaml"), "clusters: [\n  {name: ");
  await writeFile(at("empty.yaml"), " \n");
  await writeFile(at(".kube/config"), yaml("https://home"));
  await writeFile(at("sa/token"), "token\n");
  await writeFile(at("sa/ca.crt"), "-----BEGIN CERTIFICATE-----\n");
  await writeFile(at("sa/namespace"), "agents\n");
});
afterAll(() => rm(folder, { recursive: true }));

const pod = (host: string) => ({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: "443" });

describe("the cluster to talk to", () => {
  const rows = [
    { name: "a file that was named", files: ["a.yaml"], env: { KUBECONFIG: "b.yaml" }, server: "https://a" },
    { name: "JSON", files: ["c.json"], env: {}, server: "https://c" },
    { name: "YAML that looks like JSON", files: ["flow.yaml"], env: {}, server: "https://flow" },
    { name: "KUBECONFIG", env: { KUBECONFIG: "a.yaml", ...pod("10.0.0.1") }, server: "https://a" },
    { name: "the first of KUBECONFIG", env: { KUBECONFIG: "b.yaml:a.yaml" }, server: "https://b" },
    { name: "what is there of KUBECONFIG", env: { KUBECONFIG: "nowhere.yaml::a.yaml" }, server: "https://a" },
    { name: "the pod's own", env: { HOME: "", ...pod("10.96.0.1") }, server: "https://10.96.0.1:443" },
    { name: "the pod's own over IPv6", env: pod("fd00::1"), server: "https://[fd00::1]:443" },
    { name: "the file at home", env: { KUBECONFIG: "", HOME: "" }, home: true, server: "https://home" },
  ];
  test.each(rows)("is $name", async ({ files = [], env, home = false, server }) => {
    const config = await loadKubeConfig({
      files: files.map(at),
      env: { ...absolute(env), ...(home ? { HOME: folder } : {}) },
      serviceAccountFolder: at("sa"),
    });
    expect(config.server).toBe(server);
  });

  test("can be chosen by a context of any file", async () => {
    const env = { KUBECONFIG: `${at("a.yaml")}:${at("b.yaml")}` };
    const config = await loadKubeConfig({ context: "other", env });
    expect(config).toMatchObject({ origin: `context "other" of ${at("b.yaml")}`, server: "https://a" });
  });

  test("is looked up in files, also in a pod, when a context is asked for", async () => {
    const env = { HOME: folder, ...pod("10.0.0.1") };
    const config = await loadKubeConfig({ context: "main", env, serviceAccountFolder: at("sa") });
    expect(config.server).toBe("https://home");
  });

  test("is spoken to as the pod's service account, whose files stay in place", async () => {
    const config = await loadKubeConfig({ env: pod("10.0.0.1"), serviceAccountFolder: at("sa") });
    expect(config).toEqual({
      origin: "the service account of this pod",
      server: "https://10.0.0.1:443",
      namespace: "agents",
      trust: { insecureSkipVerify: false, ca: { kind: "file", path: at("sa/ca.crt") } },
      user: { login: { kind: "token", token: { kind: "file", path: at("sa/token") } } },
    });
  });

  const wrong: readonly [name: string, env: Record<string, string>, says: string, files?: string[]][] = [
    ["a named file is missing", {}, "(named as kubeconfig): there is no such file", ["a.yaml", "x.yaml"]],
    ["a named file is a folder", {}, "it is a folder", ["sa"]],
    ["a file is no YAML", { KUBECONFIG: "a.yaml:broken.yaml" }, "broken.yaml: this is not YAML"],
    ["no file of KUBECONFIG is there", { KUBECONFIG: "x.yaml:y.yaml" }, "(KUBECONFIG) are not there"],
    ["there is no file at home", { HOME: "/nowhere" }, "/nowhere/.kube/config (the default) is not there"],
    ["there is no home", {}, "name a file, or set KUBECONFIG or HOME"],
    ["the pod has no token", { ...pod("10.0.0.1"), account: "sa-no-token" }, "automountServiceAccountToken"],
    ["the pod is told nonsense", pod("not a host"), "make no address"],
  ];
  test.each(wrong)("is asked for in one line when %s", async (_, given, says, files = []) => {
    const { account = "sa", ...env } = absolute(given);
    const loading = loadKubeConfig({ files: files.map(at), env, serviceAccountFolder: at(account) });
    const message = expect.stringMatching(/^[^\n]+$/u);
    await expect(loading).rejects.toMatchObject({ code: "invalid", message });
    await expect(loading).rejects.toThrow(says);
  });
});

function absolute(env: Readonly<Record<string, string>>): Record<string, string> {
  const list = env["KUBECONFIG"];
  if (list === undefined) return { ...env };
  return {
    ...env,
    KUBECONFIG: list
      .split(":")
      .map((name) => (name === "" ? "" : at(name)))
      .join(":"),
  };
}
