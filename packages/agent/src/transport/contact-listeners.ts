import type { Contact } from "./broker-communicator.ts";

/** Listeners to the metadata of answers. */
export interface ContactListeners {
  /** Notifies all listeners; the metadata is not read without one. */
  readonly report: (read: () => Contact) => void;
  readonly onContact: (listener: (contact: Contact) => void) => () => void;
}

export function contactListeners(): ContactListeners {
  const listeners = new Set<(contact: Contact) => void>();
  return {
    report: (read) => {
      if (listeners.size === 0) return;
      const contact = read();
      for (const listener of listeners) listener(contact);
    },
    onContact: (listener) => {
      // Wrapped, so that a function can be registered twice and removed separately.
      const entry = (contact: Contact): void => listener(contact);
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
  };
}
