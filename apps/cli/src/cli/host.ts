/** The environment of a command; `main.ts` passes the real one. */
export interface Host {
  /** Data, on standard output. */
  readonly out: (text: string) => void;
  /** Progress and problems, on standard error. */
  readonly note: (text: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True: a person sits at the terminal. */
  readonly isInteractive?: boolean;
  /** True: standard output is a terminal, so that colours are seen and not stored. */
  readonly isTerminal?: boolean;
  /** True: a program took the address to show it. Absent: there is nobody to show it to. */
  readonly openInBrowser?: (url: string) => Promise<boolean>;
  /** Resolves so much later. */
  readonly pause: (ms: number) => Promise<void>;
}
