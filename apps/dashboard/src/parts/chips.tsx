import type { ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";
import "./chips.css";

export type Tone = "good" | "calm" | "busy" | "warn" | "bad";

const ICONS: Readonly<Record<Tone, IconName | null>> = {
  good: "check",
  calm: null,
  busy: "clock",
  warn: "warning",
  bad: "warning",
};

interface ChipProps {
  readonly tone: Tone;
  readonly children: ReactNode;
  readonly title?: string;
  readonly icon?: IconName;
}

/** The state as text, icon and colour; each of them is sufficient. */
export function Chip({ tone, children, title, icon }: ChipProps) {
  const sign = icon ?? ICONS[tone];
  return (
    <span className={`chip is-${tone}`} title={title}>
      {sign !== null && <Icon name={sign} size={12} />}
      {children}
    </span>
  );
}
