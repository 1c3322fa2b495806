import { Fault } from "@resource-broker/base";
import type { KubeClient } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import { clusterEndpoint, clusterIdByKubeconfig, clusterIdByUid, findClusterId } from "./cluster-identity.ts";

const nobody: Pick<KubeClient, "get"> = {
  get: () => Promise.reject(new Fault("unreachable", "connection refused")),
};

describe("a cluster's ID", () => {
  test.each([
    ["is the certificate's", "", "rome", "rome"],
    ["is the flag's where it says the same", "rome", "rome", "rome"],
    ["is the flag's where there is no certificate", "rome", undefined, "rome"],
  ])("%s, without the API server", async (_, flag, commonName, clusterId) => {
    expect(await findClusterId({ flag, commonName }, nobody)).toBe(clusterId);
  });

  test.each([
    [
      "flag and certificate differ",
      "rome",
      "paris",
      '--cluster-id is "rome", but the certificate in --broker-cert-path belongs to "paris": leave --cluster-id out, or make a certificate with brokerctl certs issue rome',
    ],
    [
      "the certificate names no cluster",
      "",
      "Rome Central",
      `the certificate in --broker-cert-path belongs to "Rome Central", which is not a cluster ID (lower-case letters, digits, '-' and single '.', at most 63 of them): make another with brokerctl certs issue <cluster-id>`,
    ],
  ])("is refused where %s", async (_, flag, commonName, message) => {
    await expect(findClusterId({ flag, commonName }, nobody)).rejects.toMatchObject({
      code: "invalid",
      message,
    });
  });

  const UID = "0b8e4f0e-6a0c-4c1e-9f6c-2f3f0a5b7c11";
  const clusterWith = (uid: string | undefined): Pick<KubeClient, "get"> => ({
    get: <T>() => Promise.resolve({ metadata: { name: "kube-system", uid } } as T),
  });

  test("is the UID of kube-system for a kubeconfig that names no cluster", async () => {
    const byUid = () => clusterIdByUid(clusterWith(UID));
    expect(await clusterIdByKubeconfig({ flag: "", issued: undefined }, byUid)).toBe(UID);
    expect(await clusterIdByKubeconfig({ flag: "rome", issued: undefined }, byUid)).toBe("rome");
    expect(await clusterIdByKubeconfig({ flag: "", issued: "rome" }, byUid)).toBe("rome");
  });

  test("by UID needs the right to look at kube-system, and says so", async () => {
    const forbidding = { get: () => Promise.reject(new Fault("forbidden", "no")) };
    await expect(clusterIdByUid(forbidding)).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("give --cluster-id, or the right to get the namespace kube-system"),
    });
  });

  test("that cannot be found is a fault with the remedy", async () => {
    const sources = { flag: "", commonName: undefined };
    await expect(findClusterId(sources, clusterWith(undefined))).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("give --cluster-id"),
    });
    await expect(findClusterId(sources, nobody)).rejects.toMatchObject({ code: "unreachable" });
  });
});

const rows = [
  {
    name: "the flag",
    flag: "https://rome.example:6443/",
    server: "https://127.0.0.1:1",
    shown: "https://rome.example:6443",
  },
  {
    name: "a flag that points to this machine: somebody wants it so",
    flag: "https://127.0.0.1:6443",
    server: "https://x",
    shown: "https://127.0.0.1:6443",
  },
  { name: "the kubeconfig's server", server: "https://10.0.0.7:6443", shown: "https://10.0.0.7:6443" },
  {
    name: "a server behind a path",
    server: "https://ranch.example/k8s/c-1",
    shown: "https://ranch.example/k8s/c-1",
  },
  { name: "an IPv6 server", server: "https://[2001:db8::7]:6443", shown: "https://[2001:db8::7]:6443" },
  { name: "no server without TLS", server: "http://10.0.0.7:8080" },
  { name: "no loopback address", server: "https://127.0.0.1:6443" },
  { name: "no IPv4 loopback address in IPv6", server: "https://[::ffff:127.0.0.1]:6443" },
  { name: "no wildcard address", server: "https://0.0.0.0:6443" },
  { name: "no localhost", server: "https://localhost:6443" },
  { name: "no name below localhost", server: "https://rome.localhost:6443" },
  { name: "no name of the cluster's own DNS", server: "https://kubernetes.default.svc" },
  {
    name: "no long name of the cluster's own DNS",
    server: "https://kubernetes.default.svc.cluster.local:443",
  },
  { name: "no short name of the cluster's own DNS", server: "https://kubernetes" },
  { name: "no service address of this pod", server: "https://10.96.0.1:443", serviceHost: "10.96.0.1" },
  { name: "no IPv6 service address of this pod", server: "https://[fd00::1]:443", serviceHost: "fd00::1" },
] as const;

test.each<{ name: string; flag?: string; server: string; serviceHost?: string; shown?: string }>(rows)(
  "others are shown $name",
  ({ flag = "", server, serviceHost, shown }) => {
    expect(clusterEndpoint({ flag, server, serviceHost })).toBe(shown);
  },
);
