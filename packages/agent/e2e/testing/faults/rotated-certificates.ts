import { join } from "node:path";
import { PATH } from "@resource-broker/contract";
import { brokerClient, type Credentials, until, writeCertificateFolder } from "@resource-broker/testkit";
import { test } from "vitest";
import type { FaultSetup } from "./fault-setup.ts";

/** Nobody starts anew for a certificate. */
export function testRotatedCertificates(setup: () => FaultSetup): void {
  test("a certificate is rotated, and the old one revoked", async () => {
    const { world, certificates, ask, expectOneOfEach } = setup();
    const { certificateFolder } = world.agent("rome");
    const [old, renewed] = [certificates.cluster("rome"), certificates.cluster("rome")];
    const renew = async (to: Credentials): Promise<void> => {
      const { made } = world.proxy("rome").connections();
      await writeCertificateFolder(certificateFolder, to);
      await until(
        "the agent has connected anew",
        async () => world.proxy("rome").connections().made > made || undefined,
      );
    };
    await renew(old);
    await renew(renewed);
    const folder = join(world.directory, "broker", "certificates");
    await writeCertificateFolder(folder, { ...certificates.broker, crl: certificates.crl([old]) });
    const { port } = world.broker;
    await until("the broker refuses the old one", async () => {
      const client = brokerClient({ clusterId: "rome", credentials: old, port });
      const status = await client.request("GET", PATH.reservations).then(
        (reply) => reply.status,
        () => 0,
      );
      client.close();
      return status === 200 ? undefined : true;
    });
    await ask("rotated");
    await expectOneOfEach("rotated");
  });
}
