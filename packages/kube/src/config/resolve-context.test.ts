import { Fault } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { mergeKubeconfigs, parseKubeconfig } from "./kubeconfig.ts";
import { resolveContext } from "./resolve-context.ts";

const FILE = "/home/ada/.kube/config";
const PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const packed = (text: string) => Buffer.from(text).toString("base64");
const pem = (path: string) => ({ kind: "file", path });

interface Parts {
  readonly cluster?: object;
  readonly user?: unknown;
  readonly context?: object;
  readonly root?: object;
}

/** A whole kubeconfig but for what a row changes. */
function contentOf({ cluster, user, context, root }: Parts = {}): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "rome",
    clusters: [{ name: "rome-cluster", cluster: { server: "https://10.0.0.1:6443", ...cluster } }],
    users: [{ name: "ada", user: user ?? { token: "secret" } }],
    contexts: [{ name: "rome", context: { cluster: "rome-cluster", user: "ada", ...context } }],
    ...root,
  };
}

const resolved = (parts: Parts, wanted?: string) =>
  resolveContext(parseKubeconfig(contentOf(parts), FILE), wanted);
const exec = (parts: object) => ({
  exec: {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "login",
    interactiveMode: "Never",
    ...parts,
  },
});
const plugin = (parts: object) => ({
  user: {
    login: {
      kind: "plugin",
      plugin: { apiVersion: "client.authentication.k8s.io/v1", command: "login", ...parts },
    },
  },
});
const token = (text: string) => ({ user: { login: { kind: "token", token: { kind: "text", text } } } });

