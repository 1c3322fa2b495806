import type { Log } from "@resource-broker/base";
import {
  createKubeClient,
  type KubeClient,
  type KubeConfig,
  parseKubeconfig,
  resolveContext,
} from "@resource-broker/kube";
import type { Material } from "@resource-broker/kube/testing";
import { parse } from "yaml";
import { requestServer } from "../control-plane/access.ts";
import type { RealControlPlane } from "../control-plane/control-plane.ts";
import { MACHINE_CLOCK } from "../time/machine-clock.ts";
import { simulatedControlPlanes } from "../world/control-planes.ts";
import { until } from "../world/until.ts";
import type { KubeUnderTest, Table } from "./kube-promise.ts";

const silent = (): void => undefined;
export const NO_LOG: Log = { info: silent, warn: silent, error: silent };
const TABLE_TYPE = "application/json;as=Table;v=v1;g=meta.k8s.io";

/** Our own client, over real connections on the machine's time, for the text of a kubeconfig. Close it. */
export function kubeClientFor(kubeconfig: string): KubeClient {
  return connect(configOf(kubeconfig));
}

/** The same server, and a token that it never gave to anybody. */
function unauthenticatedClient(kubeconfig: string): KubeClient {
  const token = { kind: "text", text: "nobody-has-this-token" } as const;
  return connect({ ...configOf(kubeconfig), user: { login: { kind: "token", token } } });
}

/** Asks for a table as kubectl does, which our client never does. */
export async function readTable(kubeconfig: string, path: string): Promise<Table> {
  const { server, trust, user } = configOf(kubeconfig);
  const { cert, key } = user.certificate ?? {};
  const credentials = { ca: textOf(trust.ca), cert: textOf(cert), key: textOf(key) };
  const port = Number(new URL(server).port);
  const { body } = await requestServer({ port, credentials, method: "GET", path, accept: TABLE_TYPE });
  return body as Table;
}

function configOf(kubeconfig: string): KubeConfig {
  return resolveContext(parseKubeconfig(parse(kubeconfig), "the test's kubeconfig"));
}

function connect(config: KubeConfig): KubeClient {
  return createKubeClient(config, { clock: MACHINE_CLOCK, log: NO_LOG, env: {}, userAgent: "conformance" });
}

function textOf(material: Material | undefined): string {
  if (material?.kind !== "text") throw new Error("the kubeconfig of a test holds its certificates itself");
  return material.text;
}

export async function simulatedKube(): Promise<KubeUnderTest> {
  const planes = simulatedControlPlanes({ behaves: false });
  const { kubeconfig } = await planes.start("sim", []);
  const { faults } = planes.cluster("sim");
  const { close, ...ways } = clientsFor(kubeconfig);
  return {
    ...ways,
    kind: "kube-sim",
    accountClient: () => Promise.reject(new Error("kube-sim gives no tokens to service accounts")),
    compact: async () => {
      faults.compact();
      faults.cut();
      await reconnect(ways);
    },
    dispose: async () => {
      close();
      await planes.stop();
    },
  };
}

/** A real control plane. Whoever started it ends it. */
export function realKube(plane: RealControlPlane): KubeUnderTest {
  const { close, ...ways } = clientsFor(plane.kubeconfig);
  return {
    ...ways,
    kind: "real",
    accountClient: async (account) => kubeClientFor(await plane.kubeconfigFor(account)),
    compact: async () => {
      await plane.compact();
      await reconnect(ways);
    },
    dispose: () => {
      close();
      return Promise.resolve();
    },
  };
}

/** A create is not sent again when a kept connection turns out to be dead: so none is left. */
async function reconnect({ client, other }: Pick<KubeUnderTest, "client" | "other">): Promise<void> {
  for (const each of [client, other]) await until("the server is back", () => each.read("/version"));
}

function clientsFor(kubeconfig: string) {
  const clients = {
    client: kubeClientFor(kubeconfig),
    other: kubeClientFor(kubeconfig),
    unauthenticated: unauthenticatedClient(kubeconfig),
  };
  return {
    ...clients,
    readTable: (path: string) => readTable(kubeconfig, path),
    close: () => {
      for (const client of Object.values(clients)) client.close();
    },
  };
}
