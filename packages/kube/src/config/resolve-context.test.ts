import { Fault } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { mergeKubeconfigs, parseKubeconfig } from "./kubeconfig.ts";
import { resolveContext } from "./resolve-context.ts";

const FILE = "/home/ada/.kube/config";
const PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const V1BETA1 = "client.authentication.k8s.io/v1beta1";
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

  const right: readonly [name: string, parts: Parts, gives: object][] = [
    [
      "a namespace, an address below a path, and another name in the certificate",
      {
        context: { namespace: "lab" },
        cluster: { server: "https://rancher/k8s/clusters/c-1/", "tls-server-name": "kubernetes" },
      },
      {
        namespace: "lab",
        server: "https://rancher/k8s/clusters/c-1",
        trust: { insecureSkipVerify: false, serverName: "kubernetes" },
      },
    ],
    [
      "no user, and plain HTTP",
      { context: { user: "" }, cluster: { server: "http://127.0.0.1:8080" } },
      { user: {}, server: "http://127.0.0.1:8080" },
    ],
    [
      "an IPv6 address, and blind trust",
      { cluster: { server: "https://[fd00::1]:6443/", "insecure-skip-tls-verify": true } },
      { server: "https://[fd00::1]:6443", trust: { insecureSkipVerify: true } },
    ],
    [
      "an address without a scheme",
      { cluster: { server: "10.0.0.1:8080" } },
      { server: "http://10.0.0.1:8080" },
    ],
    [
      "an address without a scheme, and an authority as a file beside the kubeconfig",
      { cluster: { server: "10.0.0.1:6443", "certificate-authority": "pki/ca.crt" } },
      {
        server: "https://10.0.0.1:6443",
        trust: { insecureSkipVerify: false, ca: pem("/home/ada/.kube/pki/ca.crt") },
      },
    ],
    [
      "an address without a scheme, and a client certificate in files",
      {
        cluster: { server: "10.0.0.1:6443" },
        user: { "client-certificate": "../c.crt", "client-key": "/k.key" },
      },
      {
        server: "https://10.0.0.1:6443",
        user: { certificate: { cert: pem("/home/ada/c.crt"), key: pem("/k.key") } },
      },
    ],
    [
      "an authority and a client certificate inside, which win over files",
      {
        cluster: { "certificate-authority": "/ca", "certificate-authority-data": packed(PEM) },
        user: {
          "client-certificate": "/c",
          "client-certificate-data": packed(PEM),
          "client-key-data": packed(PEM),
        },
      },
      {
        trust: { insecureSkipVerify: false, ca: { kind: "text", text: PEM } },
        user: { certificate: { cert: { kind: "text", text: PEM }, key: { kind: "text", text: PEM } } },
      },
    ],
    [
      "a token file, which wins over a token",
      { user: { token: "t", tokenFile: "token" } },
      { user: { login: { kind: "token", token: pem("/home/ada/.kube/token") } } },
    ],
    [
      "a password",
      { user: { username: "ada", password: "p" } },
      { user: { login: { kind: "password", username: "ada", password: "p" } } },
    ],
    [
      "a plugin given by a path, seen from the file, that is told of the cluster",
      {
        cluster: {
          extensions: [
            { name: "other", extension: 1 },
            { name: "client.authentication.k8s.io/exec", extension: { audience: "x" } },
          ],
        },
        user: exec({
          command: "./bin/login",
          args: ["get", "token"],
          env: [{ name: "A", value: "1" }],
          installHint: "get it",
          provideClusterInfo: true,
        }),
      },
      plugin({
        command: "/home/ada/.kube/bin/login",
        args: ["get", "token"],
        env: { A: "1" },
        interactiveMode: "Never",
        installHint: "get it",
        cluster: {
          server: "https://10.0.0.1:6443",
          trust: { insecureSkipVerify: false },
          config: { audience: "x" },
        },
      }),
    ],
    [
      "an older plugin, which need not say whether it asks people",
      { user: exec({ apiVersion: V1BETA1, interactiveMode: null, args: null, env: null }) },
      plugin({ apiVersion: V1BETA1, args: [], env: {}, interactiveMode: "IfAvailable" }),
    ],
    ["a token beside a plugin, which wins", { user: { token: "t", ...exec({}) } }, token("t")],
    ["entries that nobody chose and nobody could use", withStrangers(), token("secret")],
    ["no kind and no version", { root: { kind: "", apiVersion: null } }, token("secret")],
  ];
  test.each(right)("can have %s", (_, parts, gives) => {
    expect(resolved(parts)).toMatchObject(gives);
  });

  const wrong: readonly [name: string, parts: Parts, says: string, wanted?: string][] = [
    ["it is not there", {}, 'no context "tokyo"', "tokyo"],
    ["it is misspelt", {}, "did you mean rome?", "roma"],
    [
      "the current one is not there",
      { root: { "current-context": "gone" } },
      "current-context names a context that is not there",
    ],
    ["none is current", { root: { "current-context": "" } }, "no current-context"],
    ["there is none at all", { root: { "current-context": null, contexts: null } }, "no context is in it"],
    ["its cluster is not there", { context: { cluster: "other" } }, 'no cluster "other"'],
    ["its user is not there", { context: { user: "bob" } }, 'no user "bob"'],
    ["it names no cluster", { context: { cluster: "" } }, "cluster is missing"],
    ["the server is missing", { cluster: { server: "" } }, "server is missing"],
    ["the server is not an address", { cluster: { server: "https://" } }, "is not an address"],
    ["the server speaks something else", { cluster: { server: "ftp://a" } }, "is not an address"],
    [
      "the server's address holds a password",
      { cluster: { server: "https://ada:pw@10.0.0.1" } },
      "must not carry a user",
    ],
    ["there is a proxy", { cluster: { "proxy-url": "http://proxy:3128" } }, "proxy-url is not supported"],
    [
      "an authority is given, and blind trust",
      { cluster: { "insecure-skip-tls-verify": true, "certificate-authority": "/ca" } },
      "exclude each other",
    ],
    [
      "blind trust is text",
      { cluster: { "insecure-skip-tls-verify": "true" } },
      "insecure-skip-tls-verify must be true or false, not a string",
    ],
    [
      "the authority is not base64",
      { cluster: { "certificate-authority-data": PEM } },
      "certificate-authority-data is not PEM in base64",
    ],
    [
      "the authority is base64 of something else",
      { cluster: { "certificate-authority-data": packed("hello") } },
      "certificate-authority-data is not PEM in base64",
    ],
    ["a client certificate has no key", { user: { "client-certificate": "/c" } }, "has no client-key"],
    [
      "a client key has no certificate",
      { user: { "client-key-data": packed(PEM) } },
      "client-key has no client-certificate",
    ],
    ["a token is a number", { user: { token: 12345 } }, "token must be text, not a number"],
    [
      "there is a token and a password",
      { user: { token: "t", username: "ada" } },
      "a token and a username exclude each other",
    ],
    ["a password has no username", { user: { password: "p" } }, "password has no username"],
    ["the user is text", { user: "ada" }, "user must hold fields, not a string"],
    [
      "there is an auth-provider",
      { user: { "auth-provider": { name: "oidc" } } },
      "auth-provider is not supported",
    ],
    ["somebody is impersonated", { user: { as: "root" } }, "as is not supported"],
    [
      "a plugin is of an old version",
      { user: exec({ apiVersion: "client.authentication.k8s.io/v1alpha1" }) },
      "v1alpha1 is not supported",
    ],
    ["a plugin has no version", { user: exec({ apiVersion: "" }) }, "apiVersion is missing"],
    ["a plugin has no command", { user: exec({ command: "" }) }, "command is missing"],
    [
      "a plugin does not say whether it asks people",
      { user: exec({ interactiveMode: "" }) },
      "interactiveMode is missing",
    ],
    [
      "a plugin asks people in a way nobody knows",
      { user: exec({ interactiveMode: "Sometimes" }) },
      "interactiveMode is Sometimes",
    ],
    ["a plugin's arguments are numbers", { user: exec({ args: [1] }) }, "args must be text"],
    ["a plugin's arguments are no list", { user: exec({ args: "a" }) }, "args must be a list"],
    [
      "a plugin's variables have no value",
      { user: exec({ env: [{ name: "A" }] }) },
      "env must list a name and a value",
    ],
    ["a plugin is text", { user: { exec: "login" } }, "exec must hold fields, not a string"],
  ];
  test.each(wrong)("is refused in one line when %s", (_, parts, says, wanted) => {
    const { code, message } = faultOf(() => resolved(parts, wanted));
    expect(code).toBe("invalid");
    expect(message).not.toContain("\n");
    for (const words of [FILE, says]) expect(message).toContain(words);
  });
});

describe("a kubeconfig file", () => {
  const wrong: readonly [name: string, content: unknown, says: string][] = [
    ["text", "hello", "this is not a kubeconfig file but a string"],
    ["a list", [1], "this is not a kubeconfig file but a list"],
    ["another object", { kind: "Pod", apiVersion: "v1" }, "this is a Pod of v1"],
    ["of another version", { kind: "Config", apiVersion: "v2" }, "this is a Config of v2"],
    ["without a list of clusters", { clusters: {} }, "clusters must be a list, not fields"],
    ["with a cluster that is text", { clusters: ["a"] }, "clusters must list entries"],
    ["with a nameless user", { users: [{ user: {} }] }, "users[0]: name is missing"],
    ["with a name twice", { contexts: [{ name: "a" }, { name: "a" }] }, 'context "a": it is defined twice'],
  ];
  test.each(wrong)("is refused when it is %s", (_, content, says) => {
    const { message } = faultOf(() => parseKubeconfig(content, FILE));
    expect(message.startsWith(`${FILE}: `)).toBe(true);
    expect(message).toContain(says);
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