describe("a context", () => {
  test("stands for a server, a namespace, whom to trust and who we are", () => {
    expect(resolved({})).toEqual({
      origin: `context "rome" of ${FILE}`,
      server: "https://10.0.0.1:6443",
      namespace: "default",
      trust: { insecureSkipVerify: false },
      user: { login: { kind: "token", token: { kind: "text", text: "secret" } } },
    });
  });

  const right: readonly { name: string; parts: Parts; gives: object }[] = [
    { name: "a namespace", parts: { context: { namespace: "lab" } }, gives: { namespace: "lab" } },
    { name: "no user", parts: { context: { user: "" } }, gives: { user: {} } },
    {
      name: "a slash after the address",
      parts: { cluster: { server: "https://a:1/" } },
      gives: { server: "https://a:1" },
    },
    {
      name: "an address below a path",
      parts: { cluster: { server: "https://rancher/k8s/clusters/c-1/" } },
      gives: { server: "https://rancher/k8s/clusters/c-1" },
    },
    {
      name: "an IPv6 address",
      parts: { cluster: { server: "https://[fd00::1]:6443" } },
      gives: { server: "https://[fd00::1]:6443" },
    },
    {
      name: "plain HTTP",
      parts: { cluster: { server: "http://127.0.0.1:8080" } },
      gives: { server: "http://127.0.0.1:8080" },
    },
    {
      name: "an address without a scheme",
      parts: { cluster: { server: "10.0.0.1:8080" } },
      gives: { server: "http://10.0.0.1:8080" },
    },
    {
      name: "an address without a scheme, and an authority",
      parts: { cluster: { server: "10.0.0.1:6443", "certificate-authority": "/ca" } },
      gives: { server: "https://10.0.0.1:6443" },
    },
    {
      name: "an address without a scheme, and a client certificate",
      parts: {
        cluster: { server: "10.0.0.1:6443" },
        user: { "client-certificate": "/c", "client-key": "/k" },
      },
      gives: { server: "https://10.0.0.1:6443" },
    },
    {
      name: "an authority as a file beside the kubeconfig",
      parts: { cluster: { "certificate-authority": "pki/ca.crt" } },
      gives: { trust: { insecureSkipVerify: false, ca: pem("/home/ada/.kube/pki/ca.crt") } },
    },
    {
      name: "an authority inside, which wins over a file",
      parts: { cluster: { "certificate-authority": "/ca", "certificate-authority-data": packed(PEM) } },
      gives: { trust: { insecureSkipVerify: false, ca: { kind: "text", text: PEM } } },
    },
    {
      name: "another name in the server's certificate",
      parts: { cluster: { "tls-server-name": "kubernetes" } },
      gives: { trust: { insecureSkipVerify: false, serverName: "kubernetes" } },
    },
    {
      name: "blind trust",
      parts: { cluster: { "insecure-skip-tls-verify": true } },
      gives: { trust: { insecureSkipVerify: true } },
    },
    { name: "a token", parts: { user: { token: "t" } }, gives: token("t") },
    {
      name: "a token file, which wins over a token",
      parts: { user: { token: "t", tokenFile: "token" } },
      gives: { user: { login: { kind: "token", token: pem("/home/ada/.kube/token") } } },
    },
    {
      name: "a password",
      parts: { user: { username: "ada", password: "p" } },
      gives: { user: { login: { kind: "password", username: "ada", password: "p" } } },
    },
    {
      name: "a client certificate in files",
      parts: { user: { "client-certificate": "../c.crt", "client-key": "/k.key" } },
      gives: { user: { certificate: { cert: pem("/home/ada/c.crt"), key: pem("/k.key") } } },
    },
    {
      name: "a client certificate inside",
      parts: { user: { "client-certificate-data": packed(PEM), "client-key-data": packed(PEM) } },
      gives: {
        user: { certificate: { cert: { kind: "text", text: PEM }, key: { kind: "text", text: PEM } } },
      },
    },
    {
      name: "a plugin",
      parts: {
        user: exec({ args: ["get", "token"], env: [{ name: "A", value: "1" }], installHint: "get it" }),
      },
      gives: plugin({
        args: ["get", "token"],
        env: { A: "1" },
        interactiveMode: "Never",
        installHint: "get it",
      }),
    },
    {
      name: "a plugin given by a path, seen from the file",
      parts: { user: exec({ command: "./bin/login" }) },
      gives: plugin({ command: "/home/ada/.kube/bin/login", args: [], env: {}, interactiveMode: "Never" }),
    },
    {
      name: "an older plugin, which need not say whether it asks people",
      parts: {
        user: {
          exec: {
            apiVersion: "client.authentication.k8s.io/v1beta1",
            command: "login",
            args: null,
            env: null,
          },
        },
      },
      gives: plugin({
        apiVersion: "client.authentication.k8s.io/v1beta1",
        args: [],
        env: {},
        interactiveMode: "IfAvailable",
      }),
    },
    {
      name: "a plugin that is told of the cluster",
      parts: {
        cluster: {
          extensions: [
            { name: "other", extension: 1 },
            { name: "client.authentication.k8s.io/exec", extension: { audience: "x" } },
          ],
        },
        user: exec({ provideClusterInfo: true }),
      },
      gives: plugin({
        args: [],
        env: {},
        interactiveMode: "Never",
        cluster: {
          server: "https://10.0.0.1:6443",
          trust: { insecureSkipVerify: false },
          config: { audience: "x" },
        },
      }),
    },
    {
      name: "a token beside a plugin, which wins",
      parts: { user: { token: "t", ...exec({}) } },
      gives: token("t"),
    },
    {
      name: "entries that nobody chose and nobody could use",
      parts: withStrangers(),
      gives: token("secret"),
    },
    {
      name: "no kind and no version",
      parts: { root: { kind: "", apiVersion: null } },
      gives: token("secret"),
    },
  ];
  test.each(right)("can have $name", ({ parts, gives }) => {
    expect(resolved(parts)).toMatchObject(gives);
  });

  const wrong: readonly { name: string; parts: Parts; wanted?: string; says: readonly string[] }[] = [
    { name: "it is not there", parts: {}, wanted: "tokyo", says: ['no context "tokyo"', "rome"] },
    { name: "it is misspelt", parts: {}, wanted: "roma", says: ['no context "roma"', "did you mean rome?"] },
    {
      name: "the current one is not there",
      parts: { root: { "current-context": "gone" } },
      says: ["current-context names a context that is not there", '"gone"', "rome"],
    },
    {
      name: "none is current",
      parts: { root: { "current-context": "" } },
      says: ["no current-context", "rome"],
    },
    {
      name: "there is none at all",
      parts: { root: { "current-context": null, contexts: null } },
      says: ["no context is in it"],
    },
    {
      name: "its cluster is not there",
      parts: { context: { cluster: "other" } },
      says: ['context "rome"', 'no cluster "other"', "rome-cluster"],
    },
    {
      name: "its user is not there",
      parts: { context: { user: "bob" } },
      says: ['context "rome"', 'no user "bob"', "ada"],
    },
    {
      name: "it names no cluster",
      parts: { context: { cluster: "" } },
      says: ['context "rome"', "cluster is missing"],
    },
    {
      name: "the server is missing",
      parts: { cluster: { server: "" } },
      says: ['cluster "rome-cluster"', "server is missing", 'context "rome"'],
    },
    {
      name: "the server is not an address",
      parts: { cluster: { server: "https://" } },
      says: ['cluster "rome-cluster"', "is not an address", "https://10.0.0.1:6443"],
    },
    {
      name: "the server speaks something else",
      parts: { cluster: { server: "ftp://a" } },
      says: ["is not an address"],
    },
    {
      name: "the server's address holds a password",
      parts: { cluster: { server: "https://ada:pw@10.0.0.1" } },
      says: ["must not carry a user"],
    },
    {
      name: "there is a proxy",
      parts: { cluster: { "proxy-url": "http://proxy:3128" } },
      says: ["proxy-url is not supported", 'cluster "rome-cluster"', 'context "rome"'],
    },
    {
      name: "an authority is given, and blind trust",
      parts: { cluster: { "insecure-skip-tls-verify": true, "certificate-authority": "/ca" } },
      says: ["exclude each other"],
    },
    {
      name: "blind trust is text",
      parts: { cluster: { "insecure-skip-tls-verify": "true" } },
      says: ["insecure-skip-tls-verify must be true or false, not a string"],
    },
    {
      name: "the authority is not base64",
      parts: { cluster: { "certificate-authority-data": PEM } },
      says: ["certificate-authority-data is not PEM in base64"],
    },
    {
      name: "the authority is base64 of something else",
      parts: { cluster: { "certificate-authority-data": packed("hello") } },
      says: ["certificate-authority-data is not PEM in base64", "certificate-authority"],
    },
    {
      name: "a client certificate has no key",
      parts: { user: { "client-certificate": "/c" } },
      says: ['user "ada"', "has no client-key", 'context "rome"'],
    },
    {
      name: "a client key has no certificate",
      parts: { user: { "client-key-data": packed(PEM) } },
      says: ["client-key has no client-certificate"],
    },
    {
      name: "a token is a number",
      parts: { user: { token: 12345 } },
      says: ["token must be text, not a number", "quotes"],
    },
    {
      name: "there is a token and a password",
      parts: { user: { token: "t", username: "ada" } },
      says: ["a token and a username exclude each other"],
    },
    {
      name: "a password has no username",
      parts: { user: { password: "p" } },
      says: ["password has no username"],
    },
    { name: "the user is text", parts: { user: "ada" }, says: ["user must hold fields, not a string"] },
    {
      name: "there is an auth-provider",
      parts: { user: { "auth-provider": { name: "oidc" } } },
      says: ["auth-provider is not supported", "exec plugin"],
    },
    { name: "somebody is impersonated", parts: { user: { as: "root" } }, says: ["as is not supported"] },
    {
      name: "a plugin is of an old version",
      parts: { user: exec({ apiVersion: "client.authentication.k8s.io/v1alpha1" }) },
      says: ["v1alpha1 is not supported", "client.authentication.k8s.io/v1"],
    },
    {
      name: "a plugin has no version",
      parts: { user: exec({ apiVersion: "" }) },
      says: ["apiVersion is missing"],
    },
    { name: "a plugin has no command", parts: { user: exec({ command: "" }) }, says: ["command is missing"] },
    {
      name: "a plugin does not say whether it asks people",
      parts: { user: exec({ interactiveMode: "" }) },
      says: ["interactiveMode is missing", "Never"],
    },
    {
      name: "a plugin asks people in a way nobody knows",
      parts: { user: exec({ interactiveMode: "Sometimes" }) },
      says: ["interactiveMode is Sometimes"],
    },
    {
      name: "a plugin's arguments are numbers",
      parts: { user: exec({ args: [1] }) },
      says: ["args must be text"],
    },
    {
      name: "a plugin's arguments are no list",
      parts: { user: exec({ args: "a" }) },
      says: ["args must be a list"],
    },
    {
      name: "a plugin's variables have no value",
      parts: { user: exec({ env: [{ name: "A" }] }) },
      says: ["env must list a name and a value"],
    },
    {
      name: "a plugin is text",
      parts: { user: { exec: "login" } },
      says: ["exec must hold fields, not a string"],
    },
  ];
  test.each(wrong)("is refused in one line when $name", ({ parts, wanted, says }) => {
    const { code, message } = faultOf(() => resolved(parts, wanted));
    expect(code).toBe("invalid");
    expect(message).not.toContain("\n");
    for (const words of [FILE, ...says]) expect(message).toContain(words);
  });

  test("never shows what is secret", () => {
    for (const user of [{ token: 4711 }, { exec: "4711" }, { username: "ada", token: "4711" }]) {
      expect(faultOf(() => resolved({ user })).message).not.toContain("4711");
    }
  });
});

