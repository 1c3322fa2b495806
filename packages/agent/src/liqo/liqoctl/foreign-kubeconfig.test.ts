import { type Credentials, testCertificates } from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { accessTo } from "../requester/testing/samples.ts";
import { foreignText, readForeignKubeconfig } from "./foreign-kubeconfig.ts";

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
const read = (text: string) => readForeignKubeconfig(text, "paris.kubeconfig");
let ada: Credentials;
let bob: Credentials;

beforeAll(async () => {
  const { leaf } = await testCertificates();
  [ada, bob] = [leaf({ subject: [] }), leaf({ subject: [] })];
});

/** Each replaces the lines of its part. */
interface Parts {
  readonly root?: string;
  readonly cluster?: string;
  readonly user?: string;
  readonly context?: string;
}

function file({ root = "", cluster = "", user = "token: abc", context = "" }: Parts = {}): string {
  return [
    "apiVersion: v1",
    "kind: Config",
    "clusters:",
    "- name: paris",
    "  cluster:",
    "    server: https://paris.example:6443",
    `    certificate-authority-data: ${base64(ada.ca)}`,
    ...indented(cluster),
    "users:",
    "- name: rome",
    "  user:",
    ...indented(user),
    "contexts:",
    "- name: rome@paris",
    "  context:",
    "    cluster: paris",
    "    user: rome",
    ...indented(context),
    "current-context: rome@paris",
    root,
  ].join("\n");
}

function indented(lines: string): string[] {
  return lines === "" ? [] : lines.split("\n").map((line) => `    ${line}`);
}

const certificate = ({ cert, key }: Pick<Credentials, "cert" | "key">): string =>
  `client-certificate-data: ${base64(cert)}\nclient-key-data: ${base64(key)}`;

