import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HEADER } from "@resource-broker/contract";
import { commonName, writeCertificateFolder } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runCli } from "../../src/testing/cli.ts";
import { type Fleet, startFleet } from "./testing/fleet.ts";
import { plainStandIn, standIn } from "./testing/stand-in.ts";

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;
/** Where nobody listens. */
const NOWHERE = "https://127.0.0.1:1";

beforeAll(async () => {
  fleet = await startFleet((cleanUp) => cleanUps.unshift(cleanUp));
  const { certificates, folder } = fleet;
  const { leaf, authority, admin, cluster } = certificates;
  const longAgo = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2021-01-01T00:00:00Z") };
  const other = authority({ subject: [commonName("Some other CA")] });
  const folders = {
    expired: leaf({ subject: [commonName("rome")], ...longAgo }),
    foreign: leaf({ subject: [commonName("rome")] }, other),
    "wrong-ca": { ...admin("ops"), ca: other.cert },
    mixed: { ...admin("ops"), key: cluster("rome").key },
    nonsense: { cert: "nothing", key: "nothing", ca: "nothing" },
  };
  for (const [name, contents] of Object.entries(folders)) {
    await writeCertificateFolder(join(folder, name), contents);
  }
  await mkdir(join(folder, "empty"));
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

describe("exit status and words", () => {
  const rows: readonly { name: string; who?: string; args: readonly string[]; code: number; says: string }[] =
    [
      { name: "all is well", args: ["get", "clusters"], code: 0, says: "" },
      {
        name: "nobody listens",
        args: ["get", "clusters", "--broker", NOWHERE],
        code: 1,
        says: `${NOWHERE}: nobody listens there`,
      },
      {
        name: "the cluster is unknown",
        args: ["get", "clusters", "oslo"],
        code: 1,
        says: 'no cluster "oslo"',
      },
      {
        name: "the address is none",
        args: ["get", "clusters", "--broker", "localhost:8443"],
        code: 2,
        says: "it must begin with https://",
      },
      {
        name: "the address has a path",
        args: ["get", "clusters", "--broker", "https://x/api"],
        code: 2,
        says: "it must end after the port",
      },
      {
        name: "the context is unknown",
        args: ["get", "clusters", "--context", "eu"],
        code: 2,
        says: 'no context "eu"',
      },
      {
        name: "nobody can lend that",
        who: "rome",
        args: ["reserve", "--cpu", "99", "--memory", "1Gi"],
        code: 3,
        says: "needs 83 more CPU",
      },
      {
        name: "the certificate has expired",
        who: "expired",
        args: ["get", "reservations"],
        code: 5,
        says: "it has expired; renew it",
      },
      {
        name: "the certificate is another authority's",
        who: "foreign",
        args: ["get", "reservations"],
        code: 5,
        says: "not issued by the broker's certificate authority",
      },
      {
        name: "the broker is another authority's",
        who: "wrong-ca",
        args: ["get", "clusters"],
        code: 5,
        says: "wrong-ca/ca.crt; is this the broker you mean?",
      },
      {
        name: "key and certificate do not match",
        who: "mixed",
        args: ["get", "clusters"],
        code: 5,
        says: "mixed: tls.key is not the key of tls.crt",
      },
      {
        name: "the folder holds no certificates",
        who: "nonsense",
        args: ["get", "clusters"],
        code: 5,
        says: "tls.crt holds nothing in PEM",
      },
      {
        name: "the folder is empty",
        who: "empty",
        args: ["get", "clusters"],
        code: 5,
        says: "empty/tls.crt (ENOENT). --certs must name a folder with",
      },
      {
        name: "the certificate is no admin's",
        who: "rome",
        args: ["get", "clusters"],
        code: 5,
        says: "You came as rome",
      },
      {
        name: "another cluster's is asked for",
        who: "rome",
        args: ["get", "clusters", "paris"],
        code: 5,
        says: "brokerctl certs issue <your-name> --admin",
      },
    ];
  test.each(rows)("$code when $name", async ({ who = "ops", args, code, says }) => {
    const { code: ended, out, err } = await fleet.as(who, ...args);
    expect({ ended, hasData: out !== "" }).toEqual({ ended: code, hasData: code === 0 });
    expect(err).toContain(says);
  });

  test("5 without any certificate, and how to come by one is said", async () => {
    const { code, err } = await runCli(["get", "clusters", "--broker", NOWHERE]);
    expect(code).toBe(5);
    expect(err).toContain("name its folder with --certs, BROKERCTL_CERTS or a context");
  });

  test("the remedy for an expired certificate names it", async () => {
    const { err } = await fleet.as("expired", "get", "reservations");
    expect(err).toContain(
      `It was rome's, from ${join(fleet.folder, "expired")}. A new one: brokerctl certs renew rome`,
    );
  });

  test("4 when no answer comes", async () => {
    const url = await standIn(fleet.certificates.broker, () => undefined, onTestFinished);
    const late = ["get", "clusters", "--broker", url, "--request-timeout", "50ms"];
    expect(await fleet.as("ops", ...late)).toMatchObject({
      code: 4,
      err: `brokerctl: ${url} gave no answer within 0.05 s; --request-timeout allows more\n`,
    });
  });

  test("1 when what listens is no broker", async () => {
    const page = await standIn(
      fleet.certificates.broker,
      (_, response) => response.end("<html>"),
      onTestFinished,
    );
    expect(await fleet.as("ops", "get", "clusters", "--broker", page)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `${page} answers, but not as a broker of this release does (200 "<html>")`,
      ),
    });
    const plain = await plainStandIn(onTestFinished);
    expect(await fleet.as("ops", "get", "clusters", "--broker", plain)).toMatchObject({
      code: 1,
      err: expect.stringContaining("does not speak TLS; check the port"),
    });
  });

  test("1 when a broker's answer cannot be understood", async () => {
    const url = await standIn(
      fleet.certificates.broker,
      (_, response) => response.setHeader(HEADER.brokerProtocol, "2").end('{"items": 3}'),
      onTestFinished,
    );
    const { code, err } = await fleet.as("ops", "get", "clusters", "--broker", url);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining("the answer is not what it should be: items"),
    });
  });
});

