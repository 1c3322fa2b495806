import type { ConfigMap, Container, Items, Projection, Volume, Workload } from "./manifest-types.ts";

/** What is mounted into a pod, and where. */
export interface Mount {
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly contents: Contents;
}

export type Contents =
  | { readonly kind: "files"; readonly files: Readonly<Record<string, string>>; readonly mode: number }
  /** `isShared`: anybody may write, as into an emptyDir; else only its owner, as on a new disk. */
  | { readonly kind: "folder"; readonly isShared: boolean };

export interface VolumeSources {
  readonly workload: Workload;
  /** What a Secret holds, by its name. */
  readonly secret: (name: string) => Files;
  readonly configMaps: readonly ConfigMap[];
}

const CONFIG_MODE = 0o644;

export function mountsOf({ volumeMounts = [] }: Container, sources: VolumeSources): Mount[] {
  const { spec } = sources.workload;
  const claims = new Set((spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name));
  return volumeMounts.map(({ name, mountPath, readOnly = false }) => {
    const volume = spec.template.spec.volumes?.find((each) => each.name === name);
    if (volume === undefined && !claims.has(name)) throw new Error(`there is no volume ${name}`);
    const contents: Contents = volume === undefined ? DISK : contentsOf(volume, sources);
    return { path: mountPath, isReadOnly: readOnly || contents.kind === "files", contents };
  });
}

const DISK: Contents = { kind: "folder", isShared: false };

type Files = Readonly<Record<string, string>>;

function contentsOf(volume: Volume, sources: VolumeSources): Contents {
  if (volume.emptyDir !== undefined) return { kind: "folder", isShared: true };
  if (volume.persistentVolumeClaim !== undefined) return DISK;
  const parts = projectionsOf(volume);
  if (parts.length === 0) throw new Error(`volume ${volume.name} is of a kind we do not know`);
  const files = parts.map((part) => projectionOf(part, sources));
  const { defaultMode = CONFIG_MODE } = volume.projected ?? volume.secret ?? volume.configMap ?? {};
  return { kind: "files", files: Object.assign({}, ...files) as Files, mode: defaultMode };
}

function projectionsOf({ projected, secret, configMap }: Volume): readonly Projection[] {
  if (secret !== undefined) return [{ secret: { ...secret, name: secret.secretName } }];
  return configMap === undefined ? (projected?.sources ?? []) : [{ configMap }];
}

function projectionOf({ secret, configMap }: Projection, sources: VolumeSources): Files {
  if (secret !== undefined) return chosen(sources.secret(secret.name), secret);
  return chosen(configMapData(configMap?.name, sources.configMaps), configMap ?? {});
}

export function configMapData(name: string | undefined, configMaps: readonly ConfigMap[]): Files {
  const data = configMaps.find(({ metadata }) => metadata.name === name)?.data;
  if (data === undefined) throw new Error(`nothing in the manifests makes the ConfigMap ${name}`);
  return data;
}

function chosen(files: Files, { items }: Items): Files {
  if (items === undefined) return files;
  return Object.fromEntries(
    items.map(({ key, path }) => {
      const text = files[key];
      if (text === undefined) throw new Error(`a volume asks for the key ${key}, which is not there`);
      return [path, text];
    }),
  );
}
