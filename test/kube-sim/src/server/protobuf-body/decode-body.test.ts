import { expect, test } from "vitest";
import type { JsonObject } from "../../json.ts";
import { encodeReply } from "../../protobuf/encode.ts";
import { decodeBody } from "./decode-body.ts";

const POD: JsonObject = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: {
    name: "web",
    namespace: "shop",
    labels: { app: "web" },
    creationTimestamp: "2026-01-05T12:00:00Z",
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u", controller: true }],
    finalizers: ["example.com/a", "example.com/b"],
  },
  spec: {
    containers: [
      {
        name: "main",
        image: "registry.example/web:1",
        ports: [{ name: "http", containerPort: 8080 }],
        resources: { requests: { cpu: "500m", memory: "1Gi" } },
        readinessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 5 },
        securityContext: { runAsNonRoot: false },
      },
    ],
    volumes: [{ name: "tmp", emptyDir: { sizeLimit: "1Gi" } }],
    nodeSelector: { disk: "ssd" },
    terminationGracePeriodSeconds: 0,
  },
  status: { phase: "Pending" },
};

test("a pod reads as the JSON it was written from", () => {
  expect(decodeBody(Buffer.from(encodeReply(POD)))).toEqual(POD);
});

test("a kind that is not known as protobuf is refused, with what would do", () => {
  const status = Buffer.from(encodeReply({ kind: "Status", apiVersion: "v1", status: "Success" }));
  expect(() => decodeBody(status)).toThrow(/accepted media types include: application\/json/u);
});

test.each([
  ["no magic", Buffer.from("hello")],
  ["a length that leads beyond the end", Buffer.from("k8s\0\x0a\x7f", "latin1")],
  ["a number without end", Buffer.from(`k8s\0${"\xff".repeat(12)}`, "latin1")],
  ["a wire type that Kubernetes does not use", Buffer.from("k8s\0\x0d\0\0\0\0", "latin1")],
])("what is broken is refused: %s", (_name, body) => {
  expect(() => decodeBody(body)).toThrow(/not the protobuf it claims to be/u);
});