describe("several replicas", () => {
  const onceMore = (urls: readonly string[]) =>
    fleet.as("ops", "get", "clusters", "-o", "name", "--broker", urls.join(","));

  test("are asked until one serves", async () => {
    const body = JSON.stringify({ error: "broker-2 leads", code: "not-leader" });
    const standby = await standIn(
      fleet.certificates.broker,
      (_, response) => response.writeHead(503, { [HEADER.brokerProtocol]: "2" }).end(body),
      onTestFinished,
    );
    expect(await onceMore([NOWHERE, standby, fleet.url])).toMatchObject({ code: 0, err: "" });
    const none = await onceMore([NOWHERE, standby]);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("broker-2 leads") });
  });

  test("are not asked in turn about a refusal", async () => {
    const { code } = await fleet.as("rome", "get", "clusters", "--broker", `${fleet.url},${NOWHERE}`);
    expect(code).toBe(5);
  });
});

describe("where the broker is", () => {
  /** In a home of its own, with a file that knows the fleet as `here`. */
  async function inHome(text: (fleet: Fleet) => string): Promise<string> {
    const home = join(fleet.folder, `home-${cleanUps.length}-${Math.trunc(performance.now() * 1000)}`);
    await mkdir(join(home, ".config", "brokerctl"), { recursive: true });
    await writeFile(join(home, ".config", "brokerctl", "config.yaml"), text(fleet));
    return home;
  }
  const FILE = ({ url, folder }: Fleet): string =>
    `current-context: here\ncontexts:\n  here: {broker: "${url}", certs: "${folder}/ops"}\n  gone: {broker: "${NOWHERE}", certs: ../../../ops}\n`;

  const cases: readonly {
    name: string;
    args?: (fleet: Fleet) => readonly string[];
    env?: (fleet: Fleet) => Readonly<Record<string, string>>;
    code: number;
  }[] = [
    { name: "is read from the file's current context", code: 0 },
    { name: "is the context that was named", args: () => ["--context", "gone"], code: 1 },
    {
      name: "is what the environment says before the file",
      env: () => ({ BROKERCTL_BROKER: NOWHERE }),
      code: 1,
    },
    {
      name: "is what the flag says before the environment",
      args: ({ url }) => ["--broker", url],
      env: () => ({ BROKERCTL_BROKER: NOWHERE }),
      code: 0,
    },
    {
      name: "is the named context before the environment",
      args: () => ["--context", "here"],
      env: ({ folder }) => ({ BROKERCTL_BROKER: NOWHERE, BROKERCTL_CERTS: join(folder, "empty") }),
      code: 0,
    },
    {
      name: "is what the flag says before the named context, whose certificates stay",
      args: ({ url }) => ["--context", "gone", "--broker", url],
      code: 0,
    },
    {
      name: "is in the file that was named",
      args: ({ folder }) => ["--config", join(folder, "none.yaml")],
      code: 1,
    },
  ];
  test.each(cases)("$name", async ({ args, env, code }) => {
    const HOME = await inHome(FILE);
    const { code: ended, err } = await runCli(["get", "clusters", ...(args?.(fleet) ?? [])], {
      env: { HOME, ...env?.(fleet) },
    });
    expect({ ended, err }).toEqual({ ended: code, err: code === 0 ? "" : expect.any(String) });
  });

  test.each([
    { name: "no YAML", text: "{", says: "is not YAML" },
    { name: "a list", text: "- a", says: "the file must hold names and values" },
    {
      name: "a slip in a field",
      text: "current-contxt: a",
      says: 'knows no "current-contxt"; did you mean current-context?',
    },
    {
      name: "a slip in a context",
      text: "contexts: {eu: {cert: x}}",
      says: 'contexts.eu knows no "cert"; did you mean certs?',
    },
    {
      name: "a number for an address",
      text: "contexts: {eu: {broker: 1}}",
      says: "contexts.eu.broker must be a text",
    },
    {
      name: "a context that is not there",
      text: "current-context: ue\ncontexts: {eu: {}}",
      says: "did you mean eu?",
    },
    { name: "nothing", text: "", says: "name its folder with --certs" },
  ])("a file with $name is told", async ({ text, says }) => {
    const HOME = await inHome(() => text);
    const { code, err } = await runCli(["get", "clusters"], { env: { HOME } });
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(says);
  });

  test("is found under XDG_CONFIG_HOME, with ~ in the file", async () => {
    const HOME = await inHome(({ url }) => `contexts: {a: {broker: "${url}", certs: ~/../ops}}\n`);
    const env = { HOME, XDG_CONFIG_HOME: join(HOME, ".config") };
    expect(await runCli(["get", "clusters", "--context", "a"], { env })).toMatchObject({ code: 0 });
  });
});
