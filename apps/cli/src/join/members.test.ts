import { join } from "node:path";
import { JOIN_SECRET, type MemberDTO, parseToken } from "@resource-broker/contract";
import { publicKeyHash, tokenSecretHash } from "@resource-broker/runtime";
import { reply, startFakeBroker, testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { X509Certificate } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { cellsOf, runCli, temporaryFolder } from "../testing/cli.ts";
import { readInvitation } from "./invitation.ts";

const AT = Date.UTC(2026, 0, 15, 12);
const minutes = (count: number): string => new Date(AT + count * 60_000).toISOString();
const FINGERPRINT = `SHA256:${"A".repeat(43)}`;
const INVITED: MemberDTO = {
  clusterID: "rome",
  state: "invited",
  tokenID: "k3u7dq2hvm",
  invitedBy: "ops",
  expiresAt: minutes(60),
  since: minutes(0),
};
const MEMBERS: readonly MemberDTO[] = [
  { clusterID: "berlin", state: "evicted", since: minutes(-30) },
  { ...INVITED, clusterID: "oslo", state: "unconfirmed", fingerprint: FINGERPRINT, expiresAt: minutes(-5) },
  { ...INVITED, clusterID: "paris", state: "joined", fingerprint: FINGERPRINT, since: minutes(-180) },
  INVITED,
];

const certificates = await testCertificates();
const others = await testCertificates();

interface Answers {
  readonly trust?: object;
  readonly members?: readonly MemberDTO[];
  readonly other?: readonly [status: number, body: unknown];
}

/** A broker that answers so, and brokerctl with an admin's certificate. */
async function brokerThat({ trust, members, other = [201, INVITED] }: Answers = {}) {
  const own = { authorities: certificates.ca.cert, signer: "embedded" };
  const headers = { Date: new Date(AT).toUTCString() };
  const { url, received } = await startFakeBroker({
    credentials: certificates.broker,
    whenDone: onTestFinished,
    script: (response, call) => {
      const answers: Readonly<Record<string, readonly [status: number, body: unknown]>> = {
        "/api/v1/trust": [200, trust ?? own],
        "/api/v1/members": [200, members ?? []],
      };
      const [status, body] = answers[call.url] ?? other;
      reply(status, body, headers)(response, call);
    },
  });
  const folder = await temporaryFolder(onTestFinished);
  await writeCertificateFolder(join(folder, "ops"), certificates.admin("ops"));
  const calls = () => received.filter(({ method }) => method === "POST");
  return {
    url,
    calls,
    received,
    body: () => JSON.parse(calls()[0]?.body ?? "") as Record<string, unknown>,
    run: (args: readonly string[], world: Parameters<typeof runCli>[1] = {}) =>
      runCli([...args, "--broker", url, "--certs", join(folder, "ops")], world),
  };
}

const CA_HASH = publicKeyHash(new X509Certificate(certificates.ca.cert).publicKey);

describe("invite", () => {
  test("prints a Secret whose token only its hash has left this machine", async () => {
    const { run, url, calls, body } = await brokerThat();
    const { code, out, err } = await run([
      "invite",
      "rome",
      "--lifetime",
      "90m",
      "--confirm",
      "--replace",
      "--yes",
    ]);
    expect(code).toBe(0);
    const invitation = await readInvitation(out, "it");
    expect(invitation).toMatchObject({
      clusterId: "rome",
      brokerUrls: [url],
      caHashes: [CA_HASH],
      namespace: "rear-agent",
    });
    const { id, secret } = invitation.token;
    expect(body()).toEqual({
      clusterID: "rome",
      tokenID: id,
      secretHash: tokenSecretHash(secret),
      lifetime: "1h30m",
      confirm: true,
      replace: true,
    });
    expect(calls()[0]?.body).not.toContain(secret);
    expect(err).toContain(`Invited rome (token ${id}, expires in 60 minutes)`);
    expect(err).toContain("brokerctl accept rome --fingerprint SHA256:…");
    expect(err).not.toContain(secret);
    expect(err).not.toContain("is a secret");
  });

  test("makes another token each time, and names where agents reach the broker", async () => {
    const { run } = await brokerThat();
    const urls = ["--broker-url", "https://a.example.org:8443,https://b.example.org", "-n", "fleet"];
    const [one, two] = [await run(["invite", "rome", ...urls]), await run(["invite", "rome", ...urls])];
    const first = await readInvitation(one.out, "one");
    expect(first).toMatchObject({
      brokerUrls: ["https://a.example.org:8443", "https://b.example.org"],
      namespace: "fleet",
    });
    expect((await readInvitation(two.out, "two")).token).not.toEqual(first.token);
    expect(one.err).not.toContain("this machine only");
  });

  test("-o token and -o json print the same in other forms", async () => {
    const { run, url } = await brokerThat();
    const token = await run(["invite", "rome", "-o", "token"]);
    expect(parseToken(token.out)).toBeDefined();
    const data = JSON.parse((await run(["invite", "rome", "-o", "json"])).out) as Record<string, unknown>;
    expect(parseToken(String(data["token"]))?.id).toBe(data["tokenID"]);
    expect(data).toMatchObject({
      clusterID: "rome",
      brokerURLs: [url],
      caHashes: [CA_HASH],
      expiresAt: INVITED.expiresAt,
    });
  });

  test("warns on a terminal that a secret follows, and of an address that only this machine has", async () => {
    const { run } = await brokerThat();
    const { err } = await run(["invite", "rome"], { isTerminal: true });
    expect(err).toContain("what follows is a secret");
    expect(err).toContain("brokerctl invite rome | brokerctl join --context");
    expect(err).toContain("is this machine only");
  });

  test.each([
    [
      "that signs for nobody",
      { authorities: certificates.ca.cert, signer: "none" },
      1,
      "--enrollment-cert-path",
    ],
    ["that names foreign authorities", { authorities: others.ca.cert, signer: "embedded" }, 5, "ca.crt"],
    ["that names a leaf", { authorities: certificates.broker.cert, signer: "embedded" }, 5, "ca.crt"],
  ] as const)("asks a broker %s for nothing", async (_, trust, code, says) => {
    const { run, calls } = await brokerThat({ trust });
    const ended = await run(["invite", "rome"]);
    expect(ended).toMatchObject({ code, out: "" });
    expect(ended.err).toContain(says);
    expect(calls()).toEqual([]);
  });

  test("keeps an authority that is both trusted here and named there, for a roll-over", async () => {
    const trust = { authorities: certificates.ca.cert + others.ca.cert, signer: "cert-manager" };
    const { run } = await brokerThat({ trust });
    expect((await readInvitation((await run(["invite", "rome"])).out, "it")).caHashes).toEqual([CA_HASH]);
  });

  test.each(["invited", "unconfirmed"] as const)(
    "of an ID that is %s says which token is void now",
    async (state) => {
      const before = { ...INVITED, state, tokenID: "before2345" };
      const { run } = await brokerThat({ members: [{ ...before, clusterID: "oslo" }, before] });
      const { code, err } = await run(["invite", "rome"]);
      expect(code).toBe(0);
      expect(err).toContain("The invitation of rome with token before2345 is replaced: it is void now\n");
    },
  );

  test.each(["expired", "joined", "evicted"] as const)(
    "of an ID that is %s voids no token",
    async (state) => {
      const { run } = await brokerThat({ members: [{ ...INVITED, state }] });
      const { code, err } = await run(["invite", "rome", "--replace", "--yes"]);
      expect(code).toBe(0);
      expect(err).not.toContain("void");
    },
  );

  describe("--replace evicts an agent only when somebody says so", () => {
    const live = { ...INVITED, state: "joined", fingerprint: FINGERPRINT } as const;
    test.each([
      ["y", 0],
      ["no", 1],
      [undefined, 2],
    ])("and the answer is %s: %d", async (answer, code) => {
      const { run, calls } = await brokerThat({ members: [live] });
      const asked: string[] = [];
      const ask = async (question: string) => [asked.push(question), answer][1] as string | undefined;
      const ended = await run(["invite", "rome", "--replace"], { ask });
      expect(ended.code).toBe(code);
      expect(asked).toEqual([expect.stringContaining(`Evict the agent of rome (${FINGERPRINT})? `)]);
      expect(calls()).toHaveLength(code === 0 ? 1 : 0);
      expect(ended.out === "").toBe(code !== 0);
      expect(ended.err).toContain(
        { 0: `Evicted the agent of rome (${FINGERPRINT})`, 1: "nothing was changed", 2: "--yes" }[code] ??
          "?",
      );
    });

    test.each([
      ["is no member, but may have a certificate of its own", [], 1],
      ["was evicted", [{ ...live, state: "evicted" }], 0],
      ["has not used its invitation", [INVITED], 0],
    ] as const)("where the cluster %s, %d times", async (_, members, times) => {
      const { run } = await brokerThat({ members });
      let asked = 0;
      const ask = async () => [asked++, "y"][1] as string;
      expect(await run(["invite", "rome", "--replace"], { ask })).toMatchObject({ code: 0 });
      expect(asked).toBe(times);
    });
  });

  test("of an ID that is known prints no token, and the broker's remedy", async () => {
    const error = "rome has joined already: brokerctl invite rome --replace evicts it first";
    const { run } = await brokerThat({ other: [403, { error, code: "wrong-instance" }] });
    const { code, out, err } = await run(["invite", "rome"]);
    expect({ code, out }).toEqual({ code: 6, out: "" });
    expect(err).toContain(error);
  });

  test.each([
    [["invite", "Rome"], "did you mean rome?"],
    [["invite", "rome", "--broker-url", "http://broker"], "it must begin with https://"],
  ])("%s is refused before anybody is asked", async (args, says) => {
    const { run, received } = await brokerThat();
    const { code, err } = await run(args);
    expect(code).toBe(2);
    expect(err).toContain(says);
    expect(received).toEqual([]);
  });
});

describe("an invitation", () => {
  const manifest = async (): Promise<string> => (await (await brokerThat()).run(["invite", "rome"])).out;

  test("is read the same as Kubernetes stores it", async () => {
    const text = await manifest();
    const { token, clusterId } = await readInvitation(text, "it");
    const data = Object.fromEntries(
      [...text.matchAll(/^ {2}(clusterID|token|brokerURLs|caHashes): (.*)$/gmu)].map(
        ([, name = "", value = ""]) => {
          const plain = value.startsWith('"') ? (JSON.parse(value) as string) : value;
          return [name, Buffer.from(plain).toString("base64")];
        },
      ),
    );
    const stored = await readInvitation(JSON.stringify({ kind: "Secret", data }), "it");
    expect(stored).toMatchObject({ token, clusterId, namespace: "rear-agent" });
  });

  test.each([
    ["nothing", () => "", "is empty"],
    ["another object", () => "kind: ConfigMap\n", "it is no Secret"],
    ["no YAML", () => "kind: [", "it is no YAML"],
    ["a token that was cut", (text: string) => text.replace(/(token: \S+)..$/mu, "$1"), "not copied whole"],
    ["a token that was mistyped", (text: string) => text.replace(/(rbj1\.)./u, "$1_"), "not copied whole"],
    [
      "no broker",
      (text: string) => text.replace(/^ {2}brokerURLs.*\n/mu, ""),
      `no ${JOIN_SECRET.brokerUrls}`,
    ],
    ["a digest that is none", (text: string) => text.replace(CA_HASH, "abc"), "no SHA-256"],
    ["no cluster", (text: string) => text.replace(/^ {2}clusterID.*\n/mu, ""), "no clusterID"],
  ])("with %s is refused without showing the token", async (_, change, says) => {
    const text = await manifest();
    const { token } = await readInvitation(text, "it");
    const error: unknown = await readInvitation(change(text), "it").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ exit: "usage", message: expect.stringContaining(says) as unknown });
    expect(String(error)).not.toContain(token.secret);
  });
});

