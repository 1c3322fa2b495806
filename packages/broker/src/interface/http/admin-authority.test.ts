import { X509Certificate } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fakeClock, MACHINE_CLOCK, memoryStore, testCertificates, until } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toKeyPem } from "@resource-broker/runtime";
import { type EnrollmentSetup, enrollmentSetup, newAgent, newToken } from "./testing/joining.ts";
import { type RunningBroker, runBroker } from "./testing/running-broker.ts";

const fleet = await testCertificates();
const admins = fleet.authority({ subject: [{ type: "CN", value: "Admin CA" }] });
const ADMIN_UNIT = { type: "OU", value: "broker-admin" } as const;
const named = (name: string) => ({ type: "CN", value: name }) as const;
const ops = fleet.leaf({ subject: [ADMIN_UNIT, named("ops")] }, admins);

let time: ReturnType<typeof fakeClock>;
let setup: EnrollmentSetup;
let broker: RunningBroker;
beforeEach(async () => {
  time = fakeClock(MACHINE_CLOCK.wallMs());
  setup = await enrollmentSetup(fleet, time, admins.cert);
  const { enrollment } = setup;
  broker = await runBroker({ store: memoryStore(), clock: time, certificates: fleet.broker, enrollment });
});
afterEach(async () => {
  await broker.stop();
  await setup.remove();
});

describe("with an authority of admins", () => {
  test("its admins are admins, and clusters of the fleet's authority are clusters", async () => {
    expect(await broker.call(ops, "GET /api/v1/members")).toMatchObject({ status: 200 });
    expect(await broker.call(fleet.cluster("rome"), "GET /api/v1/instructions")).toMatchObject({
      status: 200,
    });
  });

  test("OU=broker-admin signed by the fleet's authority is no admin, and nothing else either", async () => {
    expect(await broker.call(fleet.admin("ops"), "GET /api/v1/members")).toMatchObject({
      status: 401,
      text: expect.stringContaining("--admin-ca") as string,
    });
    expect(await broker.call(fleet.admin("rome"), "GET /api/v1/instructions")).toMatchObject({ status: 401 });
  });

  test("an authority that only has the same name makes no admins", async () => {
    const forger = fleet.authority({ subject: [{ type: "CN", value: "Admin CA" }] }, fleet.ca);
    const forged = fleet.leaf({ subject: [ADMIN_UNIT, named("ops")] }, forger);
    const reply = await broker.call({ ...forged, cert: forged.cert + forger.cert }, "GET /api/v1/members");
    expect(reply.status).toBe(401);
  });

  test("a certificate of it that is no admin's is refused: whoever makes admins makes no clusters", async () => {
    const rome = fleet.leaf({ subject: [named("rome")] }, admins);
    expect(await broker.call(rome, "GET /api/v1/instructions")).toMatchObject({ status: 401 });
  });

  test("the enrollment authority makes no admins, whatever it signs; agents are not told to trust the admins'", async () => {
    expect((await broker.call({ ca: fleet.ca.cert }, "GET /api/v1/trust")).json).toMatchObject({
      authorities: fleet.ca.cert,
    });
    const { tokenID, secret, secretHash } = newToken();
    const invitation = { clusterID: "rome", tokenID, secretHash };
    await broker.call(ops, "POST /api/v1/invitations", { body: invitation });
    const agent = newAgent("rome");
    const body = agent.enrollment({ tokenID, secret, secretHash }, fleet.ca.cert);
    const reply = await broker.call({ ca: fleet.ca.cert }, "POST /api/v1/enroll", { body });
    const { certificate } = reply.json as { certificate: string };
    const credentials = agent.credentials(certificate, fleet.ca.cert);
    const { headers } = agent;
    expect(await broker.call(credentials, "GET /api/v1/members", { headers })).toMatchObject({ status: 403 });
    expect(await broker.call(credentials, "GET /api/v1/instructions", { headers })).toMatchObject({
      status: 200,
    });
  });
});

