import type { ResponseMetadata } from "./broker-communicator.ts";

/** Listeners to the metadata of answers. */
export interface ResponseListeners {
  /** Notifies all listeners; the metadata is not read without one. */
  readonly report: (read: () => ResponseMetadata) => void;
  readonly onResponse: (listener: (response: ResponseMetadata) => void) => () => void;
}

export function responseListeners(): ResponseListeners {
  const listeners = new Set<(response: ResponseMetadata) => void>();
  return {
    report: (read) => {
      if (listeners.size === 0) return;
      const response = read();
      for (const listener of listeners) listener(response);
    },
    onResponse: (listener) => {
      // Wrapped, so that a function can be registered twice and removed separately.
      const entry = (response: ResponseMetadata): void => listener(response);
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
  };
}