describe("members", () => {
  test("are listed with what matters of each", async () => {
    const { run } = await brokerThat({ members: MEMBERS });
    const { out } = await run(["get", "members", "-o", "wide"]);
    expect(cellsOf(out)).toEqual([
      ["CLUSTER", "STATE", "FINGERPRINT", "TOKEN", "EXPIRES", "AGE", "INVITED BY"],
      ["berlin", "evicted", "-", "-", "-", "30m", "-"],
      ["oslo", "unconfirmed", FINGERPRINT, "k3u7dq2hvm", "5 minutes ago", "0s", "ops"],
      ["paris", "joined", FINGERPRINT, "k3u7dq2hvm", "-", "3h", "ops"],
      ["rome", "invited", "-", "k3u7dq2hvm", "in 60 minutes", "0s", "ops"],
    ]);
    expect((await run(["get", "invitations", "-o", "name"])).out).toBe("oslo\nrome\n");
    expect(JSON.parse((await run(["get", "member", "paris", "-o", "json"])).out)).toEqual([MEMBERS[2]]);
  });

  const ADVICE = "brokerctl get members lists all; to invite it: brokerctl invite";
  test.each([
    ["members", "tokyo", `there is no member "tokyo": ${ADVICE} tokyo`],
    ["members", "pariss", `there is no member "pariss"; did you mean paris? ${ADVICE} pariss`],
    ["invitations", "tokyo", `there is no invitation of "tokyo": ${ADVICE} tokyo`],
    [
      "invitations",
      "paris",
      'there is no invitation of "paris": its state is joined, see brokerctl get members paris',
    ],
  ])("get %s %s, who is none of them, says what to do", async (list, id, says) => {
    const { run } = await brokerThat({ members: MEMBERS });
    const { code, err } = await run(["get", list, id]);
    expect({ code, err }).toEqual({ code: 1, err: `brokerctl: ${says}\n` });
    expect(await run(["get", list, "No_ID"])).toMatchObject({ code: 2 });
  });

  test("that there are none of is said, with the next step", async () => {
    const { run } = await brokerThat();
    expect(await run(["get", "invitations"])).toMatchObject({
      code: 0,
      out: "",
      err: expect.stringContaining("brokerctl invite <cluster-id>") as unknown,
    });
  });

  test("are accepted by fingerprint only", async () => {
    const { run, calls, body } = await brokerThat({ other: [200, { ...INVITED, state: "joined" }] });
    for (const wrong of [[], ["--fingerprint", "SHA256:short"]]) {
      const { code, err } = await run(["accept", "rome", ...wrong]);
      expect(code).toBe(2);
      expect(err).toContain("kubectl -n rear-agent logs");
    }
    expect(calls()).toEqual([]);
    expect((await run(["accept", "rome", "--fingerprint", FINGERPRINT])).out).toMatch(/State: +joined/u);
    expect(calls()[0]).toMatchObject({ method: "POST", url: "/api/v1/members/rome/accept" });
    expect(body()).toEqual({ fingerprint: FINGERPRINT });
  });

  test.each([
    ["y", 0],
    ["yes", 0],
    ["", 1],
    ["no", 1],
    [undefined, 2],
  ])("are evicted when the answer is %s: %d", async (answer, code) => {
    const { run, calls } = await brokerThat({ other: [200, { ...INVITED, state: "evicted" }] });
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      return answer;
    };
    const ended = await run(["evict", "rome", "--reason", "sold"], { ask });
    expect(ended.code).toBe(code);
    expect(asked).toEqual([expect.stringMatching(/^Evict rome\?.*\[y\/N\] $/u)]);
    expect(calls().map(({ url, body }) => ({ url, body }))).toEqual(
      code === 0 ? [{ url: "/api/v1/members/rome/evict", body: '{"reason":"sold"}' }] : [],
    );
    if (code === 2) expect(ended.err).toContain("--yes");
  });

  test("are evicted without a question by --yes", async () => {
    const { run } = await brokerThat({ other: [200, { ...INVITED, state: "evicted" }] });
    const { code, err } = await run(["evict", "rome", "--yes"]);
    expect(code).toBe(0);
    expect(err).toContain("brokerctl invite rome");
  });
});