describe("a kubeconfig file", () => {
  const wrong: readonly { name: string; content: unknown; says: string }[] = [
    { name: "text", content: "hello", says: "this is not a kubeconfig file but a string" },
    { name: "a list", content: [1], says: "this is not a kubeconfig file but a list" },
    { name: "another object", content: { kind: "Pod", apiVersion: "v1" }, says: "this is a Pod of v1" },
    {
      name: "of another version",
      content: { kind: "Config", apiVersion: "v2" },
      says: "this is a Config of v2",
    },
    {
      name: "without a list of clusters",
      content: { clusters: {} },
      says: "clusters must be a list, not fields",
    },
    { name: "with a cluster that is text", content: { clusters: ["a"] }, says: "clusters must list entries" },
    { name: "with a nameless user", content: { users: [{ user: {} }] }, says: "users[0]: name is missing" },
    {
      name: "with a name twice",
      content: { contexts: [{ name: "a" }, { name: "a" }] },
      says: 'context "a": it is defined twice',
    },
  ];
  test.each(wrong)("is refused when it is $name", ({ content, says }) => {
    const { message } = faultOf(() => parseKubeconfig(content, FILE));
    expect(message.startsWith(`${FILE}: `)).toBe(true);
    expect(message).toContain(says);
  });

  test("may be empty, and then has nothing to offer", () => {
    expect(faultOf(() => resolveContext(parseKubeconfig(null, FILE))).message).toContain(
      "no context is in it",
    );
  });
});

