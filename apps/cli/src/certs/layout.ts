import { join } from "node:path";

/** The broker's own name: its certificate's Common Name, so no cluster may bear it. */
export const BROKER = "broker";

export const DEFAULT_DIR = "certs";

/** Where everything lies below `--dir`. The clusters have a folder of their own: one may well be called "ca". */
export interface Layout {
  readonly dir: string;
  readonly ca: string;
  readonly caCert: string;
  readonly caKey: string;
  /** Everything this authority ever issued and revoked. */
  readonly register: string;
  readonly crl: string;
  readonly broker: string;
  readonly clusters: string;
  readonly lock: string;
}

export function layoutOf(dir: string): Layout {
  const ca = join(dir, "ca");
  return {
    dir,
    ca,
    caCert: join(ca, "ca.crt"),
    caKey: join(ca, "ca.key"),
    register: join(ca, "issued.json"),
    crl: join(ca, "crl.pem"),
    broker: join(dir, BROKER),
    clusters: join(dir, "clusters"),
    lock: join(dir, ".lock"),
  };
}

export function folderOf(layout: Layout, name: string): string {
  return name === BROKER ? layout.broker : join(layout.clusters, name);
}
