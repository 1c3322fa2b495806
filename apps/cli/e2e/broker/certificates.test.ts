import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { commonName, writeCertificateFolder } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../src/testing/cli.ts";
import { NOWHERE } from "./testing/fake-server.ts";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;

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

describe("a certificate that will not do: exit status and words", () => {
  const rows: readonly (readonly [name: string, who: string, command: string, says: string])[] = [
    ["the certificate has expired", "expired", "get reservations", "it has expired; renew it"],
    [
      "the certificate is another authority's",
      "foreign",
      "get reservations",
      "not issued by the broker's certificate authority",
    ],
    [
      "the broker is another authority's",
      "wrong-ca",
      "get clusters",
      "wrong-ca/ca.crt; if it is the right broker, put its ca.crt there",
    ],
    ["key and certificate do not match", "mixed", "get clusters", "mixed: tls.key is not the key of tls.crt"],
    ["the folder holds no certificates", "nonsense", "get clusters", "tls.crt contains no PEM block"],
    [
      "the folder is empty",
      "empty",
      "get clusters",
      "empty/tls.crt (ENOENT). --certs must name a folder with",
    ],
    ["the certificate is no admin's", "rome", "get clusters", "You are authenticated as rome"],
    [
      "another cluster's is asked for",
      "rome",
      "get clusters paris",
      "brokerctl certs issue <your-name> --admin",
    ],
  ];
  test.each(rows)("5 when %s", async (_, who, command, says) => {
    const { code, out, err } = await fleet.as(who, ...command.split(" "));
    expect({ code, out }).toEqual({ code: 5, out: "" });
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
      `The certificate of rome from ${join(fleet.folder, "expired")} was used. Renew it: brokerctl certs renew rome`,
    );
  });
});
