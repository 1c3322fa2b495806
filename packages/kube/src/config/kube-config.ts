/** Address, trust and credentials for one API server. */
export interface KubeConfig {
  /** Where it was found, as messages put it: `context "rome" of /home/ada/.kube/config`. */
  readonly origin: string;
  /** Without a slash at its end. */
  readonly server: string;
  readonly namespace: string;
  readonly trust: Trust;
  readonly user: User;
}

/** How the API server's certificate is verified. */
export interface Trust {
  /** Absent: the authorities that the system trusts. */
  readonly ca?: Material;
  /** The name in its certificate, when it is not the one in its address. */
  readonly serverName?: string;
  /** True: the certificate is not verified. */
  readonly insecureSkipVerify: boolean;
}

/** PEM text, or a file that may be replaced at any time. */
export type Material =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "file"; readonly path: string };

export interface User {
  readonly certificate?: { readonly cert: Material; readonly key: Material };
  readonly login?: Login;
}

export type Login =
  | { readonly kind: "token"; readonly token: Material }
  | { readonly kind: "password"; readonly username: string; readonly password: string }
  | { readonly kind: "plugin"; readonly plugin: ExecPlugin };

/** A program that prints credentials (client.authentication.k8s.io). */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
  /** Shown when the program does not exist. */
  readonly installHint?: string;
  /** Told to the program when it asks to know the cluster. */
  readonly cluster?: ExecCluster;
}

/** The cluster as the plugin protocol describes it. */
export interface ExecCluster {
  readonly server: string;
  readonly trust: Trust;
  /** What the kubeconfig keeps for plugins beside the cluster. */
  readonly config?: unknown;
}
