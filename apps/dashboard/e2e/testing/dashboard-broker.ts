import type { DashboardLink } from "@resource-broker/contract";
import {
  type BrokerProcess,
  type BrokerProcessOptions,
  freePorts,
  startBroker,
  testCertificates,
} from "@resource-broker/testkit";

export interface DashboardBroker {
  readonly broker: BrokerProcess;
  readonly origin: string;
}

/** A broker with its dashboard on the loopback, on the same port after a restart. */
export async function startDashboardBroker(
  options: Omit<BrokerProcessOptions, "certificates"> = {},
): Promise<DashboardBroker> {
  const port = await freePort();
  const broker = await startBroker({
    certificates: await testCertificates(),
    ...options,
    flags: [`--dashboard-bind-address=127.0.0.1:${port}`, ...(options.flags ?? [])],
  });
  return { broker, origin: `http://127.0.0.1:${port}` };
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** A link as `brokerctl dashboard` prints it. */
export async function makeLink(
  broker: BrokerProcess,
  role: DashboardLink["role"] = "admin",
): Promise<string> {
  const { status, body } = await broker
    .admin()
    .request("POST", "/api/v1/dashboard/links", { body: { role } });
  if (status !== 201) throw new Error(`no link: ${status} ${JSON.stringify(body)}`);
  return (body as DashboardLink).url;
}