describe("a kubeconfig of another cluster", () => {
  test.each<[string, () => string]>([
    ["a token", () => file()],
    ["a certificate", () => file({ user: certificate(ada) })],
    ["a certificate and a token", () => file({ user: `${certificate(ada)}\ntoken: abc` })],
    ["preferences", () => file({ root: "preferences: {}" })],
    ["notes of tools", () => file({ cluster: "extensions:\n- name: kind\n  extension: {at: 1}" })],
    ["a namespace", () => file({ context: "namespace: shop" })],
    ["the statement that TLS is verified", () => file({ cluster: "insecure-skip-tls-verify: false" })],
    ["JSON", () => foreignText(accessTo("paris"))],
    [
      "comments and a path in its address",
      () => `# Rancher\n${file().replace(":6443", "/k8s/clusters/c-1")}`,
    ],
  ])("may have %s, and what is handed on says the same", async (_, text) => {
    const { origin, ...access } = await read(text());
    const handedOn = foreignText({ origin, ...access });
    expect(Object.keys(JSON.parse(handedOn) as object)).toEqual([
      "apiVersion",
      "kind",
      "clusters",
      "users",
      "contexts",
      "current-context",
    ]);
    expect(await read(handedOn)).toMatchObject(access);
  });

  test("is read for its address, its authority and what is shown there", async () => {
    const material = (text: string) => ({ kind: "text", text });
    expect(await read(file({ user: certificate(ada) }))).toEqual({
      origin: 'context "rome@paris" of paris.kubeconfig',
      server: "https://paris.example:6443",
      namespace: "default",
      trust: { insecureSkipVerify: false, ca: material(ada.ca) },
      user: { certificate: { cert: material(ada.cert), key: expect.objectContaining({ kind: "text" }) } },
    });
  });

  const MERGE_KEY = "<< is refused, it is a merge key";
  const NO_HTTPS = "cluster.server is not a plain https";
  const NO_PEM = "is not PEM in base64";
  const withAuthority = (pem: string): string => file().replace(base64(ada.ca), base64(pem));
  const withServer = (before: string, after: string): string => file().replace(before, after);
  const EXEC = "exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh, args: [-c, reboot]}";
  test.each<[string, () => string, string]>([
    ["a program", () => file({ user: EXEC }), "users[0].user.exec"],
    ["a program beside a token", () => file({ user: `token: abc\n${EXEC}` }), "users[0].user.exec"],
    ["a program merged from an anchor", () => `x: &x {${EXEC}}\n${file({ user: "<<: *x" })}`, "anchor"],
    ["a program merged inline", () => file({ user: `<<: {${EXEC}}` }), MERGE_KEY],
    ["a program merged from a list", () => file({ user: `<<: [{${EXEC}}]` }), MERGE_KEY],
    ["a merge key in quotes", () => file({ user: `"<<": {${EXEC}}` }), MERGE_KEY],
    ["a merge key by its tag", () => file({ user: `!!merge <<: {${EXEC}}` }), "not plain YAML"],
    ["an alias", () => file({ cluster: "extensions: *x" }), "line 8 has an alias"],
    ["an anchor", () => file({ user: "token: &t abc" }), "line 11 has an anchor"],
    ["an anchored key", () => file({ user: "&t token: abc" }), "line 11 has an anchor"],
    ["a tag", () => file({ user: "token: !!binary YWJj" }), "line 11 has a tag"],
    ["a field twice", () => file({ user: "token: abc\ntoken: def" }), "line 12 has a field that is there"],
    ["a field twice in JSON", () => '{"kind":"Config","kind":"Config"}', "there twice"],
    [
      "an entry twice",
      () => file().replace("users:", "users:\n- {name: rome, user: {token: x}}"),
      "defined twice",
    ],
    ["a second document", () => `${file()}\n---\n${file()}`, "one YAML document, not several"],
    ["an older YAML", () => `%YAML 1.1\n---\n${file()}`, "%YAML"],
    ["a login of a plugin of old", () => file({ user: "auth-provider: {name: gcp}" }), "user.auth-provider"],
    ["a file with a token", () => file({ user: "tokenFile: /var/run/secrets/token" }), "user.tokenFile"],
    [
      "a file with a certificate",
      () => file({ user: "client-certificate: a.pem" }),
      "user.client-certificate",
    ],
    ["a file with a key", () => file({ user: "client-key: a.pem" }), "user.client-key"],
    ["a password", () => file({ user: "username: ada\npassword: x" }), "user.username"],
    ["impersonation", () => file({ user: "token: abc\nas: admin" }), "users[0].user.as is refused"],
    ["impersonation by UID", () => file({ user: "token: abc\nas-uid: admin" }), "user.as-uid"],
    ["impersonation of groups", () => file({ user: "token: abc\nas-groups: [admin]" }), "user.as-groups"],
    ["impersonation with more", () => file({ user: "token: abc\nas-user-extra: {}" }), "user.as-user-extra"],
    ["a proxy", () => file({ cluster: "proxy-url: http://evil" }), "cluster.proxy-url"],
    [
      "an unproven server",
      () => file({ cluster: "insecure-skip-tls-verify: true" }),
      "insecure-skip-tls-verify",
    ],
    ["another name of the server", () => file({ cluster: "tls-server-name: x" }), "cluster.tls-server-name"],
    [
      "a file with an authority",
      () => file({ cluster: "certificate-authority: ca.pem" }),
      "cluster.certificate-authority ",
    ],
    ["an unknown field", () => file({ user: "token: abc\nTOKENFILE: /x" }), "users[0].user.TOKENFILE"],
    ["an unknown field at its root", () => file({ root: "hosts: {}" }), "hosts is refused"],
    [
      "an unknown field of an entry",
      () => file().replace("- name: rome\n", "- name: rome\n  exec: {}\n"),
      "users[0].exec",
    ],
    ["an unknown field of a context", () => file({ context: "exec: {}" }), "contexts[0].context.exec"],
    [
      "a field that no terminal should see",
      () => file({ user: '"a\\u001b[2J\\u202e": b' }),
      "is refused, it is not a known field",
    ],
    ["the prototype as a field", () => file({ user: "__proto__: {token: abc}" }), "user.__proto__"],
    ["a number for a token", () => file({ user: "token: 123" }), "token must be text"],
    ["a list for a token", () => file({ user: "token: [abc]" }), "token must be text"],
    ["a token of two lines", () => file({ user: 'token: "abc\\ndef"' }), "user.token has a blank"],
    ["no login", () => file({ user: "extensions: []" }), "neither certificate nor token"],
    ["half a certificate", () => file({ user: certificate(ada).split("\n")[0] ?? "" }), "has no client-key"],
    [
      "the key of another",
      () => file({ user: certificate({ cert: ada.cert, key: bob.key }) }),
      "is not the key of",
    ],
    ["a key for an authority", () => withAuthority(ada.key), "certificates and nothing else"],
    ["an authority that is none", () => withAuthority("ada"), NO_PEM],
    ["a broken authority", () => withAuthority(ada.ca.replace("MII", "MIJ")), "cannot be read"],
    ["what is not base64", () => file().replace(base64(ada.ca), "'-----BEGIN'"), NO_PEM],
    ["a server without TLS", () => withServer("https:", "http:"), NO_HTTPS],
    ["a server with a user", () => withServer("//paris", "//ada:x@paris"), NO_HTTPS],
    ["a server with a query", () => withServer(":6443", ":6443/?x"), NO_HTTPS],
    ["a socket for a server", () => withServer("https:", "unix:"), NO_HTTPS],
    [
      "a context that is not there",
      () => file().replace("current-context: rome", "current-context: oslo"),
      "names a context that is not there",
    ],
    ["another kind", () => file().replace("kind: Config", "kind: Secret"), "not a kubeconfig"],
    ["nothing in it", () => "", "not none"],
    ["a list", () => "[]", "it must hold fields"],
    ["no YAML", () => 'a: "', "it is not plain YAML (line 1)"],
  ])("must not have %s", async (_, text, named) => {
    await expect(read(text())).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining(named),
    });
  });

  test("that is refused says nothing of its secrets", async () => {
    const secret = "s3cr3t";
    for (const user of [
      `token: ${secret} ${secret}`,
      `password: ${secret}`,
      `token: ["${secret}`,
      `- ${secret}`,
    ]) {
      const shown = await read(file({ user })).catch(String);
      expect(shown).toContain("Fault");
      expect(shown).not.toContain(secret);
    }
  });
});
