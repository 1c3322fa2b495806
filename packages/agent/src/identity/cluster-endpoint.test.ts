import { expect, test } from "vitest";
import { clusterEndpoint } from "./cluster-identity.ts";

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
  { name: "a server by name", server: "https://local.example", shown: "https://local.example" },
  { name: "an IPv6 server", server: "https://[2001:db8::7]:6443", shown: "https://[2001:db8::7]:6443" },
  { name: "no server without TLS", server: "http://10.0.0.7:8080" },
  { name: "no loopback address", server: "https://127.0.0.1:6443" },
  { name: "no other loopback address", server: "https://127.8.0.1:6443" },
  { name: "no IPv6 loopback address", server: "https://[::1]:6443" },
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
