import { describe, expect, test } from "vitest";
import { readDockerfile, wholeStage } from "../../../../images/read-dockerfile.ts";
import { type Manifests, readManifests } from "./manifests.ts";
import { type PodPlan, podPlan } from "./pod-plan.ts";

const IMAGE = wholeStage(
  readDockerfile('FROM node:24 AS a\nWORKDIR /app\nENTRYPOINT ["node", "--flag", "/app/a.mjs"]'),
  "a",
);

const YAML = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: a, namespace: there }
spec:
  template:
    metadata: { labels: { app: a } }
    spec:
      serviceAccountName: mine
      securityContext: { runAsUser: 65532, runAsGroup: 65532, fsGroup: 7 }
      containers:
        - name: a
          args: [--name=$(POD), --other=$(NOBODY)]
          envFrom: [{ configMapRef: { name: flags } }]
          env:
            - { name: POD, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
            - { name: WINS, value: listed }
          ports: [{ name: probes, containerPort: 8081 }]
          readinessProbe: { httpGet: { path: /readyz, port: probes } }
          livenessProbe: { httpGet: { path: /healthz, port: 8082 } }
          resources: { limits: { memory: 64Mi } }
          securityContext: { readOnlyRootFilesystem: true }
          volumeMounts:
            - { name: certs, mountPath: /certs }
            - { name: scratch, mountPath: /tmp }
            - { name: disk, mountPath: /data }
      volumes:
        - name: certs
          projected:
            defaultMode: 0440
            sources:
              - secret: { name: tls }
              - secret: { name: list, items: [{ key: crl, path: crl.pem }] }
              - configMap: { name: flags, items: [{ key: WINS, path: w }] }
        - { name: scratch, emptyDir: {} }
  volumeClaimTemplates: [{ metadata: { name: disk } }]
---
apiVersion: v1
kind: ConfigMap
metadata: { name: flags }
data: { WINS: brought, MORE: brought }
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: { name: tls }
spec: { secretName: tls }
`;

const SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tls: { "tls.crt": "c" },
  list: { crl: "r", other: "o" },
};

function planOf(yaml: string): PodPlan {
  const manifests: Manifests = readManifests(yaml);
  return podPlan({
    workload: manifests.workload,
    image: IMAGE,
    podName: "a-0",
    podIp: "198.18.0.2",
    secret: (name) => SECRETS[name] ?? {},
    configMaps: manifests.configMaps,
  });
}

describe("a pod", () => {
  test("runs the image's entry with the manifest's arguments and variables", () => {
    expect(planOf(YAML)).toMatchObject({
      command: ["node", "--flag", "/app/a.mjs", "--name=a-0", "--other=$(NOBODY)"],
      folder: "/app",
      env: { POD: "a-0", WINS: "listed", MORE: "brought" },
      namespace: "there",
      serviceAccount: "mine",
    });
  });

  test("is who the manifest says, and may write what it says", () => {
    expect(planOf(YAML)).toMatchObject({ user: 65532, group: 65532, fsGroup: 7, isRootReadOnly: true });
  });

  test("has volumes with what Secrets, ConfigMaps and claims hold", () => {
    expect(planOf(YAML).mounts).toEqual([
      {
        path: "/certs",
        isReadOnly: true,
        contents: { kind: "files", mode: 0o440, files: { "tls.crt": "c", "crl.pem": "r", w: "brought" } },
      },
      { path: "/tmp", isReadOnly: false, contents: { kind: "folder", isShared: true } },
      { path: "/data", isReadOnly: false, contents: { kind: "folder", isShared: false } },
    ]);
  });

  test("is probed on named ports and on numbered ones", () => {
    const { readiness, liveness } = planOf(YAML);
    expect([readiness.port, liveness.port]).toEqual([8081, 8082]);
  });

  const wrong = [
    { name: "a user", from: "runAsUser: 65532, ", to: "", says: "does not say as whom it runs" },
    {
      name: "a volume",
      from: "{ name: scratch, emptyDir: {} }",
      to: "{ name: other, emptyDir: {} }",
      says: "no volume scratch",
    },
    {
      name: "a kind of volume",
      from: "emptyDir: {}",
      to: "hostPath: { path: / }",
      says: "of a kind we do not know",
    },
    {
      name: "a ConfigMap",
      from: "configMap: { name: flags",
      to: "configMap: { name: fags",
      says: "ConfigMap fags",
    },
    { name: "a key", from: "key: crl", to: "key: clr", says: "the key clr" },
    { name: "a port", from: "port: probes", to: "port: prods", says: "no port is called prods" },
    { name: "a field", from: "metadata.name }", to: "spec.nodeName }", says: "POD comes from" },
  ];

  test.each(wrong)("is not started without $name", ({ from, to, says }) => {
    expect(() => planOf(YAML.replace(from, to))).toThrow(says);
  });

  test("goes into the cluster without the kinds of others", () => {
    expect(readManifests(YAML).objects.map(({ kind }) => kind)).toEqual(["StatefulSet", "ConfigMap"]);
  });
});
