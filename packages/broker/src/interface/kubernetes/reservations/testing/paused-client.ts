import type { KubeClient } from "@resource-broker/kube";

export interface PausedClient {
  readonly client: KubeClient;
  readonly isPaused: () => boolean;
  readonly resume: () => void;
}

/** A client whose process is paused as it is about to tell a refusal. */
export function pausedBeforeRefusal(own: KubeClient): PausedClient {
  let isPaused = false;
  let resume = (): void => undefined;
  const pause = new Promise<void>((resolve) => {
    resume = resolve;
  });
  return {
    isPaused: () => isPaused,
    resume: () => resume(),
    client: {
      ...own,
      apply: async (resource, object, options) => {
        const { status } = object as { readonly status?: { readonly phase?: string } };
        if (status?.phase === "Failed") {
          isPaused = true;
          await pause;
        }
        return own.apply(resource, object, options);
      },
    },
  };
}
