import { parseAllDocuments } from "yaml";

/** As much of a Kubernetes object as these tests look at. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly rules?: readonly unknown[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly resources: { readonly requests?: object; readonly limits?: object };
  readonly [more: string]: unknown;
}

export interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly containers: readonly Container[];
    readonly volumes?: readonly { readonly name: string; readonly [source: string]: unknown }[];
    readonly [more: string]: unknown;
  };
}

/** A StatefulSet or a Deployment. */
export interface Workload extends Manifest {
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: PodTemplate;
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly [more: string]: unknown;
  };
}

/** What a file or a program's output holds. Kubernetes reads YAML 1.1: `0440` is octal. */
export function manifestsIn(text: string): Manifest[] {
  const documents = parseAllDocuments(text, { version: "1.1" });
  return documents.flatMap((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.map(String).join("\n"));
    const object = document.toJS() as Manifest | null;
    return object === null ? [] : [object];
  });
}

export function workloadIn(manifests: readonly Manifest[]): Workload {
  const found = manifests.filter(({ kind }) => kind === "StatefulSet" || kind === "Deployment");
  const [workload] = found;
  if (workload === undefined || found.length > 1)
    throw new Error(`there are ${found.length} workloads, not one`);
  return workload as Workload;
}

export function containerOf(workload: Workload): Container {
  const { containers } = workload.spec.template.spec;
  const [container] = containers;
  if (container === undefined || containers.length > 1) throw new Error("there is not exactly one container");
  return container;
}

/** Arguments as the program gets them: Kubernetes fills in `$(NAME)`. */
export function argumentsOf({ args }: Container): string[] {
  return args.map((argument) =>
    argument.replaceAll(/\$\((\w+)\)/g, (_, name: string) => `the-${name.toLowerCase()}`),
  );
}

/** True where an object has all of these labels. */
export function selects(
  labels: Readonly<Record<string, string>>,
  of: Readonly<Record<string, string>>,
): boolean {
  const wanted = Object.entries(labels);
  return wanted.length > 0 && wanted.every(([name, value]) => of[name] === value);
}
