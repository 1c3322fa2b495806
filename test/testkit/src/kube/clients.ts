import { request } from "node:https";
import { json } from "node:stream/consumers";
import type { Log } from "@resource-broker/base";
import { createKubeClient, type KubeClient, type KubeConfig } from "@resource-broker/kube";
import { type Material, parseKubeconfig, resolveContext } from "@resource-broker/kube/testing";
import { systemClock } from "@resource-broker/runtime";
import { parse } from "yaml";
import type { Table } from "./kube-promise.ts";

const silent = (): void => undefined;
const NO_LOG: Log = { info: silent, warn: silent, error: silent };
const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
const TABLE_TYPE = "application/json;as=Table;v=v1;g=meta.k8s.io";

/** Our own client, over real connections on the machine's time, for the text of a kubeconfig. Close it. */
export function kubeClientFor(kubeconfig: string): KubeClient {
  return connect(configOf(kubeconfig));
}

/** The same server, and a token that it never gave to anybody. */
export function unauthenticatedClient(kubeconfig: string): KubeClient {
  const token = { kind: "text", text: "nobody-has-this-token" } as const;
  return connect({ ...configOf(kubeconfig), user: { login: { kind: "token", token } } });
}

/** Asks for a table as kubectl does, which our client never does. */
export async function readTable(kubeconfig: string, path: string): Promise<Table> {
  const { server, trust, user } = configOf(kubeconfig);
  const tls = {
    ca: textOf(trust.ca),
    cert: textOf(user.certificate?.cert),
    key: textOf(user.certificate?.key),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${server}${path}`, { ...tls, agent: false, headers: { accept: TABLE_TYPE } });
    sent.once("error", reject);
    sent.once("response", (response) => {
      json(response).then((body) => resolve(body as Table), reject);
    });
    sent.end();
  });
}

function configOf(kubeconfig: string): KubeConfig {
  return resolveContext(parseKubeconfig(parse(kubeconfig), "the test's kubeconfig"));
}

function connect(config: KubeConfig): KubeClient {
  return createKubeClient(config, { clock, log: NO_LOG, env: {}, userAgent: "conformance" });
}

function textOf(material: Material | undefined): string {
  if (material?.kind !== "text") throw new Error("the kubeconfig of a test holds its certificates itself");
  return material.text;
}
