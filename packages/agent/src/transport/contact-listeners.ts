import type { Contact } from "./broker-communicator.ts";

/** Whoever wants to hear what the broker's answers say by the way. */
export interface ContactListeners {
  /** Told to everybody; not even read where nobody listens. */
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
      // Wrapped: the same function may be handed in twice, and each is stopped by itself.
      const entry = (contact: Contact): void => listener(contact);
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
  };
}
