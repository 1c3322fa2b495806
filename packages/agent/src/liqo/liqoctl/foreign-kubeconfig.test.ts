import type { KubeConfig } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import { foreignProblem } from "./foreign-kubeconfig.ts";

function configOf(login: KubeConfig["user"]["login"]): KubeConfig {
  const user = login === undefined ? {} : { login };
  return {
    origin: "a test",
    server: "https://paris:6443",
    namespace: "default",
    trust: { isBlind: false },
    user,
  };
}

describe("a kubeconfig of another cluster", () => {
  test.each<[string, KubeConfig["user"]["login"]]>([
    ["no login", undefined],
    ["a token", { kind: "token", token: { kind: "text", text: "abc" } }],
    ["a password", { kind: "password", username: "ada", password: "x" }],
  ])("may have %s", (_, login) => {
    expect(foreignProblem(configOf(login))).toBeUndefined();
  });

  test.each<[string, KubeConfig["user"]["login"], string]>([
    [
      "run a program",
      {
        kind: "plugin",
        plugin: {
          apiVersion: "client.authentication.k8s.io/v1",
          command: "/bin/sh",
          args: [],
          env: {},
          interactiveMode: "Never",
        },
      },
      "exec",
    ],
    [
      "send a token that lies here to where it leads",
      { kind: "token", token: { kind: "file", path: "/var/run/secrets/kubernetes.io/serviceaccount/token" } },
      "tokenFile",
    ],
  ])("must not %s", (_, login, named) => {
    expect(foreignProblem(configOf(login))).toContain(named);
  });
});
