/** What we read of the objects in the manifests; a field that is not here and matters must be added before it counts. */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

export interface Workload extends KubeObject {
  readonly spec: {
    readonly template: PodTemplate;
    readonly volumeClaimTemplates?: readonly { readonly metadata: Metadata }[];
  };
}

export interface PodTemplate {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

export interface PodSpec {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext?: {
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
    readonly runAsNonRoot?: boolean;
    readonly fsGroup?: number;
  };
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvEntry[];
  readonly envFrom?: readonly { readonly configMapRef?: { readonly name: string } }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly resources: { readonly limits?: Readonly<Record<string, string>> };
  readonly securityContext?: {
    readonly readOnlyRootFilesystem?: boolean;
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
  };
  readonly volumeMounts?: readonly VolumeMount[];
}

export interface EnvEntry {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string | number };
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

export interface Volume {
  readonly name: string;
  readonly secret?: Items & { readonly secretName: string; readonly defaultMode?: number };
  readonly configMap?: Items & { readonly name: string; readonly defaultMode?: number };
  readonly projected?: { readonly sources: readonly Projection[]; readonly defaultMode?: number };
  readonly emptyDir?: object;
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

export interface Projection {
  readonly secret?: Items & { readonly name: string };
  readonly configMap?: Items & { readonly name: string };
}

export interface Items {
  /** Which keys, under which names. Absent: all, under their own. */
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

export interface Service extends KubeObject {
  readonly spec: {
    readonly selector: Readonly<Record<string, string>>;
    readonly ports: readonly { readonly port: number; readonly targetPort?: string | number }[];
  };
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** cert-manager's. */
export interface Certificate extends KubeObject {
  readonly spec: {
    readonly secretName: string;
    readonly commonName?: string;
    readonly dnsNames?: readonly string[];
    readonly ipAddresses?: readonly string[];
    readonly usages?: readonly string[];
    readonly subject?: { readonly organizations?: readonly string[] };
  };
}
