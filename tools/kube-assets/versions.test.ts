import { expect, test } from "vitest";
import type { ProgramName } from "./recipe.ts";
import { describeVersions } from "./versions.ts";

const VERSION_OUTPUT: Readonly<Record<ProgramName, string>> = {
  etcd: "etcd Version: 3.6.4\nGit SHA: Not provided\nGo Version: go1.26.8\n",
  "kube-apiserver": "Kubernetes v1.34.4\n",
  "kube-controller-manager": "Kubernetes v1.34.4\n",
  kubectl: "Client Version: v1.34.4\nKustomize Version: v5.7.1\n",
};
const outputWith = (changes: Partial<typeof VERSION_OUTPUT>): ReadonlyMap<ProgramName, string> =>
  new Map(Object.entries({ ...VERSION_OUTPUT, ...changes }) as [ProgramName, string][]);

test("programs of one release are named with their versions", () => {
  expect(describeVersions(outputWith({}))).toBe(
    "etcd 3.6.4, kube-apiserver 1.34.4, kube-controller-manager 1.34.4, kubectl 1.34.4",
  );
});

test("patches of one release go together", () => {
  expect(describeVersions(outputWith({ kubectl: "Client Version: v1.34.1" }))).toContain("kubectl 1.34.1");
});

const refusals: [name: string, changes: Partial<typeof VERSION_OUTPUT>, message: string][] = [
  ["an API server that is too old", { "kube-apiserver": "Kubernetes v1.33.6" }, "1.34 or newer"],
  ["a kubectl of another release", { kubectl: "Client Version: v1.32.4" }, "not of one release: etcd 3.6.4"],
  ["a controller manager of another release", { "kube-controller-manager": "v1.35.0" }, "not of one release"],
  ["a program that says nothing", { etcd: "" }, "etcd does not say its version"],
  ["a program that has no version", { "kube-apiserver": "Kubernetes devel" }, "but: Kubernetes devel"],
];

test.each(refusals)("%s is refused", (_, changes, message) => {
  expect(() => describeVersions(outputWith(changes))).toThrow(message);
});