describe("the file of the admins' authority", () => {
  const add = (): Promise<string> => setup.enrollment.trust.addTo(fleet.ca.cert);
  test.each([
    ["is the fleet's authority itself", fleet.ca.cert, "admins need one of their own"],
    [
      "is another certificate of the fleet's key",
      fleet.authority({ subject: [named("Admin CA")], keys: fleet.ca.keys }).cert,
      "admins need one of their own",
    ],
    ["is empty", "", "it holds no certificate"],
    ["holds a certificate of no authority", ops.cert, "belongs to no authority"],
  ])("is refused when it %s, with the flag named", async (_, text, problem) => {
    await writeFile(join(setup.folder, "admin-ca.crt"), text);
    await expect(add()).rejects.toThrow(problem);
    await expect(add()).rejects.toThrow("--admin-ca");
    // What was read before stays in force.
    expect(await broker.call({ ...ops }, "GET /api/v1/members")).toMatchObject({ status: 200 });
  });

  test("is refused when it is the enrollment authority, whose key would make admins", async () => {
    await writeFile(join(setup.folder, "admin-ca.crt"), await readFile(join(setup.folder, "tls.crt")));
    await expect(add()).rejects.toThrow("admins need one of their own");
  });

  test("counts with the rest of its folder: a new one that is not in force yet changes nothing", async () => {
    const rome = fleet.leaf({ subject: [named("rome")] }, admins);
    await writeFile(
      join(setup.folder, "admin-ca.crt"),
      fleet.authority({ subject: [named("Admin CA 2")] }).cert,
    );
    // As when tls.crt and tls.key do not fit together at that moment: what was read is not used.
    await add();
    expect(await broker.call({ ...ops }, "GET /api/v1/members")).toMatchObject({ status: 200 });
    expect(await broker.call({ ...rome }, "GET /api/v1/instructions")).toMatchObject({ status: 401 });
    expect((await broker.call({ ca: fleet.ca.cert }, "GET /api/v1/trust")).json).toMatchObject({
      authorities: fleet.ca.cert,
    });
  });

  test("counts no longer once another is in force, and may become one of the fleet's", async () => {
    const next = fleet.authority({ subject: [named("Admin CA 2")] });
    await writeFile(join(setup.folder, "admin-ca.crt"), next.cert);
    const { trust } = setup.enrollment;
    broker.replaceCertificates({ ca: await trust.addTo(fleet.ca.cert + admins.cert) });
    const [old, rome] = [{ ...ops }, fleet.leaf({ subject: [named("rome")] }, admins)];
    expect(await broker.call(old, "GET /api/v1/members")).toMatchObject({ status: 401 });
    expect(await broker.call(rome, "GET /api/v1/instructions")).toMatchObject({ status: 200 });
    const newer = fleet.leaf({ subject: [ADMIN_UNIT, named("ops")] }, next);
    expect(await broker.call(newer, "GET /api/v1/members")).toMatchObject({ status: 200 });
    expect((await broker.call({ ca: fleet.ca.cert }, "GET /api/v1/trust")).json).toMatchObject({
      authorities: fleet.ca.cert + admins.cert,
    });
  });
});

test("agents that joined before the enrollment authority was renewed still call, but not once that one is revoked", async () => {
  const tlsCrt = join(setup.folder, "tls.crt");
  const [before, token, agent] = [await readFile(tlsCrt, "utf8"), newToken(), newAgent("rome")];
  const { tokenID, secretHash } = token;
  await broker.call(ops, "POST /api/v1/invitations", { body: { clusterID: "rome", tokenID, secretHash } });
  const body = agent.enrollment(token, fleet.ca.cert);
  const { json } = await broker.call({ ca: fleet.ca.cert }, "POST /api/v1/enroll", { body });
  const { certificate } = json as { certificate: string };
  const next = fleet.authority(
    { subject: [named("Enrollment CA")], basicConstraints: { ca: true, pathLength: 0 } },
    fleet.ca,
  );
  await writeFile(join(setup.folder, "tls.key"), toKeyPem(next.keys.privateKey));
  await writeFile(tlsCrt, next.cert + before);
  const { trust } = setup.enrollment;
  const ca = await until("the new one is read", async () => {
    await time.advance(1000);
    const text = await trust.addTo(fleet.ca.cert);
    return text.includes(next.cert) ? text : undefined;
  });
  const call = async () =>
    broker.call(agent.credentials(certificate, fleet.ca.cert), "GET /api/v1/instructions", agent);
  // A folder of brokerctl always has a list.
  broker.replaceCertificates({ ca, crl: fleet.crl([]) });
  expect(await call()).toMatchObject({ status: 200 });
  expect((await broker.call({ ca: fleet.ca.cert }, "GET /api/v1/trust")).json).toMatchObject({
    authorities: fleet.ca.cert,
  });
  broker.replaceCertificates({ ca, crl: fleet.crl([{ serial: new X509Certificate(before).serialNumber }]) });
  expect(await call()).toMatchObject({ status: 401, text: expect.stringContaining("revoked") as string });
});
