import { testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli, temporaryFolder } from "../../src/testing/cli.ts";
import { NOWHERE } from "./testing/fake-server.ts";

const cleanUps: (() => Promise<void>)[] = [];
let folder: string;
const SMALL = ["--cpu", "1", "--memory", "1Gi"];

beforeAll(async () => {
  folder = await temporaryFolder((cleanUp) => cleanUps.unshift(cleanUp));
  await writeCertificateFolder(folder, (await testCertificates()).cluster("rome"));
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

describe("a wrong command line ends with status 2 before anybody is asked", () => {
  test.each([
    { args: ["reserve"], says: "say how much: --cpu and --memory" },
    { args: ["quote", "--cpu", "2"], says: "say how much: --memory, for example" },
    { args: ["quote", "--cpu", "two", "--memory", "1Gi"], says: '--cpu: "two" is not a quantity' },
    { args: ["reserve", ...SMALL, "--gpu", "-1"], says: "--gpu needs a value" },
    { args: ["reserve", ...SMALL, "--gpu", "1.5"], says: '--gpu: "1.5" is not a whole number' },
    { args: ["reserve", ...SMALL, "--target", "Paris"], says: '--target: "Paris" is not a cluster ID' },
    { args: ["reserve", ...SMALL, "--duration", "1 hour"], says: '--duration: "1 hour" is not a duration' },
    { args: ["reserve", ...SMALL, "--node-memory", "lots"], says: '--node-memory: "lots" is not a quantity' },
    { args: ["reserve", ...SMALL, "-l", "gold"], says: '--selector "gold": write it like key=value' },
    {
      args: ["reserve", ...SMALL, "--resource", "amd.com/gpu=x"],
      says: '--resource["amd.com/gpu"]: "x" is not',
    },
    { args: ["release"], says: "say which to release: one reservation, or --key" },
    { args: ["release", "rsv-a", "--key", "k"], says: "say which to release: one reservation, or --key" },
    { args: ["release", "cluster/paris"], says: '"cluster/paris" is no reservation' },
    { args: ["renew", "rsv-a", "--duration", "soon"], says: '--duration: "soon" is not a duration' },
    {
      args: ["wait", "rsv-a", "--for=Active"],
      says: '--for "Active": write phase=<phase>, released or ended; did you mean phase=Active?',
    },
    { args: ["wait", "rsv-a", "--for=phase=Actve"], says: "did you mean phase=Active?" },
    { args: ["explain", "paris"], says: '"paris" is neither a reservation (rsv-…) nor a decision (dec-…)' },
    { args: ["get", "reservatons"], says: "did you mean reservations?" },
    { args: ["get", "reservations", "--phase", "active"], says: "did you mean Active?" },
  ])("$args", async ({ args, says }) => {
    const { code, out, err } = await runCli(args, {
      // Who asks all the same hears that nobody listens, which is status 1.
      env: { BROKERCTL_BROKER: NOWHERE, BROKERCTL_CERTS: folder },
    });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(says);
  });
});
