import { Fault } from "@resource-broker/contract";
import { type KubeConfig, loadKubeConfig } from "@resource-broker/kube";

export interface ContextSources {
  readonly contexts: readonly string[];
  /** Absent: as kubectl finds it. */
  readonly kubeconfig: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The clusters that the contexts stand for. Everything that is wrong with their names is told at once. */
export async function openContexts(sources: ContextSources): Promise<ReadonlyMap<string, KubeConfig>> {
  const { contexts, kubeconfig, env } = sources;
  if (contexts.length === 0) {
    throw new Fault("invalid", "--contexts: name contexts of your kubeconfig, such as --contexts eu,us");
  }
  const files = kubeconfig === undefined ? {} : { files: [kubeconfig] };
  const opened = new Map<string, KubeConfig>();
  const problems: string[] = [];
  for (const context of new Set(contexts)) {
    try {
      opened.set(context, await loadKubeConfig({ ...files, context, env }));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new Fault("invalid", [...new Set(problems)].join("\n"));
  return opened;
}