describe("several kubeconfig files", () => {
  const parse = (file: string, content: object) => parseKubeconfig(content, file);
  const named = (name: string, server: string) => ({ name, cluster: { server } });

  test("are one: whoever has a name first decides it as a whole, and each path is seen from its own file", () => {
    const first = parse("/a/config", {
      clusters: [named("c", "https://first")],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    });
    const second = parse("/b/config", {
      "current-context": "x",
      clusters: [{ name: "c", cluster: { server: "https://second", "tls-server-name": "second" } }],
      users: [{ name: "u", user: { tokenFile: "token" } }],
    });
    const third = parse("/c/config", {
      "current-context": "y",
      users: [{ name: "u", user: { token: "third" } }],
      contexts: [{ name: "y", context: { cluster: "c" } }],
    });
    const merged = mergeKubeconfigs([first, second, third]);
    expect(resolveContext(merged)).toMatchObject({
      origin: 'context "x" of /a/config',
      server: "https://first",
      trust: { insecureSkipVerify: false },
      user: { login: { token: { path: "/b/token" } } },
    });
    expect(resolveContext(merged).trust).not.toHaveProperty("serverName");
    expect(resolveContext(merged, "y").user).toEqual({});
  });
});

function withStrangers(): Parts {
  const clusters = [
    { name: "strange", cluster: { "proxy-url": "socks5://x" } },
    { name: "rome-cluster", cluster: { server: "https://10.0.0.1:6443" } },
  ];
  return { root: { clusters } };
}

function faultOf(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("it was accepted");
}
